// One block of samples, run by Google Benchmark: fixed iterations, manual time, our own reporter.
//
// Works with Google Benchmark 1.7 to 1.9. Its registry and flags are global: one thread, not reentrant, and nobody else's
// benchmarks in the process. BENCHMARK_* environment variables have no effect and are unset. Prints nothing.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "results/base/result.h"

namespace hbmark {

struct Block {
  std::int64_t samples = 1;  // at most so many
  std::int64_t calls_per_sample = 1;
  // Runs so many calls and returns the seconds they took: finite and above 0, or an error.
  std::function<Result<double>(std::int64_t calls)> timed_calls;
  // Asked before every sample but a block's first; false ends the block early. Outside the timed part.
  std::function<bool()> may_go_on;
};

// Seconds a call of each sample, in order. Errors: the first of timed_calls, at once; the library lost a sample (a bug).
Result<std::vector<double>> run_block(const Block& block);

}  // namespace hbmark
