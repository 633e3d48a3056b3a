#include "bench/kernels/kernel.h"

namespace hbmark {

const KernelSpec* find_kernel(std::string_view name) {
  for (const auto* kernel : kernels()) {
    if (kernel->name == name) return kernel;
  }
  return nullptr;
}

void fill_input(const Problem& problem, HostArray& array, std::uint64_t seed) {
  if (problem.kernel->fill != nullptr) {
    problem.kernel->fill(problem, array, seed);
  } else {
    fill_random(array, seed);
  }
}

}  // namespace hbmark
