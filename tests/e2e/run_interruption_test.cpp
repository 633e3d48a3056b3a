// Signals to the parent and to the worker at any moment, a full and a locked store: nothing committed is lost, nobody is
// left over, and a resumed run completes exactly what is missing.
#include <sqlite3.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <random>
#include <set>
#include <thread>

#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

// Another process's lock on a store, kept until it is released.
class StoreLock {
 public:
  explicit StoreLock(const std::string& file) {
    if (sqlite3_open(file.c_str(), &other_) != SQLITE_OK) return;
    sqlite3_busy_timeout(other_, 5000);
    taken_ = sqlite3_exec(other_, "BEGIN IMMEDIATE", nullptr, nullptr, nullptr) == SQLITE_OK;
  }
  ~StoreLock() { release(); }
  StoreLock(const StoreLock&) = delete;
  StoreLock& operator=(const StoreLock&) = delete;

  bool taken() const { return taken_; }
  void release() {
    sqlite3_close(other_);  // its transaction goes with it
    other_ = nullptr;
  }

 private:
  sqlite3* other_ = nullptr;
  bool taken_ = false;
};

class InterruptionTest : public RunTest {
 protected:
  // `count` problems that really last, so that there is something to interrupt.
  Plan slow_plan(int count) {
    script({{{"distribution", {{"median", 2e-3}, {"sigma", 0.05}}}, {"sleep", true}}});
    std::vector<std::string> problems;
    for (int i = 0; i < count; ++i) problems.push_back("gemm:f32:nn:m" + std::to_string(16 + i) + "n16k16");
    Plan plan = RunTest::plan(problems);
    plan.precision = 1e-9;  // the budget ends it
    for (PlannedCase& planned : plan.cases) planned.budget_s = 0.1;
    return plan;
  }
  // One that waits for a locked store for longer than any test.
  pid_t start_patient_run(int cases = 4) {
    setenv("HBMARK_LOCK_PATIENCE_S", "600", 1);
    const pid_t parent = start_driver({"run", db(), write_plan(slow_plan(cases))});
    unsetenv("HBMARK_LOCK_PATIENCE_S");
    return parent;
  }
  bool began() const {
    return becomes([&] { return !workers().empty(); });
  }
  std::size_t count(Outcome outcome) const {
    const auto all = results();
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [&](const ResultRecord& r) { return r.outcome == outcome; }));
  }
  bool some_result_is_in() const {
    auto store = Store::open(db(), OpenMode::kRead);
    if (!store) return false;
    const auto run = store->find_run("last");
    if (!run) return false;
    const auto all = store->results(run->uuid);
    return all && !all->empty();
  }
  // Every stored result has all that belongs to it.
  void expect_whole() const {
    const Store store = open_store();
    const auto run = store.find_run("last");
    ASSERT_TRUE(run);
    const auto all = store.results(run->uuid);
    ASSERT_TRUE(all) << all.error().why;
    std::set<std::int64_t> seen;
    for (const ResultRecord& r : *all) {
      EXPECT_TRUE(seen.insert(r.case_index).second) << "case " << r.case_index << " twice";
      if (r.outcome != Outcome::kOk) continue;
      ASSERT_TRUE(r.time);
      const auto samples = store.samples(r.uuid);
      ASSERT_TRUE(samples);
      EXPECT_EQ(samples->size(), static_cast<std::size_t>(r.time->samples));
    }
  }
};

class SignalTest : public InterruptionTest, public testing::WithParamInterface<int> {};

TEST_P(SignalTest, EndsTheRunKeepsWhatThereIsAndResumeCompletesIt) {
  const Plan plan = slow_plan(6);
  const pid_t parent = start_driver({"run", db(), write_plan(plan)});
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  kill(parent, GetParam());
  EXPECT_EQ(wait_for(parent), 130);
  EXPECT_TRUE(workers().empty());
  EXPECT_EQ(last_run().state, "interrupted");
  EXPECT_FALSE(last_run().finished_at);
  const auto before = results();
  ASSERT_EQ(before.size(), 6U) << "what did not run is there as such";
  EXPECT_GE(count(Outcome::kOk), 1U);
  EXPECT_GE(count(Outcome::kNotRun), 1U);
  EXPECT_THAT(before.back().reason, HasSubstr("--resume"));

  EXPECT_EQ(drive({"resume", db()}), 0);
  EXPECT_EQ(last_run().state, "finished");
  EXPECT_TRUE(last_run().finished_at);
  const auto after = results();
  ASSERT_EQ(after.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(after[i].outcome, Outcome::kOk) << after[i].reason;
    if (before[i].outcome == Outcome::kOk) {
      EXPECT_EQ(after[i].uuid, before[i].uuid) << "a finished case was run again";
    }
  }
  expect_whole();
}

INSTANTIATE_TEST_SUITE_P(Each, SignalTest, testing::Values(SIGINT, SIGTERM, SIGHUP),
                         [](const auto& signal) { return std::string("SIG") + sigabbrev_np(signal.param); });

TEST_F(InterruptionTest, ARunWhosePluginIsDeafIsEndedAllTheSame) {
  Plan plan = slow_plan(2);
  script({{{"fault", {{"kind", "hang"}}}}});
  plan.timeout_s = 600;
  const pid_t parent = start_driver({"run", db(), write_plan(plan)});
  ASSERT_TRUE(began());
  kill(parent, SIGINT);
  EXPECT_EQ(wait_for(parent), 130);
  EXPECT_TRUE(workers().empty());
  EXPECT_EQ(count(Outcome::kNotRun), 2U);
}

TEST_F(InterruptionTest, AnInterruptedRunCanBeInterruptedAgain) {
  const Plan plan = slow_plan(6);
  for (const char* command : {"run", "resume"}) {
    std::vector<std::string> arguments = {command, db()};
    if (arguments[0] == "run") arguments.push_back(write_plan(plan));
    const pid_t parent = start_driver(arguments);
    ASSERT_TRUE(began());
    kill(parent, SIGTERM);
    EXPECT_EQ(wait_for(parent), 130);
    EXPECT_EQ(results().size(), 6U);
  }
  EXPECT_EQ(drive({"resume", db()}), 0);
  EXPECT_EQ(count(Outcome::kOk), 6U);
}

TEST_F(InterruptionTest, AKilledWorkerCostsItsCase) {
  const Plan plan = slow_plan(5);
  const pid_t parent = start_driver({"run", db(), write_plan(plan)});
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  const auto victims = workers();
  ASSERT_EQ(victims.size(), 1U);
  kill(victims[0], SIGKILL);
  EXPECT_EQ(wait_for(parent), 0);
  EXPECT_LE(count(Outcome::kCrashed), 1U) << "between two cases it costs none";
  EXPECT_GE(count(Outcome::kOk), 4U);
  EXPECT_EQ(count(Outcome::kOk) + count(Outcome::kCrashed), 5U);
  expect_whole();
}

TEST_F(InterruptionTest, AStoppedWorkerIsATimeout) {
  const Plan plan = slow_plan(3);
  const pid_t parent = start_driver({"run", db(), write_plan(plan)});
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  const auto victims = workers();
  ASSERT_EQ(victims.size(), 1U);
  kill(victims[0], SIGSTOP);
  EXPECT_EQ(wait_for(parent), 0);
  EXPECT_EQ(count(Outcome::kTimeout), 1U);
  EXPECT_EQ(count(Outcome::kOk), 2U);
}

TEST_F(InterruptionTest, AFullDiskEndsTheRunAndLosesNothing) {
  const Plan plan = slow_plan(12);
  const std::string file = write_plan(plan);
  // The first run leaves a store; the second may make no file larger than that plus a little.
  const pid_t parent = start_driver({"run", db(), file}, 160 << 10);
  EXPECT_EQ(wait_for(parent), 3);
  EXPECT_THAT(output(), HasSubstr("then continue the run with --resume "));
  EXPECT_TRUE(workers().empty());
  const std::size_t kept = results().size();
  EXPECT_GE(kept, 1U);
  EXPECT_LT(kept, 12U);
  EXPECT_EQ(count(Outcome::kOk), kept);
  expect_whole();
  EXPECT_EQ(drive({"resume", db()}), 0);
  EXPECT_EQ(count(Outcome::kOk), 12U);
  expect_whole();
}

TEST_F(InterruptionTest, AStoreThatStaysLockedEndsTheRunAndLosesNothing) {
  const Plan plan = slow_plan(4);
  const pid_t parent = start_driver({"run", db(), write_plan(plan)});
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  StoreLock lock(db());
  ASSERT_TRUE(lock.taken());
  EXPECT_EQ(wait_for(parent), 3);
  EXPECT_TRUE(workers().empty());
  lock.release();
  expect_whole();
  EXPECT_EQ(drive({"resume", db()}), 0);
  EXPECT_EQ(count(Outcome::kOk), 4U);
}

TEST_F(InterruptionTest, AStoreThatIsFreeAgainCostsNothing) {
  const pid_t parent = start_patient_run();
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  StoreLock lock(db());
  ASSERT_TRUE(lock.taken());
  EXPECT_TRUE(becomes([&] { return output().find("is kept in memory") != std::string::npos; }, 60)) << output();
  lock.release();
  EXPECT_EQ(wait_for(parent), 0) << output();
  EXPECT_THAT(output(), HasSubstr("the store is free again"));
  EXPECT_EQ(count(Outcome::kOk), 4U);
  expect_whole();
}

TEST_F(InterruptionTest, AnInterruptionEndsTheWaitForALockedStore) {
  const pid_t parent = start_patient_run();
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  StoreLock lock(db());
  ASSERT_TRUE(lock.taken());
  EXPECT_TRUE(becomes([&] { return output().find("is kept in memory") != std::string::npos; }, 60)) << output();
  kill(parent, SIGINT);
  EXPECT_EQ(wait_for(parent), 3) << "what was measured last is lost, and the error says so";
  EXPECT_THAT(output(), HasSubstr("cannot save"));
  lock.release();
  EXPECT_EQ(drive({"resume", db()}), 0);
  EXPECT_EQ(count(Outcome::kOk), 4U);
}

TEST_F(InterruptionTest, AnInterruptionWaitsAMomentForALockedStore) {
  // So many that some are left: the worker goes on while the store is waited for.
  const pid_t parent = start_patient_run(300);
  ASSERT_TRUE(becomes([&] { return some_result_is_in(); }));
  StoreLock lock(db());
  ASSERT_TRUE(lock.taken());
  EXPECT_TRUE(becomes([&] { return output().find("is kept in memory") != std::string::npos; }, 60)) << output();
  kill(parent, SIGINT);
  lock.release();
  EXPECT_EQ(wait_for(parent), 130) << "the result was kept: " << output();
  EXPECT_THAT(output(), HasSubstr("the store is free again"));
  expect_whole();
}

class KillAndResume : public InterruptionTest {};

// SIGKILL of the parent at a random moment. HBMARK_KILL_ROUNDS: how often (5).
TEST_F(KillAndResume, NothingCommittedIsLostAndTheRestIsCompleted) {
  const char* wanted = std::getenv("HBMARK_KILL_ROUNDS");
  const int rounds = wanted != nullptr ? std::atoi(wanted) : 5;
  ASSERT_GT(rounds, 0);
  std::mt19937 random(20261130);
  std::size_t killed_in_time = 0;
  for (int round = 0; round < rounds; ++round) {
    std::filesystem::remove(db());
    std::filesystem::remove(db() + "-wal");
    std::filesystem::remove(db() + "-shm");
    const Plan plan = slow_plan(4);
    const auto delay = std::chrono::milliseconds(random() % 800);
    const pid_t parent = start_driver({"run", db(), write_plan(plan)});
    std::this_thread::sleep_for(delay);
    kill(parent, SIGKILL);
    if (wait_for(parent) == 128 + SIGKILL) ++killed_in_time;
    ASSERT_TRUE(becomes([&] { return workers().empty(); })) << "an orphan after " << delay.count() << " ms";

    std::vector<ResultRecord> before;
    if (auto store = Store::open(db(), OpenMode::kRead); store && store->find_run("last")) {
      before = *store->results(store->find_run("last")->uuid);
    } else if (std::filesystem::exists(db())) {
      auto again = Store::open(db(), OpenMode::kWrite);
      ASSERT_TRUE(again) << again.error().why;
      continue;  // killed before there was a run to resume
    } else {
      continue;
    }
    expect_whole();
    ASSERT_EQ(drive({"resume", db()}), 0) << "killed after " << delay.count() << " ms";
    const auto after = results();
    ASSERT_EQ(after.size(), 4U);
    for (const ResultRecord& r : after) {
      EXPECT_EQ(r.outcome, Outcome::kOk) << r.reason;
      for (const ResultRecord& earlier : before) {
        if (earlier.case_index == r.case_index) {
          EXPECT_EQ(earlier.uuid, r.uuid) << "a finished case was run again";
        }
      }
    }
    EXPECT_EQ(last_run().state, "finished");
    expect_whole();
  }
  EXPECT_GE(killed_in_time, 1U) << "every run was over before it was to be killed";
}

}  // namespace
}  // namespace hbmark::tests
