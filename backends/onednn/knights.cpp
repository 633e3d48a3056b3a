#include "backends/onednn/knights.h"

namespace hbmark::onednn {

std::string knights_warning(const sdk::CpuIdentity& cpu, const std::string& library, const std::string& isa) {
  if (!sdk::is_knights(cpu) || isa.rfind("avx512_mic", 0) == 0) return "";
  // v2.6 removed the avx512_mic instruction set (oneDNN commits 7190e007, 59199f06, 8d69def4).
  return "a Xeon Phi without AVX-512 kernels: " + library + " runs " + isa +
         " here, at most half of this CPU's peak. The last oneDNN with its kernels is 2.5.4: build hbmark with "
         "-DHBMARK_ONEDNN_ROOT=PREFIX of one of 2.0 to 2.5.4, and leave DNNL_MAX_CPU_ISA and ONEDNN_MAX_CPU_ISA unset.";
}

}  // namespace hbmark::onednn
