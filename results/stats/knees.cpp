#include "results/stats/knees.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "results/stats/summary.h"

namespace hbmark::stats {
namespace {

constexpr std::size_t kMinPoints = 2;

// What one more level has to save in summed absolute deviation: two points a factor of about 1.2 away, and more where the
// curve is noisy (its steps between neighbours, of which a few are the knees themselves: hence their median).
double price_of_level(const std::vector<double>& logs) {
  constexpr double kBase = 0.35;
  constexpr double kNoise = 4;
  std::vector<double> steps;
  for (std::size_t i = 1; i < logs.size(); ++i) steps.push_back(std::abs(logs[i] - logs[i - 1]));
  return kBase + kNoise * median(steps);
}

double deviation(std::span<const double> values) {
  const double middle = median(values);
  double sum = 0;
  for (const double value : values) sum += std::abs(value - middle);
  return sum;
}

// The cheapest division into runs of neighbours (Bellman's dynamic programme over the end of the last one): where each ends.
std::vector<std::size_t> ends_of_levels(const std::vector<double>& logs) {
  const std::size_t n = logs.size();
  const double price = price_of_level(logs);
  std::vector<double> best(n + 1, std::numeric_limits<double>::infinity());
  std::vector<std::size_t> from(n + 1, 0);
  best[0] = 0;
  for (std::size_t end = kMinPoints; end <= n; ++end) {
    for (std::size_t begin = 0; begin + kMinPoints <= end; ++begin) {
      if (!std::isfinite(best[begin])) continue;
      const double cost = best[begin] + price + deviation(std::span(logs).subspan(begin, end - begin));
      if (cost < best[end]) {
        best[end] = cost;
        from[end] = begin;
      }
    }
  }
  std::vector<std::size_t> ends;
  for (std::size_t end = n; end > 0; end = from[end]) ends.push_back(end);
  std::reverse(ends.begin(), ends.end());
  return ends;
}

CurveLevel level_of(std::span<const CurvePoint> points, std::size_t first, std::size_t last) {
  std::vector<double> values;
  for (std::size_t i = first; i <= last; ++i) values.push_back(points[i].value);
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return {first, last, median(values), *low, *high};
}

}  // namespace

std::vector<CurveLevel> curve_levels(std::span<const CurvePoint> points, double ratio) {
  if (points.size() < kMinPoints) return {};
  std::vector<double> logs;
  for (const CurvePoint& point : points) {
    if (!(point.value > 0) || !std::isfinite(point.value) || !(point.x > 0)) return {};
    logs.push_back(std::log(point.value));
  }
  std::vector<CurveLevel> levels;
  std::size_t first = 0;
  for (const std::size_t end : ends_of_levels(logs)) {
    CurveLevel level = level_of(points, first, end - 1);
    first = end;
    const bool same = !levels.empty() && std::abs(std::log(level.value / levels.back().value)) <= std::log(ratio);
    if (same) {
      levels.back() = level_of(points, levels.back().first, level.last);
    } else {
      levels.push_back(level);
    }
  }
  return levels;
}

}  // namespace hbmark::stats
