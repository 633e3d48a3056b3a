#include "bench/kernels/kernel.h"

namespace hbmark {

const KernelSpec* find_kernel(std::string_view name) {
  for (const auto* kernel : kernels()) {
    if (kernel->name == name) return kernel;
  }
  return nullptr;
}

}  // namespace hbmark
