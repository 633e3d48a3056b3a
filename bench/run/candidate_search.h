// Which of a plugin's algorithms is the fastest here: each is timed briefly with bound buffers, apart from the samples.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "bench/kernels/kernel.h"
#include "bench/run/bound_case.h"
#include "bench/run/plugin_calls.h"

namespace hbmark {

struct CandidateChoice {
  std::uint32_t candidate = 0;
  std::string note;  // a line on what was tried; empty when there was nothing to choose
};

// Leaves the fastest candidate selected (its operands are to be loaded and bound anew). Takes about a fifth of `budget_s`:
// candidates come in the library's own order of preference, and those the time does not reach are named as not tried. A
// candidate that fails is passed over.
Step<CandidateChoice> search_candidates(BoundCase& bound, std::span<const HostArray> inputs, double budget_s);

}  // namespace hbmark
