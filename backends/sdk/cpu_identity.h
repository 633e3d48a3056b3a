// What the CPU calls itself, by CPUID: for names and for warnings, never for choosing code.
//
// Thread-safe; baseline instructions only. On another architecture than x86 the numbers are 0 and the name is general.
#pragma once

#include <string>

namespace hbmark::sdk {

struct CpuIdentity {
  std::string brand;  // "Intel(R) Xeon Phi(TM) CPU 7210 @ 1.30GHz", blanks trimmed
  int family = 0;     // display family and model, extended parts included
  int model = 0;
};

CpuIdentity cpu_identity();

// Xeon Phi of the second and third generation (Knights Landing 0x57, Knights Mill 0x85; Intel SDM volume 4, table 2-1).
bool is_knights(const CpuIdentity& cpu);

}  // namespace hbmark::sdk
