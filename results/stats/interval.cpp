// The interval of the median.
#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/binomial.hpp>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>

#include "results/stats/summary.h"

namespace hbmark::stats {
namespace {

// Samples correlated more than this are not treated as independent (DESIGN section 5).
constexpr double kCorrelated = 0.2;
// A batch is so many integrated autocorrelation times long: at 4 the batch means of an AR(1) series of 0.6 are correlated by
// less than 0.07. Batches grow with the series, their number is held under 30: more buys no better interval (Schmeiser 1982,
// "Batch size effects in the analysis of simulation output", Operations Research 30).
constexpr double kBatchTimes = 4;
constexpr std::size_t kMostBatches = 30;
// Fewer samples than this cannot show whether they are correlated (the standard error of lag-1 is 1/sqrt(n)), so their whole
// range is the interval; fewer correlated ones than 10 have no honest interval: see docs/adr/0003-stopping-rule.md.
constexpr std::size_t kFewestToJudge = 20;
constexpr std::size_t kFewestCorrelated = 10;

double median_in_place(std::vector<double>& values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  if (values.size() % 2 == 1) return *middle;
  return 0.5 * (*middle + *std::max_element(values.begin(), middle));
}

// Ranks from 1, ties share their mean: clocks are quantised.
std::vector<double> ranks(std::span<const double> samples) {
  std::vector<std::size_t> order(samples.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return samples[a] < samples[b]; });
  std::vector<double> result(samples.size());
  for (std::size_t first = 0; first < order.size();) {
    std::size_t last = first + 1;
    while (last < order.size() && samples[order[last]] == samples[order[first]]) ++last;
    for (std::size_t i = first; i < last; ++i) result[order[i]] = 0.5 * static_cast<double>(first + 1 + last);
    first = last;
  }
  return result;
}

// How many batches make neighbours all but independent.
std::size_t choose_batches(std::size_t n, double lag1) {
  const double bounded = std::min(lag1, 0.99);
  const double correlation_time = (1 + bounded) / (1 - bounded);  // of an AR(1) series
  const auto length = static_cast<std::size_t>(std::ceil(kBatchTimes * correlation_time));
  return std::min(n / length, kMostBatches);
}

// The rank for values whose remaining correlation `lag1` makes n of them worth fewer. The count of values below the median
// varies with the correlation of their signs, 2/pi asin(lag1) for a normal series (Sheppard 1899), and its variance grows by
// (1 + s) / (1 - s) when the signs are a Markov chain.
std::size_t widen_rank(std::size_t n, std::size_t rank, double lag1) {
  if (lag1 <= 0) return rank;
  const double sign = 2 / std::numbers::pi * std::asin(std::min(lag1, 0.9));
  const double middle = 0.5 * static_cast<double>(n + 1);
  const double half = (middle - static_cast<double>(rank)) * std::sqrt((1 + sign) / (1 - sign));
  return static_cast<std::size_t>(std::max(1.0, std::floor(middle - half)));
}

void set_order_statistics(MedianInterval& interval, std::vector<double> values, std::size_t rank) {
  std::sort(values.begin(), values.end());
  // The point estimate is the median of all samples; an interval over batches that misses it is widened to hold it.
  interval.low = std::min(values[rank - 1], interval.median);
  interval.high = std::max(values[values.size() - rank], interval.median);
}

void set_correlated(MedianInterval& interval, std::span<const double> samples, double confidence) {
  const std::size_t n = samples.size();
  const std::size_t batches = choose_batches(n, interval.lag1);
  if (const std::size_t rank = median_interval_rank(batches, confidence); rank > 0) {
    std::vector<double> medians = batch_medians(samples, batches);
    const std::size_t widened = widen_rank(batches, rank, lag1_autocorrelation(medians));
    set_order_statistics(interval, std::move(medians), widened);
    interval.method = fmt::format("order statistics over {} batches", batches);
  } else if (n >= kFewestCorrelated) {
    set_order_statistics(interval, {samples.begin(), samples.end()}, 1);
    interval.method = fmt::format("range of {} autocorrelated samples", n);
  } else {
    interval.method = fmt::format("no interval: {} autocorrelated samples, {} needed", n, kFewestCorrelated);
  }
}

}  // namespace

double MedianInterval::half_width_relative() const {
  if (!low || !high || !(median > 0)) return std::numeric_limits<double>::infinity();
  return 0.5 * (*high - *low) / median;
}

double median(std::span<const double> samples) {
  if (samples.empty()) return 0;
  std::vector<double> copy(samples.begin(), samples.end());
  return median_in_place(copy);
}

double lag1_autocorrelation(std::span<const double> samples) {
  const std::size_t n = samples.size();
  if (n < 3) return 0;
  const std::vector<double> rank = ranks(samples);
  const double mean = 0.5 * static_cast<double>(n + 1);
  double variance = 0;
  double covariance = 0;
  for (std::size_t i = 0; i < n; ++i) variance += (rank[i] - mean) * (rank[i] - mean);
  for (std::size_t i = 1; i < n; ++i) covariance += (rank[i] - mean) * (rank[i - 1] - mean);
  if (variance <= 0) return 0;
  const double raw = covariance / variance;
  // Short series understate it by (1 + 4 r) / n (Kendall 1954, "Note on bias in the estimation of autocorrelation",
  // Biometrika 41).
  return std::clamp(raw + (1 + 4 * raw) / static_cast<double>(n), -1.0, 1.0);
}

std::size_t median_interval_rank(std::size_t n, double confidence) {
  if (n == 0 || !(confidence > 0 && confidence < 1)) return 0;
  const double tail = 0.5 * (1 - confidence);
  const boost::math::binomial_distribution<double> below(static_cast<double>(n), 0.5);
  auto rank = static_cast<std::size_t>(boost::math::quantile(below, tail)) + 1;
  // The library rounds the quantile outwards, but never below 0.
  while (rank > 0 && boost::math::cdf(below, static_cast<double>(rank - 1)) > tail) --rank;
  return rank;
}

std::vector<double> batch_medians(std::span<const double> samples, std::size_t batches) {
  std::vector<double> result;
  result.reserve(batches);
  for (std::size_t i = 0; i < batches; ++i) {
    const std::size_t first = samples.size() * i / batches;
    const std::size_t last = samples.size() * (i + 1) / batches;
    result.push_back(median(samples.subspan(first, last - first)));
  }
  return result;
}

MedianInterval median_interval(std::span<const double> samples, double confidence) {
  MedianInterval interval;
  const std::size_t n = samples.size();
  interval.median = median(samples);
  interval.lag1 = lag1_autocorrelation(samples);
  const std::size_t rank = median_interval_rank(n, confidence);
  if (rank == 0) {
    std::size_t least = n + 1;
    while (median_interval_rank(least, confidence) == 0) ++least;
    interval.method = fmt::format("no interval: {} sample{}, {} needed", n, n == 1 ? "" : "s", least);
    return interval;
  }
  if (interval.lag1 > kCorrelated) {
    set_correlated(interval, samples, confidence);
  } else if (n < kFewestToJudge) {
    set_order_statistics(interval, {samples.begin(), samples.end()}, 1);
    interval.method = fmt::format("range of {} samples", n);
  } else {
    set_order_statistics(interval, {samples.begin(), samples.end()}, widen_rank(n, rank, interval.lag1));
    interval.method = "order statistics";
  }
  return interval;
}

TimeSummary time_summary(std::span<const double> samples, const MedianInterval& interval, std::int64_t calls_per_sample) {
  TimeSummary summary;
  summary.median = interval.median;
  summary.ci_low = interval.low;
  summary.ci_high = interval.high;
  summary.min = *std::min_element(samples.begin(), samples.end());
  summary.samples = static_cast<std::int64_t>(samples.size());
  summary.calls_per_sample = calls_per_sample;
  summary.interval_method = interval.method;
  return summary;
}

}  // namespace hbmark::stats
