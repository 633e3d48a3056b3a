// Any bytes as a problem file: either a named fault or problems, each of which is parsed back from its canonical string.
#include <cstddef>
#include <cstdint>
#include <cstdlib>

#include "bench/problems/suite.h"
#include "tests/fuzz/one_file.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const hbmark::fuzz::OneFile file("problems.csv");
  file.write(data, size);
  std::vector<std::string> notes;
  const auto suite = hbmark::load_problem_csv(file.path(), "", &notes);
  if (!suite) {
    if (suite.error().why.empty()) std::abort();
    return 0;
  }
  for (const hbmark::SuiteCase& entry : suite->cases) {
    const auto again = hbmark::parse_problem(hbmark::to_string(entry.problem));
    if (!again || *again != entry.problem) std::abort();
  }
  if (suite->rows_read - suite->repeats_folded != static_cast<std::int64_t>(suite->cases.size())) std::abort();
  return 0;
}
