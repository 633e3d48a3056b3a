// The median's interval: its order statistics are exact, and it says why where there is none.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <random>

#include "results/stats/summary.h"

namespace hbmark::stats {
namespace {

using testing::HasSubstr;

// P(Bin(n, 1/2) < rank), summed term by term: shares no code with the library under test.
double below(std::size_t n, std::size_t rank) {
  double sum = 0;
  for (std::size_t i = 0; i < rank; ++i) {
    const auto a = static_cast<double>(n), b = static_cast<double>(i);
    sum += std::exp(std::lgamma(a + 1) - std::lgamma(b + 1) - std::lgamma(a - b + 1) - a * std::log(2.0));
  }
  return sum;
}

std::vector<double> shuffled(std::size_t n, unsigned seed = 1) {
  std::vector<double> values(n);
  std::iota(values.begin(), values.end(), 1.0);
  std::mt19937_64 random(seed);
  std::shuffle(values.begin(), values.end(), random);
  return values;
}

TEST(Median, OfOddEvenOneAndNone) {
  EXPECT_EQ(median(std::vector<double>{3, 1, 2}), 2);
  EXPECT_EQ(median(std::vector<double>{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(std::vector<double>{7}), 7);
  EXPECT_EQ(median({}), 0);
}

TEST(Rank, KnownTable) {  // Conover, Practical Nonparametric Statistics; 95 %
  EXPECT_EQ(median_interval_rank(5, 0.95), 0u);
  EXPECT_EQ(median_interval_rank(6, 0.95), 1u);
  EXPECT_EQ(median_interval_rank(8, 0.95), 1u);
  EXPECT_EQ(median_interval_rank(9, 0.95), 2u);
  EXPECT_EQ(median_interval_rank(10, 0.95), 2u);
  EXPECT_EQ(median_interval_rank(20, 0.95), 6u);
  EXPECT_EQ(median_interval_rank(100, 0.95), 40u);
  EXPECT_EQ(median_interval_rank(0, 0.95), 0u);
  EXPECT_EQ(median_interval_rank(7, 0.99), 0u);
  EXPECT_EQ(median_interval_rank(8, 0.99), 1u);
}

TEST(Rank, CoversAsPromisedAndNoWiderThanNeeded) {
  for (const double confidence : {0.5, 0.9, 0.95, 0.98, 0.999}) {
    for (std::size_t n = 1; n <= 400; ++n) {
      const std::size_t rank = median_interval_rank(n, confidence);
      ASSERT_LE(2 * rank, n + 1) << n;
      if (rank > 0) {
        ASSERT_GE(1 - 2 * below(n, rank), confidence - 1e-9) << n << " at " << confidence;
      }
      if (2 * (rank + 1) <= n) {
        ASSERT_LT(1 - 2 * below(n, rank + 1), confidence + 1e-9) << n << " at " << confidence;
      }
    }
  }
}

TEST(Interval, TooFewSamplesSaysHowManyAreNeeded) {
  const MedianInterval five = median_interval(shuffled(5));
  EXPECT_FALSE(five.low.has_value());
  EXPECT_FALSE(five.high.has_value());
  EXPECT_EQ(five.method, "no interval: 5 samples, 6 needed");
  EXPECT_EQ(five.median, 3);
  EXPECT_TRUE(std::isinf(five.half_width_relative()));
  EXPECT_EQ(median_interval(shuffled(1)).method, "no interval: 1 sample, 6 needed");
  EXPECT_EQ(median_interval({}).method, "no interval: 0 samples, 6 needed");
}

TEST(Interval, ShortSeriesGetTheirRange) {
  const std::vector<double> alternating = {1, 9, 2, 8, 3, 7, 4, 6, 5, 10};
  const MedianInterval interval = median_interval(alternating);
  EXPECT_EQ(interval.low, 1);
  EXPECT_EQ(interval.high, 10);
  EXPECT_EQ(interval.method, "range of 10 samples");
  EXPECT_DOUBLE_EQ(interval.half_width_relative(), 4.5 / 5.5);
}

TEST(Interval, IndependentSamplesUseOrderStatistics) {
  std::vector<double> alternating;  // lag-1 below 0: nothing to widen for
  for (int i = 0; i < 50; ++i) alternating.insert(alternating.end(), {1.0 + i, 100.0 - i});
  const MedianInterval interval = median_interval(alternating);
  EXPECT_LT(interval.lag1, 0);
  EXPECT_EQ(interval.low, 40);
  EXPECT_EQ(interval.high, 61);
  EXPECT_EQ(interval.method, "order statistics");
}

TEST(Interval, CorrelatedSamplesUseBatches) {
  std::mt19937_64 random(3);
  std::normal_distribution<double> normal;
  std::vector<double> series;
  double x = normal(random);
  for (int i = 0; i < 1000; ++i) series.push_back(1 + 0.01 * (x = 0.6 * x + 0.8 * normal(random)));
  const MedianInterval interval = median_interval(series);
  EXPECT_GT(interval.lag1, 0.4);
  EXPECT_THAT(interval.method, testing::MatchesRegex("order statistics over [0-9]+ batches"));
  std::vector<double> sorted = series;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_GT(*interval.high - *interval.low, sorted[530] - sorted[469]) << "as narrow as if the samples were independent";
  EXPECT_LE(*interval.low, interval.median);
  EXPECT_GE(*interval.high, interval.median);
}

TEST(Interval, FewCorrelatedSamplesGetTheirRangeOrNone) {
  std::vector<double> rising(14);
  std::iota(rising.begin(), rising.end(), 1.0);
  const MedianInterval range = median_interval(rising);
  EXPECT_EQ(range.method, "range of 14 autocorrelated samples");
  EXPECT_EQ(range.low, 1);
  EXPECT_EQ(range.high, 14);
  const MedianInterval none = median_interval(std::span(rising).first(8));
  EXPECT_FALSE(none.low.has_value());
  EXPECT_EQ(none.method, "no interval: 8 autocorrelated samples, 10 needed");
}

TEST(Interval, EqualSamplesAreAPoint) {
  const MedianInterval interval = median_interval(std::vector<double>(30, 2.0));
  EXPECT_EQ(interval.lag1, 0);
  EXPECT_EQ(interval.low, 2);
  EXPECT_EQ(interval.high, 2);
  EXPECT_EQ(interval.half_width_relative(), 0);
}

TEST(Lag1, RecoversWhatWasPutIn) {
  for (const double phi : {0.0, 0.3, 0.6, 0.9}) {
    std::mt19937_64 random(7);
    std::normal_distribution<double> normal;
    double sum = 0;
    for (int series = 0; series < 200; ++series) {
      std::vector<double> values;
      double x = normal(random);
      for (int i = 0; i < 40; ++i) values.push_back(x = phi * x + std::sqrt(1 - phi * phi) * normal(random));
      sum += lag1_autocorrelation(values);
    }
    // Standard error about 0.01; ranks lose up to 0.02 (Pearson 1907), and at 0.9 the bias is not linear in r any more.
    EXPECT_NEAR(sum / 200, phi, phi < 0.7 ? 0.05 : 0.08) << phi;
  }
}

TEST(Lag1, OneOutlierDoesNotHideIt) {
  std::vector<double> series;
  for (int i = 0; i < 60; ++i) series.push_back(std::sin(i * 0.3));
  const double clean = lag1_autocorrelation(series);
  series[30] = 1e6;
  EXPECT_GT(clean, 0.8);
  EXPECT_GT(lag1_autocorrelation(series), 0.7);
}

TEST(Lag1, ShortOrEqualIsZero) {
  EXPECT_EQ(lag1_autocorrelation({}), 0);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>{1, 2}), 0);
  EXPECT_EQ(lag1_autocorrelation(std::vector<double>(9, 4.0)), 0);
}

TEST(Batches, EverySampleIsInOne) {
  EXPECT_THAT(batch_medians(std::vector<double>{1, 2, 3, 4, 5, 6, 7}, 3), testing::ElementsAre(1.5, 3.5, 6));
  EXPECT_THAT(batch_medians(std::vector<double>{5, 1}, 2), testing::ElementsAre(5, 1));
}

}  // namespace
}  // namespace hbmark::stats
