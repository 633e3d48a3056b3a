// Two results side by side: the ratio of their times with an interval that holds over launches, and what may be said of it.
//
// Pure functions, thread-safe, nothing fails: what cannot be said is absent, with the reason in `method`. Times are finite
// seconds a call. A ratio is B over A: above 1, B is slower. Why this method, with figures: docs/adr/0010-comparing.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/records.h"

namespace hbmark::stats {

using Launches = std::vector<std::vector<double>>;  // the samples of each launch, in the order they were taken

// What is stored of a result, sorted into its launches; a launch without samples is left out.
Launches by_launch(std::span<const SampleRecord> samples);

inline constexpr std::size_t kFewestLaunches = 6;  // a side; fewer give no between-launch interval (DESIGN section 5)

struct RatioEstimate {
  std::optional<double> a_s, b_s;   // geometric mean of the launches' medians; of one launch its median
  std::optional<double> ratio;      // b_s / a_s; absent: a side has no positive time
  std::optional<double> low, high;  // interval of the ratio, between launches
  std::optional<double> p;          // of "the ratio is 1", two-sided, not corrected for how many problems were looked at
  std::optional<double> within_low, within_high;  // one launch a side: what its samples alone tell, and no more
  std::size_t launches_a = 0, launches_b = 0;     // those with samples
  std::string method;                             // "Welch's t over 8 and 8 launches", or why there is no interval
};

// The launch is the unit: its samples, autocorrelated or not, count by their median only, and what differs between launches
// is in the spread of those medians. Welch's t on their logarithms. Confidence in (0, 1).
RatioEstimate compare_launches(const Launches& a, const Launches& b, double confidence = 0.95);

// Each p-value as Benjamini and Hochberg (1995) adjust it: calling those at or under 0.05 different holds the share of false
// ones among them at 5 %. In the order given.
std::vector<double> adjust_p_values(std::span<const double> p);

enum class Verdict {
  kFaster,          // B than A, or slower: still so after the adjustment, and not the same within the margin
  kSlower,          //
  kSame,            // the whole interval lies within the margin, whether 1 is in it or not
  kNoDifference,    // no difference shown: neither of these
  kNotEstablished,  // too few launches for an interval
  kNotComparable,   // a side was not measured
};
std::string_view verdict_name(Verdict verdict);  // "faster", "no_difference_shown", ...

// `margin` 0.02: a ratio between 1/1.02 and 1.02 is called the same. `adjusted_p` absent: not established.
Verdict judge_ratio(const RatioEstimate& estimate, std::optional<double> adjusted_p, double margin);

// One result of several launches: the median of their medians, with its distribution-free interval between launches where
// there are 6 or more; `interval_method` says which, or why there is none. At least one launch with a sample.
TimeSummary launches_summary(const Launches& launches, std::int64_t calls_per_sample);

// Launches (indexes) whose median stands apart from the others' by more than `factor`, and by 5 times their spread: such a
// one widens the interval, and is not dropped.
std::vector<std::size_t> odd_launches(const Launches& launches, double factor = 1.1);

}  // namespace hbmark::stats
