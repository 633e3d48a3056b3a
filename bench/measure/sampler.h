// How long to measure: calls a sample, when to stop, and what may be said of the samples.
//
// Google Benchmark runs the blocks (fixed iterations, our reporter); this decides n and stops. Knows nothing of plugins: it
// is given something that runs n calls and says how many seconds they took. One thread; not reentrant (Google Benchmark's
// registry is global).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "results/base/result.h"
#include "results/records.h"

namespace hbmark {

struct SamplingOptions {
  double precision = 0.02;     // stop when the 95 % interval's half-width over the median is at most this
  double budget_s = 3;         // seconds for warm-up and sampling of the case
  double min_sample_s = 2e-3;  // a sample lasts at least this; n is chosen so
  std::int64_t max_samples = 10240;
  bool device_clock = false;  // run_calls returns the device's own time; else sampling takes the time round it
  // Called before every sample and every call of the warm-up, outside the timed part and counted in the budget: a cache
  // flush. With it a sample is one call, whatever min_sample_s says: a second call would find what the first left.
  std::function<void()> before_sample;
};

// Runs `calls` calls and returns the seconds they took by the clock in charge, or why it could not.
using RunCalls = std::function<Result<double>(std::int64_t calls)>;

struct Measurement {
  std::vector<double> samples;  // seconds a call, in order
  TimeSummary summary;
  std::vector<std::string> flags;  // from results/stats, plus over_budget and few_samples
  std::string stopped_by;          // "precision" or "budget"
  double timed_s = 0;              // inside timed calls, warm-up and calibration included
};

// fraction in [0, 1]: how far sampling is, never going back.
using SamplingProgress = std::function<void(double fraction)>;

// Warm-up, choice of n, blocks of samples; looks at stopping after 10, 20, 40, ... samples.
// Errors: run_calls failed (its own error), or a clock that returned 0, a negative or not a number.
Result<Measurement> sample(const RunCalls& run_calls, const SamplingOptions& options, const SamplingProgress& progress);

}  // namespace hbmark
