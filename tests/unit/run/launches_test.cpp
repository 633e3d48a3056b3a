#include "bench/run/launches.h"

#include <gmock/gmock.h>

#include <algorithm>

namespace hbmark {
namespace {

using testing::ElementsAre;

PlannedCase planned(std::int64_t index) {
  PlannedCase one;
  one.index = index;
  return one;
}

ResultRecord launch_result(const std::string& uuid, const std::vector<std::string>& flags = {}) {
  ResultRecord result;
  result.uuid = uuid;
  result.outcome = Outcome::kOk;
  result.flags = flags;
  result.wall_s = 2;
  result.timed_s = 1;
  result.time = TimeSummary{1, {}, {}, 1, 3, 5, "range"};
  return result;
}

TEST(LaunchGatherer, GrowsOneResult) {
  LaunchGatherer gatherer(2);
  const LaunchedResult first = gatherer.add(planned(7), launch_result("a", {"noisy"}), {1, 2, 3});
  EXPECT_FALSE(first.is_last);
  EXPECT_EQ(first.result.launches, 1);
  EXPECT_EQ(gatherer.so_far(7), 1);
  EXPECT_EQ(gatherer.so_far(8), 0);
  const LaunchedResult second = gatherer.add(planned(7), launch_result("b", {"noisy", "drifting"}), {3, 4, 5});
  EXPECT_TRUE(second.is_last);
  EXPECT_EQ(second.result.uuid, "a");
  EXPECT_EQ(second.result.launches, 2);
  EXPECT_EQ(second.result.wall_s, 4);
  EXPECT_EQ(second.result.timed_s, 2);
  EXPECT_THAT(second.result.flags, ElementsAre("noisy", "drifting"));
  EXPECT_EQ(second.result.time->median, 3);  // of the medians 2 and 4
  EXPECT_EQ(second.result.time->min, 1);
  EXPECT_EQ(second.result.time->samples, 6);
  EXPECT_EQ(second.result.time->calls_per_sample, 5);
  ASSERT_EQ(second.samples.size(), 6u);
  EXPECT_EQ(second.samples[3], (SampleRecord{"a", 1, 0, 3}));
  EXPECT_EQ(gatherer.so_far(7), 0);
}

TEST(LaunchGatherer, TheFirstFailureIsTheOutcomeOfTheCase) {
  LaunchGatherer gatherer(3);
  gatherer.add(planned(0), launch_result("a"), {1, 2, 3});
  ResultRecord crash = launch_result("b");
  crash.outcome = Outcome::kCrashed;
  crash.reason = "signal 11";
  crash.time.reset();
  const LaunchedResult failed = gatherer.add(planned(0), crash, {});
  EXPECT_TRUE(failed.is_last);
  EXPECT_EQ(failed.result.uuid, "a") << "it takes the place of what was stored";
  EXPECT_EQ(failed.result.outcome, Outcome::kCrashed);
  EXPECT_EQ(failed.result.reason, "launch 2 of 3: signal 11");
  EXPECT_EQ(failed.samples.size(), 3u);
}

TEST(ShuffledRound, IsAPermutationThatTheSeedDecides) {
  std::vector<std::vector<PlannedCase>> rows;
  for (std::int64_t i = 0; i < 20; ++i) rows.push_back({planned(i)});
  const auto indexes = [](const std::vector<std::vector<PlannedCase>>& order) {
    std::vector<std::int64_t> all;
    for (const auto& row : order) all.push_back(row.front().index);
    return all;
  };
  const auto first = indexes(shuffled_round(rows, 1, 0));
  EXPECT_EQ(first, indexes(shuffled_round(rows, 1, 0)));
  EXPECT_NE(first, indexes(shuffled_round(rows, 1, 1)));
  EXPECT_NE(first, indexes(shuffled_round(rows, 2, 0)));
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  EXPECT_EQ(sorted, indexes(rows));
}

}  // namespace
}  // namespace hbmark
