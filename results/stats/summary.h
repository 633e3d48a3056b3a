// From samples to a median with an interval that keeps its word, and the flags a reader should see.
//
// Pure functions, thread-safe. Samples are seconds a call, in the order they were taken; outliers are never dropped.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace hbmark::stats {

struct MedianInterval {
  double median = 0;
  std::optional<double> low;   // absent: too few samples for the confidence asked
  std::optional<double> high;
  std::string method;          // "order statistics", "order statistics over 12 batches", or why there is none
  double lag1 = 0;             // autocorrelation that decided between them
  double half_width_relative() const;  // infinity when absent
};

// Distribution-free interval of the median (binomial order statistics), over batch medians when lag-1 autocorrelation
// exceeds 0.2. Confidence in (0, 1).
MedianInterval median_interval(std::span<const double> samples, double confidence = 0.95);

double median(std::span<const double> samples);
double lag1_autocorrelation(std::span<const double> samples);

// Subset of: noisy (interval wider than twice the precision asked when sampling ended), drifting, bimodal.
std::vector<std::string> flags(std::span<const double> samples, const MedianInterval& interval, double precision);

}  // namespace hbmark::stats
