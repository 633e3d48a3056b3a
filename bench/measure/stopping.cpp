#include "bench/measure/stopping.h"

namespace hbmark {
namespace {

constexpr std::int64_t kFirstLook = 10;
// Stopping on a narrow interval picks those narrow by luck. So the 98 % interval must be narrow too: it is 1.19 times as
// wide as the 95 % one when all is well (the ratio of the normal quantiles 2.33 and 1.96), more when a gap made the latter
// narrow.
constexpr double kStricterConfidence = 0.98;
constexpr double kStricterWidth = 1.2;
// The first look has but the range for an interval, at any confidence, so the rule above says nothing there.
constexpr double kFirstLookWidth = 0.8;

}  // namespace

std::int64_t next_look(std::int64_t samples) {
  std::int64_t look = kFirstLook;
  while (look <= samples) look *= 2;
  return look;
}

Look look_at(std::span<const double> samples, double precision) {
  Look look;
  look.interval = stats::median_interval(samples, 0.95);
  const bool first = samples.size() < static_cast<std::size_t>(2 * kFirstLook);
  look.precise = look.interval.half_width_relative() <= (first ? kFirstLookWidth : 1) * precision &&
                 stats::median_interval(samples, kStricterConfidence).half_width_relative() <= kStricterWidth * precision;
  return look;
}

}  // namespace hbmark
