#include "backends/sdk/cpu_identity.h"

#include <cstring>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace hbmark::sdk {

CpuIdentity cpu_identity() {
  CpuIdentity cpu;
#if defined(__x86_64__)
  unsigned a = 0, b = 0, c = 0, d = 0;
  if (__get_cpuid(1, &a, &b, &c, &d) != 0) {
    const unsigned base_family = (a >> 8) & 0xf;
    const unsigned base_model = (a >> 4) & 0xf;
    const unsigned extended_family = (a >> 20) & 0xff;
    const unsigned extended_model = (a >> 16) & 0xf;
    cpu.family = static_cast<int>(base_family == 0xf ? base_family + extended_family : base_family);
    const bool extends = base_family == 0x6 || base_family == 0xf;
    cpu.model = static_cast<int>(extends ? (extended_model << 4) + base_model : base_model);
  }
  char text[49] = {};
  for (unsigned leaf = 0; leaf < 3; ++leaf) {
    if (__get_cpuid(0x80000002u + leaf, &a, &b, &c, &d) == 0) break;
    const unsigned words[4] = {a, b, c, d};
    std::memcpy(text + 16 * leaf, words, sizeof words);
  }
  const std::string brand(text);
  const std::size_t first = brand.find_first_not_of(' ');
  if (first != std::string::npos) cpu.brand = brand.substr(first, brand.find_last_not_of(' ') - first + 1);
#endif
  if (cpu.brand.empty()) cpu.brand = "CPU";
  return cpu;
}

bool is_knights(const CpuIdentity& cpu) { return cpu.family == 6 && (cpu.model == 0x57 || cpu.model == 0x85); }

}  // namespace hbmark::sdk
