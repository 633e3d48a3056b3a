// Levels of synthetic sweeps whose truth is known.
#include "results/stats/knees.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hbmark::stats {
namespace {

struct Truth {
  double up_to_bytes;
  double value;
};

// Two sizes an octave, as memory sweeps have them.
std::vector<CurvePoint> sweep(const std::vector<Truth>& levels, double noise, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal(0, 1);
  std::vector<CurvePoint> points;
  for (double bytes = 4096; bytes <= levels.back().up_to_bytes; bytes *= std::sqrt(2.0)) {
    std::size_t i = 0;
    while (bytes > levels[i].up_to_bytes * 1.001) ++i;
    points.push_back({bytes, levels[i].value * std::exp(noise * normal(random))});
  }
  return points;
}

const std::vector<Truth> kCpu = {{32768, 1.2e-9}, {524288, 3.5e-9}, {33554432, 12e-9}, {1073741824, 90e-9}};

void expect_levels_of(const std::vector<CurvePoint>& points, const std::vector<Truth>& truth, double tolerance) {
  const auto found = curve_levels(points);
  ASSERT_EQ(found.size(), truth.size());
  for (std::size_t i = 0; i < truth.size(); ++i) {
    EXPECT_NEAR(found[i].value / truth[i].value, 1, tolerance) << i;
    if (i + 1 == truth.size()) continue;
    EXPECT_NEAR(std::log2(points[found[i].last].x / truth[i].up_to_bytes), 0, 0.51) << i;
    EXPECT_EQ(found[i].last + 1, found[i + 1].first);
  }
}

TEST(Knees, CleanLevelsAreFoundExactly) { expect_levels_of(sweep(kCpu, 0, 1), kCpu, 1e-12); }

TEST(Knees, NoiseOfAFewPercentMakesNoLevels) {
  for (unsigned seed = 1; seed <= 50; ++seed) expect_levels_of(sweep(kCpu, 0.04, seed), kCpu, 0.08);
}

TEST(Knees, AFlatCurveIsOneLevel) {
  for (unsigned seed = 1; seed <= 50; ++seed) {
    EXPECT_EQ(curve_levels(sweep({{1e9, 5e-9}}, 0.1, seed)).size(), 1u) << seed;
  }
}

TEST(Knees, OneDisturbedSizeIsNoLevel) {
  auto points = sweep(kCpu, 0.01, 3);
  points[9].value *= 5;
  EXPECT_EQ(curve_levels(points).size(), kCpu.size());
}

TEST(Knees, ARampBetweenLevelsBelongsToAneighbour) {
  auto points = sweep(kCpu, 0.01, 4);
  // The first size beyond the second knee is half-way up.
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (points[i].x > 524288 * 1.01 && points[i - 1].x <= 524288 * 1.01) points[i].value = std::sqrt(3.5e-9 * 12e-9);
  }
  EXPECT_EQ(curve_levels(points).size(), kCpu.size());
}

TEST(Knees, FallingCurvesHaveLevelsToo) {
  const std::vector<Truth> bandwidth = {{65536, 200e9}, {2097152, 90e9}, {268435456, 12e9}};
  expect_levels_of(sweep(bandwidth, 0.03, 5), bandwidth, 0.06);
}

TEST(Knees, TooLittleOrNonsenseHasNone) {
  EXPECT_TRUE(curve_levels({}).empty());
  EXPECT_TRUE(curve_levels(std::vector<CurvePoint>{{1, 1}}).empty());
  EXPECT_TRUE(curve_levels(std::vector<CurvePoint>{{1, 1}, {2, 0}, {4, 1}}).empty());
  EXPECT_TRUE(curve_levels(std::vector<CurvePoint>{{1, 1}, {2, std::nan("")}}).empty());
}

}  // namespace
}  // namespace hbmark::stats
