// Which of the loop tables this machine can run.
//
// Compiled for the baseline; asks the CPU and the operating system (saved vector state). Thread-safe.
#pragma once

#include <string>

#include "backends/cpu/loops.h"
#include "backends/sdk/failure.h"

namespace hbmark::cpu {

struct Isa {
  const char* name;  // "avx512f"
  const Loops* loops;
  bool fused;  // multiplies and adds with one rounding
};

// The best this machine has, or the one $HBMARK_CPU_ISA names (sse2, avx2, avx512f).
// Unavailable: a name that is none of these, or an instruction set this machine lacks.
sdk::Expected<Isa> choose_isa();

}  // namespace hbmark::cpu
