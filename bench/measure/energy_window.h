// The energy of one call, from a window of its own: counters advance in milliseconds, far too coarse for a sample.
//
// Knows nothing of meters: it is given one as two functions. One thread. What the meter counts is all the node uses in the
// window, idle power and neighbours included.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "bench/measure/sampler.h"
#include "results/base/result.h"

namespace hbmark {

struct EnergyProbe {
  std::string scope;                       // "package 0+1 and DRAM"
  std::function<Status()> begin;           // the window begins
  std::function<Result<double>()> used_j;  // joules since it began; a counter that turns over is the probe's affair
};

// RAPL's counters advance about every millisecond: at 2 s that is 0.05 %.
inline constexpr double kEnergyWindowS = 2;

struct EnergyWindow {
  double call_j = 0;
  double window_s = 0;
  std::int64_t calls = 0;
};

// Calls for at least `least_s` between two readings. `call_s`: about what one takes, above 0.
// Errors: run_calls' or the probe's own, or a meter that gives no finite energy above 0.
Result<EnergyWindow> measure_energy(const RunCalls& run_calls, const EnergyProbe& probe, double call_s,
                                    double least_s = kEnergyWindowS);

}  // namespace hbmark
