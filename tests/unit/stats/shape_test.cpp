// The flags: what they must see, and how seldom they may see what is not there.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <random>

#include "results/stats/summary.h"

namespace hbmark::stats {
namespace {

using testing::Contains;
using testing::IsEmpty;
using testing::Not;

class Noise {
 public:
  explicit Noise(unsigned seed) : random_(seed) {}
  double normal() { return normal_(random_); }
  double uniform() { return uniform_(random_); }
  double student2() { return student_(random_); }
  double correlated(double phi) { return last_ = phi * last_ + std::sqrt(1 - phi * phi) * normal(); }

 private:
  std::mt19937_64 random_;
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> uniform_;
  std::student_t_distribution<double> student_{2};
  double last_ = 0;
};

struct NamedNoise {
  const char* name;
  std::function<double(Noise&)> draw;
  double most_drift;  // share of series that may be called drifting, Monte Carlo error of 1000 included
};

const std::vector<NamedNoise>& noises() {
  static const std::vector<NamedNoise> all = {
      {"normal", [](Noise& n) { return n.normal(); }, 0.006},
      {"uniform", [](Noise& n) { return 2 * n.uniform() - 1; }, 0.006},
      {"Student 2", [](Noise& n) { return n.student2(); }, 0.006},
      {"exponential", [](Noise& n) { return -std::log1p(-n.uniform()); }, 0.006},
      {"log-normal", [](Noise& n) { return std::exp(n.normal()); }, 0.006},
      {"autocorrelated 0.6", [](Noise& n) { return n.correlated(0.6); }, 0.025},
  };
  return all;
}

TEST(FalseAlarms, AreRare) {
  constexpr int kSeries = 1000;
  for (const NamedNoise& noise : noises()) {
    for (const int length : {10, 20, 40, 160}) {
      Noise random(11);
      int drifting = 0, bimodal = 0;
      for (int i = 0; i < kSeries; ++i) {
        std::vector<double> samples;
        for (int j = 0; j < length; ++j) samples.push_back(std::max(0.01, 1 + 0.01 * noise.draw(random)));
        drifting += is_drifting(samples, 0);  // without the guard of size, which would hide most
        bimodal += is_bimodal(samples, 0);
      }
      EXPECT_LE(drifting, noise.most_drift * kSeries) << noise.name << ", " << length << " samples";
      EXPECT_LE(bimodal, 0.015 * kSeries) << noise.name << ", " << length << " samples";
    }
  }
}

TEST(Drift, IsSeenUpAndDown) {
  for (const double sign : {-1.0, 1.0}) {
    Noise random(5);
    int seen = 0;
    for (int i = 0; i < 100; ++i) {
      std::vector<double> samples;
      for (int j = 0; j < 80; ++j) samples.push_back(1 + sign * 0.08 * j / 80 + 0.01 * random.normal());
      seen += is_drifting(samples, 0.02);
    }
    EXPECT_GE(seen, 90) << sign;
  }
}

TEST(Drift, TooSmallToMatterIsNot) {
  std::vector<double> samples;
  for (int j = 0; j < 80; ++j) samples.push_back(1 + 0.015 * j / 80);
  EXPECT_FALSE(is_drifting(samples, 0.02));
  EXPECT_TRUE(is_drifting(samples, 0.01));
}

TEST(Drift, NineSamplesAreTooFew) {
  EXPECT_FALSE(is_drifting(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9}, 0.02));
  EXPECT_TRUE(is_drifting(std::vector<double>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 0.02));
}

TEST(Modes, TwoLevelsAreSeen) {
  Noise random(5);
  int seen = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<double> samples;
    for (int j = 0; j < 40; ++j) samples.push_back((j % 3 == 0 ? 1.1 : 1.0) + 0.005 * random.normal());
    seen += is_bimodal(samples, 0.02);
  }
  EXPECT_GE(seen, 98);
}

TEST(Modes, ExactLevelsAreSeenAndOneOutlierIsNone) {
  std::vector<double> levels(30, 1.0);
  EXPECT_FALSE(is_bimodal(levels, 0.02));
  levels[4] = 5.0;
  EXPECT_FALSE(is_bimodal(levels, 0.02)) << "one sample is no mode";
  for (std::size_t i = 0; i < 30; i += 3) levels[i] = 1.3;
  EXPECT_TRUE(is_bimodal(levels, 0.02));
}

TEST(Modes, CloserThanThePrecisionAreOne) {
  std::vector<double> levels;
  for (int j = 0; j < 60; ++j) levels.push_back(j % 2 == 0 ? 1.0 : 1.015);
  EXPECT_FALSE(is_bimodal(levels, 0.02));
  EXPECT_TRUE(is_bimodal(levels, 0.01));
}

TEST(Modes, TimesThatAreNoTimesHaveNone) {
  std::vector<double> levels(40, 1.0);
  for (std::size_t i = 0; i < 20; ++i) levels[i] = 0;
  EXPECT_FALSE(is_bimodal(levels, 0.02));
}

TEST(Flags, QuietSamplesHaveNone) {
  Noise random(9);
  std::vector<double> samples;
  for (int j = 0; j < 40; ++j) samples.push_back(1 + 0.005 * random.normal());
  EXPECT_THAT(flags(samples, median_interval(samples), 0.02), IsEmpty());
}

TEST(Flags, NoisyWhenTwiceAsWideAsAsked) {
  Noise random(9);
  std::vector<double> samples;
  for (int j = 0; j < 40; ++j) samples.push_back(1 + 0.2 * random.uniform());
  const MedianInterval interval = median_interval(samples);
  EXPECT_THAT(flags(samples, interval, interval.half_width_relative() / 2.1), Contains("noisy"));
  EXPECT_THAT(flags(samples, interval, interval.half_width_relative() / 1.9), Not(Contains("noisy")));
}

TEST(Flags, NoIntervalIsNotNoise) {
  const std::vector<double> samples = {1, 2, 3};
  EXPECT_THAT(flags(samples, median_interval(samples), 0.02), IsEmpty());
}

}  // namespace
}  // namespace hbmark::stats
