// Identical runs are called different in at most 5 % of their problems; a true change of 5 % is found 9 times in 10.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdio>

#include "tests/unit/stats/false_alarms.h"

namespace hbmark::simulation {
namespace {

std::vector<Tally> all_noises(const Setting& setting) {
  std::vector<Tally> rows;
  for (const LaunchNoise& noise : launch_noises()) rows.push_back(simulate(noise, setting));
  std::fputs(table(rows).c_str(), stdout);
  return rows;
}

double three_errors(double share, double n) { return 3 * std::sqrt(share * (1 - share) / n); }

TEST(ComparedRuns, IdenticalRunsAreCalledDifferentInAtMost5PercentOfTheirProblems) {
  Setting setting;
  setting.pairs = 100;
  const auto cases = static_cast<double>(setting.pairs * setting.problems);
  const std::vector<Tally> rows = all_noises(setting);
  ASSERT_EQ(rows.size(), 5u);
  for (const Tally& row : rows) {
    EXPECT_LE(row.different, 0.05) << row.noise;
    // The method keeps its word before the adjustment too, or the adjustment would hide that it does not.
    EXPECT_LE(row.welch_unadjusted, 0.05 + three_errors(0.05, cases)) << row.noise;
    EXPECT_GE(row.covered, 0.95 - three_errors(0.95, cases)) << row.noise;
  }
}

// Shows that the simulation can tell a bad method: both tests take samples of one launch for independent.
TEST(ComparedRuns, TestsOverAllSamplesRaiseThem) {
  Setting setting;
  setting.pairs = 20;
  const std::vector<Tally> rows = all_noises(setting);
  ASSERT_EQ(rows.size(), 5u);
  EXPECT_LE(rows[0].u_test, 0.09);  // right for independent samples
  for (const std::size_t i : {1, 3, 4}) {
    EXPECT_GE(rows[i].u_test, 0.15) << rows[i].noise;
    EXPECT_GE(rows[i].t_test, 0.15) << rows[i].noise;
  }
}

TEST(ComparedRuns, AChangeOf5PercentIsFoundNineTimesInTen) {
  Setting setting;
  setting.pairs = 60;
  setting.changed = setting.problems / 2;
  for (const Tally& row : all_noises(setting)) EXPECT_GE(row.different, 0.9) << row.noise;
}

TEST(ComparedRuns, AChangeOfTheMarginIsSeldomCalledTheSame) {
  Setting setting;
  setting.pairs = 60;
  setting.changed = setting.problems;
  setting.change = setting.margin;
  const auto cases = static_cast<double>(setting.pairs * setting.problems);
  for (const Tally& row : all_noises(setting)) EXPECT_LE(row.same, 0.025 + three_errors(0.025, cases)) << row.noise;
}

// SciPy 1.10.1, stats.mannwhitneyu(x, y, alternative="two-sided"), the call of compare.py 1.7.1.
TEST(UTest, AgreesWithScipy) {
  std::vector<double> x, y;
  for (int i = 0; i < 40; ++i) {
    x.push_back(100 + (7 * i) % 23);
    y.push_back(103 + (5 * i) % 19);
  }
  EXPECT_NEAR(u_test(x, y), 0.7469223306341652, 1e-12);  // with ties
  EXPECT_NEAR(u_test(y, x), 0.7469223306341652, 1e-12);
  EXPECT_EQ(u_test(x, x), 1);
  std::vector<double> many_x, many_y;
  for (int i = 0; i < 80; ++i) {
    many_x.push_back(1 + 0.001 * ((37 * i) % 101));
    many_y.push_back(1.0005 + 0.001 * ((53 * i) % 97));
  }
  EXPECT_NEAR(u_test(many_x, many_y), 0.5629679191440453, 1e-12);
}

}  // namespace
}  // namespace hbmark::simulation
