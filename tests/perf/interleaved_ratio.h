// Is A slower than B? Both are timed in turn, many times, in random order, so that what changes on the machine meanwhile
// changes both: one after the other, the same loop differs from itself by 4 % and more.
//
// Beside it B against itself: what the comparison shows where there is nothing to show. One thread. Never fails by itself;
// the closures report their failures by Result.
#pragma once

#include <cstdint>
#include <functional>

#include "results/base/result.h"
#include "results/stats/summary.h"

namespace hbmark::perf {

using TimeCalls = std::function<Result<double>(std::int64_t calls)>;  // seconds that so many calls took

struct Ratios {
  stats::MedianInterval ratio;  // A over B, pair by pair, with its 95 % interval
  stats::MedianInterval self;   // B over B, from the same rounds
  std::int64_t pairs = 0;
  std::int64_t calls_per_sample = 1;
};

inline constexpr std::int64_t kFewestPairs = 60;

// Each round times A once and B twice, in an order drawn from `seed`. One round before is thrown away. pairs >=
// kFewestPairs.
Result<Ratios> interleaved_ratio(const TimeCalls& a, const TimeCalls& b, std::int64_t calls, std::int64_t pairs,
                                 std::uint64_t seed);

}  // namespace hbmark::perf
