// What a reader should know of the samples beyond their median: drift, two levels, noise.
#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>

#include "results/stats/summary.h"

namespace hbmark::stats {
namespace {

// Fleets have thousands of results, so one false alarm in a thousand is many enough.
constexpr double kDriftSignificance = 0.001;
constexpr std::size_t kFewestForDrift = 10;  // below, no order of ten values is rarer than the significance
constexpr std::size_t kMostDriftBatches = 20;

constexpr std::size_t kFewestForModes = 20;
constexpr double kModeTrim = 0.025;  // of the samples, at each end: outliers are no mode
constexpr double kModeShare = 0.1;   // least share of the samples that makes a mode, and least number
constexpr std::size_t kModeSamples = 5;
// Ashman's D (Ashman, Bird, Zepf 1994, "Detecting bimodality in astronomical datasets", AJ 108). Its customary limit of 2 is
// for fitted mixtures; cutting one population in two gives 2.65 for a normal and 3.46 for a uniform one, the widest without
// a valley. Short series scatter widely, so they need more: limit (1 + kModeScatter / sqrt(n)), set by simulation
// (shape_test) so that the worst of normal, uniform, exponential, log-normal and Student-2 noise alarms in under 1 of 100
// series.
constexpr double kModeDistance = 4.5;
constexpr double kModeScatter = 2.5;

struct Line {
  double slope = 0;  // a step
  double trend = 0;  // Mann-Kendall S: rising pairs less falling ones
};

Line fit(std::span<const double> values) {
  std::vector<double> slopes;
  Line line;
  for (std::size_t i = 0; i < values.size(); ++i) {
    for (std::size_t j = i + 1; j < values.size(); ++j) {
      slopes.push_back((values[j] - values[i]) / static_cast<double>(j - i));
      line.trend += static_cast<double>(values[j] > values[i]) - static_cast<double>(values[j] < values[i]);
    }
  }
  line.slope = median(slopes);
  return line;
}

struct Group {
  double count = 0, sum = 0, squares = 0;
  void add(double x) { ++count, sum += x, squares += x * x; }
  void remove(double x) { --count, sum -= x, squares -= x * x; }
  double mean() const { return sum / count; }
  double variance() const { return std::max(0.0, squares / count - mean() * mean()); }
};

}  // namespace

// Mann (1945) and Kendall's test with Sen's slope on batch medians, its variance enlarged for the autocorrelation that is
// left when the trend is taken out (Yue and Wang 2004, "The Mann-Kendall test modified by effective sample size", WRM 18).
bool is_drifting(std::span<const double> samples, double size) {
  if (samples.size() < kFewestForDrift) return false;
  std::vector<double> values = batch_medians(samples, std::min(samples.size(), kMostDriftBatches));
  const auto count = static_cast<double>(values.size());
  const Line line = fit(values);
  if (std::abs(line.slope) * (count - 1) <= size * median(values)) return false;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] -= line.slope * static_cast<double>(i);
  const double lag1 = std::clamp(lag1_autocorrelation(values), 0.0, 0.9);
  const double variance = count * (count - 1) * (2 * count + 5) / 18 * (1 + lag1) / (1 - lag1);
  const double limit = boost::math::quantile(boost::math::complement(boost::math::normal(), 0.5 * kDriftSignificance));
  return (std::abs(line.trend) - 1) / std::sqrt(variance) > limit;
}

// The best cut of the sorted log times in two (largest variance between the parts), judged by Ashman's D.
bool is_bimodal(std::span<const double> samples, double size) {
  if (samples.size() < kFewestForModes) return false;
  std::vector<double> logs;
  for (const double x : samples) {
    if (!(x > 0)) return false;
    logs.push_back(std::log(x));
  }
  std::sort(logs.begin(), logs.end());
  const auto trim = static_cast<std::size_t>(std::ceil(kModeTrim * static_cast<double>(logs.size())));
  const std::span<const double> kept = std::span(logs).subspan(trim, logs.size() - 2 * trim);
  const double middle = kept[kept.size() / 2];  // taken off, or the squares lose the small differences
  Group low, high;
  for (const double x : kept) high.add(x - middle);
  const auto share = static_cast<std::size_t>(std::ceil(kModeShare * static_cast<double>(kept.size())));
  const std::size_t least = std::max(kModeSamples, share);
  double best = 0, distance = 0, gap = 0;
  for (std::size_t i = 0; i + least < kept.size(); ++i) {
    low.add(kept[i] - middle);
    high.remove(kept[i] - middle);
    if (i + 1 < least) continue;
    const double apart = high.mean() - low.mean();
    const double between = low.count * high.count * apart * apart;
    if (between <= best) continue;
    best = between;
    gap = apart;
    // Rounding of the sums must not pass for a spread of nothing, nor nothing for an infinite distance.
    const double spread = std::sqrt(0.5 * (low.variance() + high.variance()));
    distance = apart / std::max(spread, 1e-9);
  }
  const double limit = kModeDistance * (1 + kModeScatter / std::sqrt(static_cast<double>(samples.size())));
  return distance > limit && gap > std::log1p(size);
}

std::vector<std::string> flags(std::span<const double> samples, const MedianInterval& interval, double precision) {
  std::vector<std::string> result;
  if (interval.low && interval.half_width_relative() > 2 * precision) result.emplace_back("noisy");
  if (is_drifting(samples, precision)) result.emplace_back("drifting");
  if (is_bimodal(samples, precision)) result.emplace_back("bimodal");
  return result;
}

}  // namespace hbmark::stats
