// The reported 95 % interval holds the true median at least 93 % of the time, with the whole stopping rule.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "tests/unit/measure/coverage_simulation.h"

namespace hbmark::simulation {
namespace {

constexpr double kPromise = 0.93;

// Three standard errors of a share near the promise.
double tolerance(int series) { return 3 * std::sqrt(kPromise * (1 - kPromise) / series); }

TEST(Coverage, IsAtLeast93PercentForEveryNoise) {
  Setting setting;
  setting.series = 1500;
  std::vector<Cell> all;
  for (const NoiseModel& noise : noise_models()) {
    if (!noise.promised) continue;
    const std::vector<Cell> cells = simulate(noise, setting, look_at);
    all.insert(all.end(), cells.begin(), cells.end());
  }
  std::fputs(table(all).c_str(), stdout);
  ASSERT_EQ(all.size(), 5 * setting.levels.size() * setting.max_samples.size());
  for (const Cell& cell : all) {
    EXPECT_GE(cell.coverage, kPromise - tolerance(setting.series))
        << cell.noise << " at " << cell.level << ", at most " << cell.max_samples << " samples";
    EXPECT_EQ(cell.with_interval, 1) << cell.noise << " at " << cell.level;
  }
}

// Shows that the simulation can tell a bad rule: the naive one is known to cover 69 to 90 % of autocorrelated series.
TEST(Coverage, NaiveRuleWouldFail) {
  const Rule naive = [](std::span<const double> samples, double precision) {
    Look look;
    std::vector<double> sorted(samples.begin(), samples.end());
    std::sort(sorted.begin(), sorted.end());
    const std::size_t rank = stats::median_interval_rank(sorted.size(), 0.95);
    look.interval.median = stats::median(samples);
    look.interval.low = sorted[rank - 1];
    look.interval.high = sorted[sorted.size() - rank];
    look.precise = look.interval.half_width_relative() <= precision;
    return look;
  };
  Setting setting;
  setting.levels = {0.05};
  setting.max_samples = {640};
  setting.series = 500;
  EXPECT_LT(simulate(noise_models()[1], setting, naive).front().coverage, 0.85);
}

TEST(Cost, QuietIndependentSamplesStopAtTen) {
  Setting setting;
  setting.levels = {0.002, 0.005, 0.01};
  setting.max_samples = {640};
  setting.series = 1000;
  const std::vector<Cell> cells = simulate(noise_models()[0], setting, look_at);
  EXPECT_GE(cells[0].at_first_look, 0.999);
  EXPECT_GE(cells[1].at_first_look, 0.99);
  EXPECT_GE(cells[2].at_first_look, 0.5);
  EXPECT_LE(cells[2].mean_samples, 18);
}

TEST(Looks, ComeAtDoublings) {
  EXPECT_EQ(next_look(0), 10);
  EXPECT_EQ(next_look(9), 10);
  EXPECT_EQ(next_look(10), 20);
  EXPECT_EQ(next_look(5119), 5120);
  EXPECT_EQ(next_look(5120), 10240);
}

TEST(Looks, NoIntervalIsNotPrecise) {
  const std::vector<double> equal(5, 1.0);
  EXPECT_FALSE(look_at(equal, 0.02).precise);
  const std::vector<double> enough(10, 1.0);
  EXPECT_TRUE(look_at(enough, 0.02).precise);
}

}  // namespace
}  // namespace hbmark::simulation
