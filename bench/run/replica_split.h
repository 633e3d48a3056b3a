// A problem divided among replicas: its batch, so that all of them together do the work of the whole. Pure, thread-safe.
#pragma once

#include "bench/problems/problem.h"
#include "results/base/result.h"

namespace hbmark {

// What one of so many replicas runs: of a convolution n / replicas images; of a gemm batch / replicas products or, where
// there is one product alone, n / replicas columns. Other kernels have no batch and stay whole.
// Errors (usage): it cannot be divided evenly; says what can.
Result<Problem> split_problem(const Problem& whole, int replicas);

}  // namespace hbmark
