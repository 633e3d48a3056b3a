#include "results/stats/compare.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/students_t.hpp>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "results/stats/summary.h"

namespace hbmark::stats {
namespace {

constexpr double kFalseDiscoveries = 0.05;

struct Spread {
  double mean = 0;
  double variance_of_mean = 0;
  double freedom = 0;
};

// Logarithms of the launches' medians: ratios are differences there, and a slow machine's noise is of the size of a fast
// one's. A launch without samples is left out; empty when a median is not positive.
std::vector<double> log_medians(const Launches& launches) {
  std::vector<double> logs;
  for (const std::vector<double>& samples : launches) {
    if (samples.empty()) continue;
    const double middle = median(samples);
    if (!(middle > 0) || !std::isfinite(middle)) return {};
    logs.push_back(std::log(middle));
  }
  return logs;
}

Spread spread_of(const std::vector<double>& values) {
  Spread spread;
  const auto n = static_cast<double>(values.size());
  // From the first value on: equal values have a spread of exactly 0.
  for (const double value : values) spread.mean += (value - values.front()) / n;
  spread.mean += values.front();
  double squares = 0;
  for (const double value : values) squares += (value - spread.mean) * (value - spread.mean);
  spread.freedom = n - 1;
  if (values.size() > 1) spread.variance_of_mean = squares / spread.freedom / n;
  return spread;
}

// The least two-sided p-value that a permutation of so many launches can give.
double least_p(std::size_t a, std::size_t b) {
  const auto x = static_cast<double>(a);
  const auto y = static_cast<double>(b);
  return 2 * std::exp(std::lgamma(x + 1) + std::lgamma(y + 1) - std::lgamma(x + y + 1));
}

void set_welch(RatioEstimate& estimate, const Spread& a, const Spread& b, double confidence) {
  const double difference = b.mean - a.mean;
  const double variance = a.variance_of_mean + b.variance_of_mean;
  // Medians that are equal to the last digit (a coarse clock): no spread to judge by, so that the launches' number must do.
  constexpr double kEqual = 1e-12;
  if (std::sqrt(variance) <= kEqual) {
    estimate.low = estimate.high = estimate.ratio;
    estimate.p = std::abs(difference) <= kEqual ? 1 : least_p(estimate.launches_a, estimate.launches_b);
    return;
  }
  // Welch 1947, "The generalization of Student's problem when several different population variances are involved",
  // Biometrika 34; degrees of freedom of Satterthwaite 1946.
  const double freedom =
      variance * variance /
      (a.variance_of_mean * a.variance_of_mean / a.freedom + b.variance_of_mean * b.variance_of_mean / b.freedom);
  const boost::math::students_t student(freedom);
  const double error = std::sqrt(variance);
  const double reach = boost::math::quantile(boost::math::complement(student, 0.5 * (1 - confidence))) * error;
  estimate.low = std::exp(difference - reach);
  estimate.high = std::exp(difference + reach);
  estimate.p = 2 * boost::math::cdf(boost::math::complement(student, std::abs(difference) / error));
}

const std::vector<double>& only_launch(const Launches& launches) {
  return *std::find_if(launches.begin(), launches.end(), [](const auto& samples) { return !samples.empty(); });
}

// Both intervals of a median into one of the ratio, on logarithms (MOVER: Donner and Zou 2012, "Closed-form confidence
// intervals for functions of the normal mean and standard deviation", Statistical Methods in Medical Research 21).
void set_within(RatioEstimate& estimate, const Launches& a, const Launches& b, double confidence) {
  const MedianInterval ia = median_interval(only_launch(a), confidence);
  const MedianInterval ib = median_interval(only_launch(b), confidence);
  if (!ia.low || !ia.high || !ib.low || !ib.high || !(*ia.low > 0) || !(*ib.low > 0)) return;
  const double difference = std::log(ib.median / ia.median);
  estimate.within_low = std::exp(difference - std::hypot(std::log(ib.median / *ib.low), std::log(*ia.high / ia.median)));
  estimate.within_high = std::exp(difference + std::hypot(std::log(*ib.high / ib.median), std::log(ia.median / *ia.low)));
}

std::size_t with_samples(const Launches& launches) {
  return static_cast<std::size_t>(
      std::count_if(launches.begin(), launches.end(), [](const auto& samples) { return !samples.empty(); }));
}

}  // namespace

Launches by_launch(std::span<const SampleRecord> samples) {
  std::map<std::int64_t, std::vector<double>> times;
  for (const SampleRecord& sample : samples) times[sample.launch].push_back(sample.time_s);
  Launches launches;
  for (auto& [launch, of_launch] : times) launches.push_back(std::move(of_launch));
  return launches;
}

RatioEstimate compare_launches(const Launches& a, const Launches& b, double confidence) {
  RatioEstimate estimate;
  estimate.launches_a = with_samples(a);
  estimate.launches_b = with_samples(b);
  const std::vector<double> logs_a = log_medians(a);
  const std::vector<double> logs_b = log_medians(b);
  const Spread spread_a = logs_a.empty() ? Spread{} : spread_of(logs_a);
  const Spread spread_b = logs_b.empty() ? Spread{} : spread_of(logs_b);
  if (!logs_a.empty()) estimate.a_s = std::exp(spread_a.mean);
  if (!logs_b.empty()) estimate.b_s = std::exp(spread_b.mean);
  if (logs_a.empty() || logs_b.empty()) {
    estimate.method = fmt::format("no ratio: {} has no positive time", logs_a.empty() ? "A" : "B");
    return estimate;
  }
  estimate.ratio = std::exp(spread_b.mean - spread_a.mean);
  if (std::min(logs_a.size(), logs_b.size()) < kFewestLaunches) {
    estimate.method = fmt::format("no between-launch interval: {} and {} launches, {} a side needed", logs_a.size(),
                                  logs_b.size(), kFewestLaunches);
    if (logs_a.size() == 1 && logs_b.size() == 1) set_within(estimate, a, b, confidence);
    return estimate;
  }
  set_welch(estimate, spread_a, spread_b, confidence);
  estimate.method = fmt::format("Welch's t over {} and {} launches", logs_a.size(), logs_b.size());
  return estimate;
}

std::vector<double> adjust_p_values(std::span<const double> p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t x, std::size_t y) { return p[x] < p[y]; });
  std::vector<double> adjusted(p.size());
  double least = 1;
  for (std::size_t rank = p.size(); rank > 0; --rank) {
    const std::size_t index = order[rank - 1];
    least = std::min(least, p[index] * static_cast<double>(p.size()) / static_cast<double>(rank));
    adjusted[index] = least;
  }
  return adjusted;
}

std::string_view verdict_name(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return "faster";
    case Verdict::kSlower:
      return "slower";
    case Verdict::kSame:
      return "same";
    case Verdict::kNoDifference:
      return "no_difference_shown";
    case Verdict::kNotEstablished:
      return "not_established";
    case Verdict::kNotComparable:
      return "not_comparable";
  }
  return "";
}

Verdict judge_ratio(const RatioEstimate& estimate, std::optional<double> adjusted_p, double margin) {
  if (!estimate.ratio) return Verdict::kNotComparable;
  if (!estimate.low || !estimate.high || !adjusted_p) return Verdict::kNotEstablished;
  // 95 % on both sides is stricter than the two one-sided tests at 5 % (Schuirmann 1987) need it.
  if (*estimate.low >= 1 / (1 + margin) && *estimate.high <= 1 + margin) return Verdict::kSame;
  if (*adjusted_p > kFalseDiscoveries) return Verdict::kNoDifference;
  return *estimate.ratio < 1 ? Verdict::kFaster : Verdict::kSlower;
}

TimeSummary launches_summary(const Launches& launches, std::int64_t calls_per_sample) {
  std::vector<double> medians;
  TimeSummary summary;
  summary.min = std::numeric_limits<double>::infinity();
  for (const std::vector<double>& samples : launches) {
    if (samples.empty()) continue;
    medians.push_back(median(samples));
    summary.min = std::min(summary.min, *std::min_element(samples.begin(), samples.end()));
    summary.samples += static_cast<std::int64_t>(samples.size());
  }
  summary.median = median(medians);
  summary.calls_per_sample = calls_per_sample;
  const std::size_t rank = medians.size() < kFewestLaunches ? 0 : median_interval_rank(medians.size(), 0.95);
  if (rank == 0) {
    summary.interval_method = fmt::format("no between-launch interval: {} launch{}, {} needed", medians.size(),
                                          medians.size() == 1 ? "" : "es", kFewestLaunches);
    return summary;
  }
  std::sort(medians.begin(), medians.end());
  summary.ci_low = medians[rank - 1];
  summary.ci_high = medians[medians.size() - rank];
  summary.interval_method = fmt::format("order statistics over {} launches", medians.size());
  return summary;
}

std::vector<std::size_t> odd_launches(const Launches& launches, double factor) {
  std::vector<double> logs;
  std::vector<std::size_t> index;
  for (std::size_t i = 0; i < launches.size(); ++i) {
    const double middle = median(launches[i]);
    if (!(middle > 0)) continue;
    logs.push_back(std::log(middle));
    index.push_back(i);
  }
  if (logs.size() < kFewestLaunches) return {};
  const double center = median(logs);
  std::vector<double> distances;
  for (const double value : logs) distances.push_back(std::abs(value - center));
  const double limit = std::max(std::log(factor), 5 * median(distances));
  std::vector<std::size_t> odd;
  for (std::size_t i = 0; i < logs.size(); ++i) {
    if (distances[i] > limit) odd.push_back(index[i]);
  }
  return odd;
}

}  // namespace hbmark::stats
