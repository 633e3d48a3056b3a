// Any bytes: either a named fault or a record that survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>

#include "results/formats/format.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto line = nlohmann::json::parse(data, data + size, nullptr, false);
  if (line.is_discarded()) return 0;
  const auto first = hbmark::result_from_json(line);
  if (!first) {
    if (first.error().why.empty()) std::abort();
    return 0;
  }
  const std::string written = hbmark::result_to_json(*first).dump();
  const auto second = hbmark::result_from_json(nlohmann::json::parse(written));
  if (!second || hbmark::result_to_json(*second).dump() != written) std::abort();
  return 0;
}
