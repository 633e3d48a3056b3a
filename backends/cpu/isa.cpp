#include "backends/cpu/isa.h"

#include <cstdlib>

namespace hbmark::cpu {
namespace {

bool always() { return true; }
// __builtin_cpu_supports also looks at XGETBV: the operating system must save the registers.
bool has_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
}
bool has_avx512f() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") != 0;
}

struct Row {
  Isa isa;
  bool (*available)();
};
const Row kRows[] = {
    // best first
    {{"avx512f", &kLoopsAvx512f, true}, has_avx512f},
    {{"avx2", &kLoopsAvx2, true}, has_avx2},
    {{"sse2", &kLoopsSse2, false}, always},
};

}  // namespace

sdk::Expected<Isa> choose_isa() {
  const char* variable = std::getenv("HBMARK_CPU_ISA");
  const std::string asked = variable == nullptr ? "" : variable;
  for (const Row& row : kRows) {
    if (asked.empty() && row.available()) return row.isa;
    if (asked != row.isa.name) continue;
    if (row.available()) return row.isa;
    return sdk::unavailable("HBMARK_CPU_ISA asks for " + asked + ", which this CPU or system lacks");
  }
  return sdk::unavailable("HBMARK_CPU_ISA is \"" + asked + "\"; it may be avx512f, avx2 or sse2");
}

}  // namespace hbmark::cpu
