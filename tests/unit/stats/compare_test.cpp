// The ratio of two results, the adjustment over problems and the verdict.
#include "results/stats/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace hbmark::stats {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<double> kA = {1.02, 1.00, 1.05, 0.99, 1.01, 1.03, 1.00, 1.04};
const std::vector<double> kB = {1.10, 1.08, 1.12, 1.02, 1.09, 1.07, 1.11, 1.20};

// Each launch of three samples with this median.
Launches launches_of(const std::vector<double>& medians, double scale = 1) {
  Launches launches;
  for (const double middle : medians) launches.push_back({scale * middle * 1.5, scale * middle, scale * middle * 0.9});
  return launches;
}

// SciPy 1.10.1: stats.ttest_ind(np.log(b), np.log(a), equal_var=False), and its interval from stats.t.ppf(0.975, df).
TEST(CompareLaunches, AgreesWithScipy) {
  const RatioEstimate ratio = compare_launches(launches_of(kA, 1e-3), launches_of(kB, 1e-3));
  EXPECT_NEAR(*ratio.ratio, 1.07904999369753, 1e-12);
  EXPECT_NEAR(*ratio.low, 1.03681117550313, 1e-12);
  EXPECT_NEAR(*ratio.high, 1.12300958593894, 1e-12);
  EXPECT_NEAR(*ratio.p, 0.0017617662953974338, 1e-12);
  EXPECT_EQ(ratio.method, "Welch's t over 8 and 8 launches");
  EXPECT_FALSE(ratio.within_low);
}

TEST(CompareLaunches, AgreesWithScipyForUnequalNumbers) {
  const RatioEstimate ratio = compare_launches(launches_of({kA.begin(), kA.begin() + 6}), launches_of(kB));
  EXPECT_NEAR(*ratio.low, 1.03668433532202, 1e-12);
  EXPECT_NEAR(*ratio.high, 1.12498394967058, 1e-12);
  EXPECT_NEAR(*ratio.p, 0.0017704246312568669, 1e-12);
}

TEST(CompareLaunches, TurnsAroundWhenTheSidesDo) {
  const RatioEstimate ab = compare_launches(launches_of(kA), launches_of(kB));
  const RatioEstimate ba = compare_launches(launches_of(kB), launches_of(kA));
  EXPECT_NEAR(*ab.ratio * *ba.ratio, 1, 1e-12);
  EXPECT_NEAR(*ab.low * *ba.high, 1, 1e-12);
  EXPECT_NEAR(*ab.p, *ba.p, 1e-12);
}

TEST(CompareLaunches, TheSamplesOfALaunchCountOnce) {
  // A hundred samples a launch tell of the launch's level only: the interval between launches is as wide as before.
  Launches many;
  for (const double middle : kA) many.emplace_back(100, middle);
  const RatioEstimate few = compare_launches(launches_of(kA), launches_of(kB));
  const RatioEstimate wide = compare_launches(many, launches_of(kB));
  EXPECT_NEAR(*few.low, *wide.low, 1e-12);
  EXPECT_NEAR(*few.high, *wide.high, 1e-12);
}

TEST(CompareLaunches, FewerThanSixLaunchesHaveNoIntervalBetweenThem) {
  const RatioEstimate ratio = compare_launches(launches_of({kA.begin(), kA.begin() + 5}), launches_of(kB));
  EXPECT_TRUE(ratio.ratio);
  EXPECT_FALSE(ratio.low);
  EXPECT_FALSE(ratio.high);
  EXPECT_FALSE(ratio.p);
  EXPECT_FALSE(ratio.within_low);
  EXPECT_EQ(ratio.method, "no between-launch interval: 5 and 8 launches, 6 a side needed");
  EXPECT_EQ(judge_ratio(ratio, std::nullopt, 0.02), Verdict::kNotEstablished);
}

TEST(CompareLaunches, OneLaunchASideTellsWhatItsSamplesTell) {
  std::vector<double> a, b;
  for (int i = 0; i < 10; ++i) {
    a.push_back(1 + 0.01 * ((i * 7) % 10));
    b.push_back(1.1 + 0.01 * ((i * 3) % 10));
  }
  const RatioEstimate ratio = compare_launches({a}, {b});
  EXPECT_FALSE(ratio.low);
  ASSERT_TRUE(ratio.within_low && ratio.within_high);
  // The sides' ranges are 1.00 to 1.09 about 1.045 and 1.10 to 1.19 about 1.145.
  const double center = 1.145 / 1.045;
  EXPECT_NEAR(*ratio.ratio, center, 1e-12);
  EXPECT_NEAR(std::log(center / *ratio.within_low), std::hypot(std::log(1.145 / 1.10), std::log(1.09 / 1.045)), 1e-12);
  EXPECT_NEAR(std::log(*ratio.within_high / center), std::hypot(std::log(1.19 / 1.145), std::log(1.045 / 1.00)), 1e-12);
  EXPECT_THAT(ratio.method, HasSubstr("1 and 1 launches"));
}

TEST(CompareLaunches, LaunchesWithoutSamplesAreNone) {
  Launches a = launches_of(kA);
  a.push_back({});
  EXPECT_EQ(compare_launches(a, launches_of(kB)).launches_a, 8u);
  EXPECT_EQ(compare_launches({}, launches_of(kB)).method, "no ratio: A has no positive time");
  EXPECT_FALSE(compare_launches({}, launches_of(kB)).ratio);
}

TEST(CompareLaunches, TimesOfZeroGiveNoRatio) {
  const RatioEstimate ratio = compare_launches(launches_of(kA), {{0, 0, 0}});
  EXPECT_FALSE(ratio.ratio);
  EXPECT_TRUE(ratio.a_s);
  EXPECT_EQ(judge_ratio(ratio, std::nullopt, 0.02), Verdict::kNotComparable);
}

TEST(CompareLaunches, EqualTimesAreCertainAndUnequalOnesAsSureAsTheLaunchesAllow) {
  const Launches one(8, {2e-6}), other(8, {3e-6});
  const RatioEstimate equal = compare_launches(one, one);
  EXPECT_EQ(*equal.p, 1);
  EXPECT_EQ(*equal.low, 1);
  EXPECT_EQ(judge_ratio(equal, 1.0, 0.02), Verdict::kSame);
  const RatioEstimate unequal = compare_launches(one, other);
  EXPECT_NEAR(*unequal.p, 2.0 / 12870, 1e-9);  // 16 over 8 ways to split
  EXPECT_NEAR(*unequal.low, 1.5, 1e-12);
}

// Worked by hand: p(i) * 6 / i, made monotone from the largest; R 4.2's p.adjust(method = "BH") gives the same.
TEST(AdjustPValues, AsBenjaminiAndHochberg) {
  const std::vector<double> p = {0.01, 0.04, 0.03, 0.005, 0.8, 0.2};
  EXPECT_THAT(adjust_p_values(p), testing::Pointwise(testing::DoubleNear(1e-12), {0.03, 0.06, 0.06, 0.03, 0.8, 0.24}));
  EXPECT_THAT(adjust_p_values({}), IsEmpty());
  const std::vector<double> large = {0.9, 0.95};
  EXPECT_THAT(adjust_p_values(large), ElementsAre(0.95, 0.95));
}

RatioEstimate estimate_of(double low, double high) {
  RatioEstimate estimate;
  estimate.ratio = std::sqrt(low * high);
  estimate.low = low;
  estimate.high = high;
  return estimate;
}

TEST(JudgeRatio, OneOfFive) {
  EXPECT_EQ(judge_ratio(estimate_of(1.03, 1.07), 0.001, 0.02), Verdict::kSlower);
  EXPECT_EQ(judge_ratio(estimate_of(0.90, 0.95), 0.001, 0.02), Verdict::kFaster);
  EXPECT_EQ(judge_ratio(estimate_of(0.99, 1.01), 0.5, 0.02), Verdict::kSame);
  EXPECT_EQ(judge_ratio(estimate_of(0.95, 1.05), 0.5, 0.02), Verdict::kNoDifference);
  // Significant and of no interest: the whole interval is within the margin.
  EXPECT_EQ(judge_ratio(estimate_of(1.005, 1.015), 0.001, 0.02), Verdict::kSame);
  // The interval excludes 1, but among many problems that is no news.
  EXPECT_EQ(judge_ratio(estimate_of(1.001, 1.07), 0.2, 0.02), Verdict::kNoDifference);
}

TEST(JudgeRatio, TheMarginIsTheSameBothWays) {
  EXPECT_EQ(judge_ratio(estimate_of(1 / 1.0199, 1.0199), 0.5, 0.02), Verdict::kSame);
  EXPECT_EQ(judge_ratio(estimate_of(1 / 1.0201, 1.0), 0.5, 0.02), Verdict::kNoDifference);
  EXPECT_EQ(judge_ratio(estimate_of(1.0, 1.0201), 0.5, 0.02), Verdict::kNoDifference);
}

TEST(LaunchesSummary, IsTheMedianOfMediansWithOrderStatistics) {
  const TimeSummary eight = launches_summary(launches_of(kA, 1e-3), 4);
  EXPECT_NEAR(eight.median, 1.015e-3, 1e-15);
  EXPECT_NEAR(*eight.ci_low, 0.99e-3, 1e-15);  // of 8 the least and the greatest: 99.2 %
  EXPECT_NEAR(*eight.ci_high, 1.05e-3, 1e-15);
  EXPECT_NEAR(eight.min, 0.99e-3 * 0.9, 1e-15);
  EXPECT_EQ(eight.samples, 24);
  EXPECT_EQ(eight.calls_per_sample, 4);
  EXPECT_EQ(eight.interval_method, "order statistics over 8 launches");
  std::vector<double> nine = kA;
  nine.push_back(1.06);
  EXPECT_NEAR(*launches_summary(launches_of(nine), 1).ci_low, 1.00, 1e-15);  // the second of 9: 96.1 %
}

TEST(LaunchesSummary, UnderSixLaunchesHasNoInterval) {
  const TimeSummary five = launches_summary(launches_of({kA.begin(), kA.begin() + 5}), 1);
  EXPECT_FALSE(five.ci_low);
  EXPECT_FALSE(five.ci_high);
  EXPECT_EQ(five.interval_method, "no between-launch interval: 5 launches, 6 needed");
}

TEST(OddLaunches, FindsTheOneThatStandsApart) {
  std::vector<double> medians = kA;
  medians[3] = 2;
  EXPECT_THAT(odd_launches(launches_of(medians)), ElementsAre(3u));
  EXPECT_THAT(odd_launches(launches_of(kA)), IsEmpty());
  EXPECT_THAT(odd_launches(launches_of({1, 2, 1})), IsEmpty());  // too few to tell
}

TEST(VerdictName, IsAWordForMachines) {
  EXPECT_EQ(verdict_name(Verdict::kFaster), "faster");
  EXPECT_EQ(verdict_name(Verdict::kSlower), "slower");
  EXPECT_EQ(verdict_name(Verdict::kSame), "same");
  EXPECT_EQ(verdict_name(Verdict::kNoDifference), "no_difference_shown");
  EXPECT_EQ(verdict_name(Verdict::kNotEstablished), "not_established");
  EXPECT_EQ(verdict_name(Verdict::kNotComparable), "not_comparable");
}

}  // namespace
}  // namespace hbmark::stats
