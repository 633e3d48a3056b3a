// A case on two parts of the node at the same time, each a worker of its own.
#include <csignal>

#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class ReplicasTest : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    if (!topology::partition(node_, 2)) GTEST_SKIP() << "needs two cores that this process may use";
  }

  Plan replicated(const std::vector<std::string>& problems) const {
    Plan wanted = plan(problems);
    wanted.replicas = 2;
    wanted.timeout_s = 5;
    return wanted;
  }
};

nlohmann::json takes(double seconds) { return {{"distribution", {{"median", seconds}, {"sigma", 0}}}}; }

nlohmann::json fails(const char* problem, const char* kind) {
  return {{"match", problem}, {"fault", {{"kind", kind}, {"at", "run"}}}};
}

TEST_F(ReplicasTest, TheRateIsTheSumAndTheEfficiencyIsAgainstOneAlone) {
  script_replica(0, {takes(1e-3)});  // 1000 calls a second, alone and beside the other
  script_replica(1, {takes(2e-3)});  // 500
  const auto summary = carry_out_here(replicated({kFirst, kSecond}), driver());
  ASSERT_TRUE(summary) << summary.error().what << ": " << summary.error().why;
  EXPECT_EQ(summary->ok, 2);
  for (const ResultRecord& result : results()) {
    ASSERT_EQ(result.outcome, Outcome::kOk) << result.reason;
    EXPECT_EQ(result.replicas, 2);
    EXPECT_EQ(result.threads, 1);
    EXPECT_EQ(result.thread_pus.size(), 2u);
    EXPECT_NE(result.thread_pus[0], result.thread_pus[1]);
    // 1500 calls a second of all: one on each of the two takes 2/1500 s.
    EXPECT_NEAR(result.time->median, 2.0 / 1500, 1e-6);
    ASSERT_EQ(result.replica_times_s.size(), 2u);
    EXPECT_NEAR(result.replica_times_s.at(0), 1e-3, 1e-6);
    EXPECT_NEAR(result.replica_times_s.at(1), 2e-3, 1e-6);
    ASSERT_TRUE(result.replica_alone_s);
    EXPECT_NEAR(*result.replica_alone_s, 1e-3, 1e-6);
    EXPECT_NEAR(*replica_efficiency(result), 0.75, 1e-3);
  }
  const auto first = results().at(0);
  EXPECT_EQ(first.flop, 2.0 * 2 * 16 * 16 * 16) << "of both";
  EXPECT_EQ(open_store().configuration(first.configuration_uuid)->replicas, 2);
}

TEST_F(ReplicasTest, ASplitBatchIsTheWorkOfTheWhole) {
  Plan wanted = replicated({kFirst, "gemm:f32:nn:m16n15k16"});
  wanted.replicas_split = true;
  ASSERT_TRUE(carry_out_here(wanted, driver()));
  const auto all = results();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_EQ(all[0].problem, kFirst);
  EXPECT_EQ(all[0].flop, 2.0 * 16 * 16 * 16);
  EXPECT_THAT(all[0].flags, testing::Contains("split"));
  EXPECT_EQ(all[1].outcome, Outcome::kUnsupported);
  EXPECT_THAT(all[1].reason, HasSubstr("n of 15 is no multiple of 2 replicas"));
}

TEST_F(ReplicasTest, OneThatCrashesCostsTheCaseAlone) {
  script_replica(1, {fails(kSecond, "segv")});
  const auto summary = carry_out_here(replicated({kFirst, kSecond, kThird}), driver());
  ASSERT_TRUE(summary);
  const auto all = results();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_EQ(all[1].outcome, Outcome::kCrashed);
  EXPECT_THAT(all[1].reason, HasSubstr("replica 2 of 2: the worker was ended by signal"));
  EXPECT_EQ(all[1].replicas, 2);
  EXPECT_EQ(all[2].outcome, Outcome::kOk) << all[2].reason;
}

TEST_F(ReplicasTest, OneThatHangsIsNamed) {
  script_replica(1, {fails(kFirst, "hang")});
  Plan wanted = replicated({kFirst, kSecond});
  wanted.timeout_s = 1;
  ASSERT_TRUE(carry_out_here(wanted, driver()));
  const auto all = results();
  ASSERT_EQ(all.size(), 2u);
  EXPECT_EQ(all[0].outcome, Outcome::kTimeout);
  EXPECT_THAT(all[0].reason, HasSubstr("replica 2 of 2: no sign of life"));
  EXPECT_EQ(all[1].outcome, Outcome::kOk) << all[1].reason;
}

TEST_F(ReplicasTest, AFaultOfOneIsTheCasesAndTheWorkersGoOn) {
  script_replica(1, {{{"match", kFirst}, {"fault", {{"kind", "wrong_element"}}}},
                     {{"match", kSecond}, {"fault", {{"kind", "failed"}, {"message", "no luck"}}}}});
  ASSERT_TRUE(carry_out_here(replicated({kFirst, kSecond, kThird}), driver()));
  const auto all = results();
  ASSERT_EQ(all.size(), 3u);
  EXPECT_EQ(all[0].outcome, Outcome::kWrongResult);
  EXPECT_THAT(all[0].reason, HasSubstr("replica 2 of 2: "));
  EXPECT_EQ(all[1].outcome, Outcome::kFailed);
  EXPECT_THAT(all[1].reason, AllOf(HasSubstr("replica 2 of 2: "), HasSubstr("no luck")));
  EXPECT_EQ(all[2].outcome, Outcome::kOk) << all[2].reason;
}

TEST_F(ReplicasTest, ASlowOneIsWaitedFor) {
  const nlohmann::json slow = {{"distribution", {{"median", 0.02}, {"sigma", 0}}}, {"sleep", true}};
  const nlohmann::json fast = {{"distribution", {{"median", 0.002}, {"sigma", 0}}}, {"sleep", true}};
  script_replica(0, {fast});
  script_replica(1, {slow});
  Plan wanted = replicated({kFirst});
  wanted.cases[0].budget_s = 0.5;
  ASSERT_TRUE(carry_out_here(wanted, driver()));
  const auto all = results();
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_NEAR(all[0].time->median, 2.0 / 550, 2.0 / 550 * 0.05);  // the fast one calls all the while
}

TEST_F(ReplicasTest, AnInterruptionLeavesNoneBehind) {
  script({{{"distribution", {{"median", 2e-3}, {"sigma", 0.3}}}, {"sleep", true}}});
  Plan wanted = replicated({kFirst});
  wanted.cases[0].budget_s = 100;
  const pid_t parent = start_driver({"run", db(), write_plan(wanted)});
  EXPECT_TRUE(becomes([&] { return workers().size() == 2; }));
  kill(parent, SIGTERM);
  EXPECT_EQ(wait_for(parent), 130);
  EXPECT_TRUE(workers().empty());
  EXPECT_EQ(results().at(0).outcome, Outcome::kNotRun);
}

TEST_F(ReplicasTest, LaunchesAndEnergyOfReplicas) {
  Plan wanted = replicated({kFirst});
  wanted.launches = 2;
  wanted.energy = true;
  ASSERT_TRUE(carry_out_here(wanted, driver()));
  const auto all = results();
  ASSERT_EQ(all.size(), 1u);
  ASSERT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_EQ(all[0].launches, 2);
  EXPECT_EQ(all[0].replicas, 2);
  EXPECT_GT(all[0].energy_j.value_or(0), 0) << all[0].energy_note;
}

}  // namespace
}  // namespace hbmark::tests
