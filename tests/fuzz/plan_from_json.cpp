// Any bytes: either a named fault or a plan that survives being written and read again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

#include "bench/run/plan.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const auto plan = hbmark::plan_from_json({reinterpret_cast<const char*>(data), size});
  if (!plan) {
    if (plan.error().why.empty()) std::abort();
    return 0;
  }
  const auto again = hbmark::plan_from_json(hbmark::plan_to_json(*plan));
  if (!again || *again != *plan) std::abort();
  return 0;
}
