// Any bytes as a suite's file, beside the problem files we ship: either a named fault or distinct problems, each of which is
// parsed back from its canonical string.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bench/problems/suite.h"
#include "tests/fuzz/one_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hbmark::fuzz::OneFile file("suite.toml");
  file.write(data, size);
  const auto suite = hbmark::load_suite(file.path().string(), HBMARK_FUZZ_SHARE, {std::size_t{32} << 20, nullptr});
  if (!suite) {
    if (suite.error().why.empty()) std::abort();
    return 0;
  }
  for (const hbmark::SuiteCase& entry : suite->cases) {
    const auto again = hbmark::parse_problem(hbmark::to_string(entry.problem));
    if (!again || *again != entry.problem || !(entry.occurrences > 0)) std::abort();
  }
  const auto count = static_cast<std::int64_t>(suite->cases.size());
  if (count == 0 || suite->rows_read - suite->repeats_folded != count) std::abort();
  return 0;
}
