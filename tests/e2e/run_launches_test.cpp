// A case measured in several worker processes.
#include <csignal>
#include <set>

#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using testing::HasSubstr;

class LaunchesTest : public RunTest {};

TEST_F(LaunchesTest, LaunchesAreOneResultWithBothLevels) {
  Plan wanted = plan({kFirst, kSecond});
  wanted.launches = 6;
  const auto summary = carry_out_here(wanted, driver());
  ASSERT_TRUE(summary) << summary.error().what << ": " << summary.error().why;
  EXPECT_EQ(summary->ok, 2);
  const auto all = results();
  ASSERT_EQ(all.size(), 2u);
  const Store store = open_store();
  for (const ResultRecord& result : all) {
    EXPECT_EQ(result.outcome, Outcome::kOk) << result.reason;
    EXPECT_EQ(result.launches, 6);
    EXPECT_EQ(result.time->interval_method, "order statistics over 6 launches");
    EXPECT_TRUE(result.time->ci_low);
    const auto samples = store.samples(result.uuid);
    ASSERT_TRUE(samples);
    std::set<std::int64_t> launches;
    for (const SampleRecord& sample : *samples) launches.insert(sample.launch);
    EXPECT_EQ(launches.size(), 6u);
    EXPECT_EQ(static_cast<std::int64_t>(samples->size()), result.time->samples);
  }
}

TEST_F(LaunchesTest, FewLaunchesSayThatTheyHaveNoInterval) {
  Plan wanted = plan({kFirst});
  wanted.launches = 2;
  ASSERT_TRUE(carry_out_here(wanted, driver()));
  const auto all = results();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].launches, 2);
  EXPECT_FALSE(all[0].time->ci_low);
  EXPECT_EQ(all[0].time->interval_method, "no between-launch interval: 2 launches, 6 needed");
}

TEST_F(LaunchesTest, ACaseThatFailsInALaunchIsNotLaunchedAgain) {
  script({{{"match", kFirst}, {"fault", {{"kind", "failed"}, {"message", "no luck"}}}}});
  Plan wanted = plan({kFirst, kSecond});
  wanted.launches = 3;
  const auto summary = carry_out_here(wanted, driver());
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->ok, 1);
  EXPECT_EQ(summary->failed, 1);
  const auto all = results();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].outcome, Outcome::kFailed);
  EXPECT_THAT(all[0].reason, HasSubstr("launch 1 of 3: "));
  EXPECT_EQ(all[1].launches, 3);
}

TEST_F(LaunchesTest, AnInterruptedRunKeepsTheLaunchesItHad) {
  script({{{"distribution", {{"median", 2e-3}, {"sigma", 0.3}}}, {"sleep", true}}});
  Plan wanted = plan({kFirst});
  wanted.launches = 1000;
  wanted.cases[0].budget_s = 100;
  const pid_t parent = start_driver({"run", db(), write_plan(wanted)});
  const bool stored = becomes([&] {
    const auto store = Store::open(db(), OpenMode::kRead);
    const auto run = store ? store->find_run("last") : tl::make_unexpected(store.error());
    const auto all = run ? store->results(run->uuid) : tl::make_unexpected(run.error());
    return all && !all->empty();
  });
  kill(parent, SIGTERM);
  EXPECT_EQ(wait_for(parent), 130);
  ASSERT_TRUE(stored);
  const auto all = results();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all[0].outcome, Outcome::kOk);
  EXPECT_GE(all[0].launches, 1);
  EXPECT_LT(all[0].launches, 1000);
}

}  // namespace
}  // namespace hbmark::tests
