// From samples to a median with an interval that keeps its word, and the flags a reader should see.
//
// Pure functions, thread-safe, nothing fails: what cannot be said is absent, with the reason in `method`. Samples are finite
// seconds a call, in the order they were taken; outliers are never dropped.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "results/records.h"

namespace hbmark::stats {

struct MedianInterval {
  double median = 0;
  std::optional<double> low;  // absent: too few samples for the confidence asked
  std::optional<double> high;
  std::string method;                  // "order statistics", "order statistics over 12 batches", or why there is none
  double lag1 = 0;                     // autocorrelation that decided between them
  double half_width_relative() const;  // infinity when absent
};

// Distribution-free interval of the median (binomial order statistics), over batch medians when lag-1 autocorrelation
// exceeds 0.2, and wider where correlation remains. Confidence in (0, 1). Fewer than 20 samples, and autocorrelated ones too
// few for batches, get their whole range ("range of 14 samples"); autocorrelated ones below 10 have no interval.
// Why these rules: docs/adr/0003-stopping-rule.md.
MedianInterval median_interval(std::span<const double> samples, double confidence = 0.95);

// The same as a record keeps it, with the least sample. At least one sample; `calls_per_sample` as in TimeSummary.
TimeSummary time_summary(std::span<const double> samples, const MedianInterval& interval, std::int64_t calls_per_sample);

double median(std::span<const double> samples);  // 0 of none

// Lag-1 autocorrelation of the samples' ranks (so that one outlier cannot hide it), corrected for the bias of short series,
// in [-1, 1]; 0 for fewer than 3 samples or when all are equal.
double lag1_autocorrelation(std::span<const double> samples);

// The order statistics x(rank) and x(n + 1 - rank) that hold the median of n independent samples with at least this
// confidence; 0: none does (fewer than 6 samples at 95 %).
std::size_t median_interval_rank(std::size_t n, double confidence);

// The medians of `batches` runs of neighbours whose lengths differ by at most one. 1 <= batches <= samples.size().
std::vector<double> batch_medians(std::span<const double> samples, std::size_t batches);

// A trend over the whole series that is significant (Mann-Kendall) and larger than `size` relative to the median.
bool is_drifting(std::span<const double> samples, double size);

// Two separate levels, each with a fair share of the samples, further apart than `size` relative to the median.
bool is_bimodal(std::span<const double> samples, double size);

// Subset of: noisy (interval wider than twice the precision asked when sampling ended), drifting, bimodal.
std::vector<std::string> flags(std::span<const double> samples, const MedianInterval& interval, double precision);

}  // namespace hbmark::stats
