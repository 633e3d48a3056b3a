// When to stop sampling: a pure function of the samples, the same in the sampler and in the simulation that proves its
// coverage (tests/unit/measure/coverage_test.cpp). Thread-safe, nothing fails. Why this rule:
// docs/adr/0003-stopping-rule.md.
#pragma once

#include <cstdint>
#include <span>

#include "results/stats/summary.h"

namespace hbmark {

struct Look {
  bool precise = false;            // sampling may end here
  stats::MedianInterval interval;  // 95 %, what would be reported
};

// The number of samples at which to look next: 10, 20, 40, ...
std::int64_t next_look(std::int64_t samples);

// precision: largest half-width over the median that will do.
Look look_at(std::span<const double> samples, double precision);

}  // namespace hbmark
