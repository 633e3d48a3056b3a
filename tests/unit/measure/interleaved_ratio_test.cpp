// The comparison finds the ratio that was put in, and none where there is none.
#include "tests/perf/interleaved_ratio.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>
#include <vector>

namespace hbmark::perf {
namespace {

// Both share one drifting machine: each sample is 0.1 % slower than the one before it, with 3 % noise.
struct Machine {
  std::mt19937_64 random{3};
  std::normal_distribution<double> normal;
  double speed = 1;
  TimeCalls loop(double call_s) {
    return [this, call_s](std::int64_t calls) -> Result<double> {
      speed *= 1.001;
      return call_s * static_cast<double>(calls) * speed * (1 + 0.03 * normal(random));
    };
  }
};

TEST(InterleavedRatio, FindsFivePercentOnADriftingMachine) {
  Machine machine;
  const auto ratios = interleaved_ratio(machine.loop(1.05), machine.loop(1), 4, 200, 1);
  ASSERT_TRUE(ratios);
  EXPECT_NEAR(ratios->ratio.median, 1.05,
              0.015);  // four standard errors of the median of 200 ratios with 4.2 % noise are 0.015
  EXPECT_GT(*ratios->ratio.low, 1.02) << "5 % must be told from 2 %";
  EXPECT_NEAR(ratios->self.median, 1, 0.015);
  EXPECT_EQ(ratios->pairs, 200);
  EXPECT_EQ(ratios->calls_per_sample, 4);
}

TEST(InterleavedRatio, SeldomFindsWhatIsNotThere) {
  int beyond = 0;
  for (std::uint64_t seed = 0; seed < 300; ++seed) {
    Machine machine;
    machine.random.seed(seed);
    const auto ratios = interleaved_ratio(machine.loop(1), machine.loop(1), 1, 60, seed);
    ASSERT_TRUE(ratios);
    beyond += *ratios->ratio.low > 1 || *ratios->ratio.high < 1;
  }
  EXPECT_LE(beyond, 300 * 0.08);  // 5 % and Monte Carlo error
}

TEST(InterleavedRatio, OrderIsMixed) {
  std::vector<char> who;
  const auto note = [&](char name) {
    return [&who, name](std::int64_t) -> Result<double> {
      who.push_back(name);
      return 1.0;
    };
  };
  ASSERT_TRUE(interleaved_ratio(note('a'), note('b'), 1, 90, 5));
  ASSERT_EQ(who.size(), 3 * 91u);
  int first = 0;
  for (std::size_t i = 0; i < who.size(); i += 3) {
    ASSERT_EQ((who[i] == 'a') + (who[i + 1] == 'a') + (who[i + 2] == 'a'), 1) << "each round has A once";
    first += who[i] == 'a';
  }
  EXPECT_GT(first, 15);
  EXPECT_LT(first, 50);
}

TEST(InterleavedRatio, AnErrorComesBack) {
  const TimeCalls good = [](std::int64_t) -> Result<double> { return 1.0; };
  const TimeCalls bad = [](std::int64_t) -> Result<double> { return environment_error("a", "broken", "c"); };
  EXPECT_EQ(interleaved_ratio(good, bad, 1, 60, 1).error().why, "broken");
  EXPECT_EQ(interleaved_ratio(bad, good, 1, 60, 1).error().why, "broken");
  EXPECT_EQ(interleaved_ratio(good, good, 1, 59, 1).error().kind, ErrorKind::kUsage);
}

}  // namespace
}  // namespace hbmark::perf
