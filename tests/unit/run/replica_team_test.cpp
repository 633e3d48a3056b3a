// Replicas that meet, as threads here: the block does not know the difference.
#include "bench/run/replica_team.h"

#include <gmock/gmock.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "bench/problems/problem.h"
#include "bench/run/replica_results.h"
#include "bench/run/replica_split.h"

namespace hbmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

class Team : public testing::Test {
 protected:
  static constexpr int kReplicas = 3;

  // Runs `work` on every replica.
  void on_all(const std::function<void(ReplicaTeam&)>& work) {
    auto block = ReplicaTeam::make_block(kReplicas);
    ASSERT_TRUE(block) << block.error().why;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < kReplicas; ++rank) {
      threads.emplace_back([&, rank] {
        auto team = ReplicaTeam::join(block->get(), rank, kReplicas, [this] { return cancel_.load(); });
        ASSERT_TRUE(team) << team.error().why;
        work(*team);
      });
    }
    for (std::thread& thread : threads) thread.join();
    const auto looked_on = ReplicaTeam::join(block->get(), -1, kReplicas, {});
    ASSERT_TRUE(looked_on);
    behind_ = looked_on->last_behind();
  }

  std::atomic<bool> cancel_ = false;
  std::optional<int> behind_;
};

Result<double> takes(double seconds) {
  std::this_thread::sleep_for(std::chrono::duration<double>(seconds));
  return seconds;
}

TEST_F(Team, EveryoneHearsEveryWordOfTheFirst) {
  std::atomic<int> wrong = 0;
  on_all([&](ReplicaTeam& team) {
    ASSERT_TRUE(team.begin_case());
    for (std::int64_t word = 1; word <= 1000; ++word) {
      if (team.follow_first(team.rank() == 0 ? word : -1) != word) ++wrong;
    }
    team.leave_case(false);
  });
  EXPECT_EQ(wrong, 0);
}

TEST_F(Team, FastOnesCallOnUntilTheSlowestIsReady) {
  std::atomic<std::int64_t> calls_of_fast = 0;
  double call_s = 0;
  on_all([&](ReplicaTeam& team) {
    ASSERT_TRUE(team.begin_case());
    ASSERT_TRUE(team.follow_first(1));
    const bool is_slow = team.rank() == 2;
    const auto ran = team.run_together(1, [&](std::int64_t calls) {
      if (team.rank() == 1) calls_of_fast += calls;
      return takes((is_slow ? 0.05 : 0.005) * static_cast<double>(calls));
    });
    EXPECT_TRUE(ran);
    if (team.rank() == 0) {
      const auto window = common_window(team.stamps());
      ASSERT_TRUE(window) << window.error().why;
      call_s = window->call_s();
      EXPECT_GT(window->calls[0], window->calls[2]);
    }
    ASSERT_TRUE(team.meet());  // the first reads stamps until then
    team.leave_case(false);
  });
  EXPECT_GT(calls_of_fast, 1);
  EXPECT_GT(call_s, 0);
}

TEST_F(Team, OneThatFailsEndsTheCaseForAllAndTheNextBegins) {
  std::atomic<int> ended = 0;
  std::atomic<int> again = 0;
  on_all([&](ReplicaTeam& team) {
    ASSERT_TRUE(team.begin_case());
    if (team.rank() == 1) {
      team.leave_case(true);
    } else {
      while (team.meet()) {
      }
      ++ended;
      team.leave_case(true);
    }
    ASSERT_TRUE(team.begin_case());
    if (team.meet()) ++again;
    team.leave_case(false);
  });
  EXPECT_EQ(ended, 2);
  EXPECT_EQ(again, kReplicas);
}

TEST_F(Team, OneThatFailsWhileAllRunEndsTheRun) {
  std::atomic<int> ended = 0;
  on_all([&](ReplicaTeam& team) {
    ASSERT_TRUE(team.begin_case());
    if (!team.follow_first(1)) {  // the other failed before this one had looked
      ++ended;
      return team.leave_case(true);
    }
    const auto ran = team.run_together(1, [&](std::int64_t) -> Result<double> {
      if (team.rank() == 2) return environment_error("no", "no", "no");
      return takes(0.001);
    });
    if (!ran) ++ended;
    team.leave_case(!ran);
  });
  EXPECT_EQ(ended, kReplicas);
}

TEST_F(Team, ACancelledWaitEndsAndTheLateOneIsKnown) {
  on_all([&](ReplicaTeam& team) {
    ASSERT_TRUE(team.begin_case());
    if (team.rank() == 1) {  // does not come to the meeting, until all the others have given up
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      cancel_ = true;
      return;
    }
    EXPECT_FALSE(team.meet());
  });
  EXPECT_EQ(behind_, 1);
}

TEST(ReplicaBlock, IsMadeForSomeReplicas) {
  EXPECT_FALSE(ReplicaTeam::make_block(0));
  EXPECT_FALSE(ReplicaTeam::make_block(kMostReplicas + 1));
  const auto block = ReplicaTeam::make_block(2);
  ASSERT_TRUE(block);
  EXPECT_FALSE(ReplicaTeam::join(block->get(), 0, 3, {})) << "too small";
  EXPECT_FALSE(ReplicaTeam::join(-1, 0, 1, {}));
}

Event told(Outcome outcome, std::string reason, double flop, int pu) {
  Event event;
  event.result.outcome = outcome;
  event.result.reason = std::move(reason);
  event.result.flop = flop;
  event.result.thread_pus = {pu};
  event.result.pages = {{pu, 1.0}};
  if (outcome == Outcome::kOk) event.result.time = TimeSummary{1, 1, 1, 1, 10, 1, ""};
  event.result.replica_times_s = {{0, 1.0}, {1, 2.0}};
  return event;
}

TEST(MergeReplicas, WorkAddsUpAndPagesAreMeans) {
  const Event all = merge_replicas({told(Outcome::kOk, "", 10, 0), told(Outcome::kOk, "", 10, 1)});
  EXPECT_EQ(all.result.flop, 20);
  EXPECT_THAT(all.result.thread_pus, ElementsAre(0, 1));
  EXPECT_EQ(all.result.pages, (std::map<int, double>{{0, 0.5}, {1, 0.5}}));
  EXPECT_TRUE(all.result.time);
}

TEST(MergeReplicas, TheFaultIsThatOfTheOneWhoHadIt) {
  const Event all = merge_replicas(
      {told(Outcome::kNotRun, kEndedByAnother, 10, 0), told(Outcome::kWrongResult, "c[1] is 2, expected 3", 10, 1)});
  EXPECT_EQ(all.result.outcome, Outcome::kWrongResult);
  EXPECT_EQ(all.result.reason, "replica 2 of 2: c[1] is 2, expected 3");
  EXPECT_FALSE(all.result.time);
  EXPECT_TRUE(all.result.replica_times_s.empty());
}

TEST(ReplicaEfficiency, IsTheRateOfAllOverThatOfOneAlone) {
  ResultRecord result;
  EXPECT_FALSE(replica_efficiency(result));
  result.replica_alone_s = 1;
  EXPECT_FALSE(replica_efficiency(result));
  // One call on each of two in 4/3 s: 1.5 calls a second, where two alone would make 2.
  result.time = TimeSummary{4.0 / 3, 1, 1, 1, 10, 1, ""};
  EXPECT_DOUBLE_EQ(*replica_efficiency(result), 0.75);
}

TEST(SplitProblem, DividesTheBatch) {
  const auto split = [](const char* text, int replicas) {
    const auto part = split_problem(*parse_problem(text), replicas);
    return part ? to_string(*part) : part.error().why;
  };
  EXPECT_EQ(split("conv:fwd:f32:n32c64h56w56k64r3s3sh1sw1ph1pw1", 4), "conv:fwd:f32:n8c64h56w56k64r3s3sh1sw1ph1pw1");
  EXPECT_EQ(split("gemm:f32:nn:m16n16k16/batch=8", 4), "gemm:f32:nn:m16n16k16/batch=2");
  EXPECT_EQ(split("gemm:f32:nn:m16n16k16", 4), "gemm:f32:nn:m16n4k16");
  EXPECT_EQ(split("stream:triad:f64:1048576", 4), "stream:triad:f64:1048576");
  EXPECT_EQ(split("gemm:f32:nn:m16n17k16", 1), "gemm:f32:nn:m16n17k16");
  EXPECT_THAT(split("gemm:f32:nn:m16n17k16", 4), HasSubstr("n of 17 is no multiple of 4 replicas"));
}

}  // namespace
}  // namespace hbmark
