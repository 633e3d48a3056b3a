// Any bytes from a worker, in two pieces: every line is either a named fault or an event that survives being written and
// read again, and no byte is lost or made up.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "bench/run/protocol.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace {

void read_line(const std::string& line) {
  const auto event = hbmark::event_from_line(line);
  if (!event) {
    if (event.error().why.empty()) std::abort();
    return;
  }
  const std::string written = hbmark::event_to_line(*event);
  if (written.find('\n') != written.size() - 1) std::abort();
  const auto again = hbmark::event_from_line(std::string_view(written).substr(0, written.size() - 1));
  if (!again || hbmark::event_to_line(*again) != written) std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  hbmark::LineReader reader;
  std::string seen;
  for (const std::string_view piece : {bytes.substr(0, size / 2), bytes.substr(size / 2)}) {
    reader.append(piece);
    while (const auto line = reader.next()) {
      read_line(*line);
      seen += *line + '\n';
    }
  }
  if (seen + reader.rest() != bytes) std::abort();
  // What the stream breaks off in may be an event too.
  read_line(reader.rest());
  return 0;
}
