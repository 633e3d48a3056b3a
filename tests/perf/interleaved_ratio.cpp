#include "tests/perf/interleaved_ratio.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

namespace hbmark::perf {

Result<Ratios> interleaved_ratio(const TimeCalls& a, const TimeCalls& b, std::int64_t calls, std::int64_t pairs,
                                 std::uint64_t seed) {
  if (pairs < kFewestPairs || calls < 1) {
    return usage_error("cannot compare", fmt::format("{} pairs of {} calls", pairs, calls),
                       fmt::format("ask for at least {} pairs of 1 call", kFewestPairs));
  }
  std::mt19937_64 random(seed);
  std::array<int, 3> order = {0, 1, 2};  // A, B, B again
  std::vector<double> ratio, self;
  for (std::int64_t round = -1; round < pairs; ++round) {
    std::shuffle(order.begin(), order.end(), random);
    std::array<double, 3> seconds = {};
    for (const int who : order) {
      const Result<double> taken = (who == 0 ? a : b)(calls);
      if (!taken) return tl::make_unexpected(taken.error());
      seconds[static_cast<std::size_t>(who)] = *taken;
    }
    if (round < 0) continue;  // caches, pages and clocks settle
    ratio.push_back(seconds[0] / seconds[1]);
    self.push_back(seconds[2] / seconds[1]);
  }
  return Ratios{stats::median_interval(ratio), stats::median_interval(self), pairs, calls};
}

}  // namespace hbmark::perf
