// Any bytes: either a named fault or a problem whose canonical string is a fixed point of parsing and printing.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "bench/problems/problem.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto problem = hbmark::parse_problem({reinterpret_cast<const char*>(data), size});
  if (!problem) {
    if (problem.error().why.empty()) std::abort();
    return 0;
  }
  const std::string printed = hbmark::to_string(*problem);
  const auto again = hbmark::parse_problem(printed);
  if (!again || *again != *problem || hbmark::to_string(*again) != printed) std::abort();
  return 0;
}
