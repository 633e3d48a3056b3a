#include "topology/placement.h"

#include <gmock/gmock.h>
#include <sched.h>

#include <map>
#include <thread>

#include "tests/unit/topology/fixtures.h"

namespace hbmark::topology::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Four cores of two PUs each, numbered as Linux does on x86: core i has PUs i and i + 4.
Node four_cores() {
  Node node;
  for (int i = 0; i < 4; ++i) {
    node.cores.push_back({{i, i + 4}, 0, 0});
    node.pus.insert(node.pus.end(), {i, i + 4});
  }
  node.allowed_pus = node.pus;
  return node;
}

std::map<std::string, std::string> environment(const Placement& placement) {
  return {placement.environment.begin(), placement.environment.end()};
}

TEST(PlanThreads, DefaultIsOneOnEachCore) {
  const auto placement = plan_threads(four_cores(), 0);
  ASSERT_TRUE(placement);
  EXPECT_THAT(placement->thread_pus, ElementsAre(0, 1, 2, 3));
  EXPECT_EQ(placement->omp_places, "{0},{1},{2},{3}");
  EXPECT_THAT(placement->warnings, IsEmpty());
}

TEST(PlanThreads, EnvironmentTellsOpenMpThePlan) {
  const auto placement = plan_threads(four_cores(), 3);
  ASSERT_TRUE(placement);
  auto variables = environment(*placement);
  EXPECT_EQ(variables["OMP_NUM_THREADS"], "3");
  EXPECT_EQ(variables["OMP_PLACES"], "{0},{1},{2}");
  EXPECT_EQ(variables["OMP_PROC_BIND"], "close");
  EXPECT_EQ(variables["OMP_DYNAMIC"], "false");
  EXPECT_EQ(variables["OMP_WAIT_POLICY"], "active");
  EXPECT_EQ(variables["OMP_DISPLAY_ENV"], "false");
  EXPECT_EQ(variables["OMP_THREAD_LIMIT"], "3");
  EXPECT_EQ(variables["MEMKIND_ARENA_NUM_PER_KIND"], "1");
}

TEST(PlanThreads, SecondPusComeAfterAllCores) {
  EXPECT_THAT(plan_threads(four_cores(), 6)->thread_pus, ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT(plan_threads(four_cores(), 8)->thread_pus, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
}

TEST(PlanThreads, OnlyAllowedPusAreUsed) {
  Node node = four_cores();
  node.allowed_pus = {1, 4, 6};  // the first PU of core 1, the second of cores 0 and 2, nothing of core 3
  EXPECT_THAT(plan_threads(node, 0)->thread_pus, ElementsAre(4, 1, 6));
  const auto more = plan_threads(node, 4);
  ASSERT_FALSE(more);
  EXPECT_EQ(more.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(more.error().why, HasSubstr("3 PUs"));
}

TEST(PlanThreads, CoresOfDifferentWidth) {
  Node node;
  node.cores = {{{0, 1}, 0, 0}, {{2}, 0, 0}, {{3, 4}, 0, 0}};
  node.allowed_pus = node.pus = {0, 1, 2, 3, 4};
  EXPECT_THAT(plan_threads(node, 5)->thread_pus, ElementsAre(0, 2, 3, 1, 4));
}

TEST(PlanThreads, FewThreadsLieApart) {
  EXPECT_THAT(plan_threads(four_cores(), 2)->thread_pus, ElementsAre(0, 2));
  EXPECT_THAT(plan_threads(four_cores(), 1)->thread_pus, ElementsAre(0));
}

TEST(PlanThreads, CompactFillsACoreBeforeTheNext) {
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{3, 0, Pin::kCompact})->thread_pus, ElementsAre(0, 4, 1));
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{3, 1, Pin::kCompact})->thread_pus, ElementsAre(0, 1, 2));
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{0, 0, Pin::kCompact})->thread_pus, ElementsAre(0, 4, 1, 5));
}

TEST(PlanThreads, ThreadsPerCoreCountAndLimit) {
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{0, 1, Pin::kScatter})->thread_pus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{0, 2, Pin::kScatter})->thread_pus, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{0, 2, Pin::kCompact})->thread_pus, ElementsAre(0, 4, 1, 5, 2, 6, 3, 7));
  EXPECT_THAT(plan_threads(four_cores(), ThreadWish{5, 1, Pin::kScatter}).error().why, HasSubstr("with 1 a core"));
  const auto wide = plan_threads(four_cores(), ThreadWish{0, 4, Pin::kScatter});
  ASSERT_FALSE(wide);
  EXPECT_EQ(wide.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(wide.error().next, HasSubstr("--threads-per-core 2 or fewer"));
}

TEST(PlanThreads, UnpinnedThreadsAreTheKernels) {
  const auto placement = plan_threads(four_cores(), ThreadWish{3, 0, Pin::kNone});
  ASSERT_TRUE(placement);
  EXPECT_THAT(placement->thread_pus, ElementsAre(kUnpinned, kUnpinned, kUnpinned));
  auto variables = environment(*placement);
  EXPECT_EQ(variables["OMP_NUM_THREADS"], "3");
  EXPECT_EQ(variables["OMP_PROC_BIND"], "false");
  EXPECT_EQ(variables.count("OMP_PLACES"), 0U);
  EXPECT_TRUE(check_threads(*placement, {{0, {0, 1, 2, 3}, 2}, {1, {0, 1, 2, 3}, 2}, {2, {0, 1, 2, 3}, 0}}));
  EXPECT_FALSE(check_threads(*placement, {{0, {0, 1, 2, 3}, 2}})) << "they are still counted";
}

TEST(PlanThreads, AbsurdNumbersAreUsageErrorsThatNameTheRange) {
  for (int threads : {-1, -1000000, 9, 1000000}) {
    const auto placement = plan_threads(four_cores(), threads);
    ASSERT_FALSE(placement) << threads;
    EXPECT_EQ(placement.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(placement.error().next, HasSubstr("--threads"));
  }
  EXPECT_THAT(plan_threads(four_cores(), 1000000).error().next, HasSubstr("--threads 8 or fewer"));
}

TEST(PlanThreads, ATopologyFromAFileIsRefused) {
  Node node = four_cores();
  node.this_system = false;
  ASSERT_FALSE(plan_threads(node, 1));
  EXPECT_EQ(plan_threads(node, 1).error().kind, ErrorKind::kEnvironment);
}

TEST(PlanThreads, NoUsableCpuIsTheEnvironmentsFault) {
  Node node = four_cores();
  node.allowed_pus.clear();
  ASSERT_FALSE(plan_threads(node, 0));
  EXPECT_EQ(plan_threads(node, 0).error().kind, ErrorKind::kEnvironment);
}

TEST(PlanThreads, MoreThreadsThanTheQuotaWarnsAndDoesNotSpin) {
  Node node = four_cores();
  node.cpu_quota = 2.5;
  const auto over = plan_threads(node, 0);
  ASSERT_TRUE(over);
  ASSERT_EQ(over->warnings.size(), 1U);
  EXPECT_EQ(over->warnings[0].id, "threads-over-quota");
  EXPECT_THAT(over->warnings[0].text, HasSubstr("--threads 2"));
  EXPECT_EQ(environment(*over)["OMP_WAIT_POLICY"], "passive");
  const auto within = plan_threads(node, 2);
  EXPECT_THAT(within->warnings, IsEmpty());
  EXPECT_EQ(environment(*within)["OMP_WAIT_POLICY"], "active");
}

TEST(PlanThreads, UnevenQuartersOfARealKnl) {
  HBMARK_NEED_SHARED("data/topologies");
  Node node = describe_shared("knl7250-snc4-flat-real");
  node.this_system = true;  // as if we were on it
  const auto placement = plan_threads(node, 136);
  ASSERT_TRUE(placement);
  for (std::size_t i = 0; i < 68; ++i) {
    EXPECT_EQ(placement->thread_pus[i], node.cores[i].pus[0]);
    EXPECT_EQ(placement->thread_pus[i + 68], node.cores[i].pus[1]);
  }
}

std::vector<ThreadFinding> as_planned(const Placement& placement) {
  std::vector<ThreadFinding> found;
  for (std::size_t i = 0; i < placement.thread_pus.size(); ++i) {
    found.push_back({static_cast<int>(i), {placement.thread_pus[i]}, placement.thread_pus[i]});
  }
  return found;
}

TEST(CheckThreads, NamesTheFirstThatIsWrong) {
  const Placement placement = *plan_threads(four_cores(), 3);
  EXPECT_TRUE(check_threads(placement, as_planned(placement)));

  auto loose = as_planned(placement);
  loose[1].allowed = {0, 1, 2, 3};
  auto status = check_threads(placement, loose);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(status.error().what, HasSubstr("thread 1"));
  EXPECT_THAT(status.error().why, HasSubstr("0,1,2,3"));

  auto elsewhere = as_planned(placement);
  elsewhere[2].running_on = 7;
  EXPECT_THAT(check_threads(placement, elsewhere).error().what, HasSubstr("thread 2 does not run on PU 2"));

  auto swapped = as_planned(placement);
  std::swap(swapped[0].allowed, swapped[1].allowed);
  EXPECT_FALSE(check_threads(placement, swapped));
}

TEST(CheckThreads, CountsThem) {
  const Placement placement = *plan_threads(four_cores(), 3);
  auto few = as_planned(placement);
  few.pop_back();
  EXPECT_THAT(check_threads(placement, few).error().why, HasSubstr("3 were planned and 2"));
  auto twice = as_planned(placement);
  twice[2] = twice[1];
  EXPECT_FALSE(check_threads(placement, twice));
  auto stranger = as_planned(placement);
  stranger[0].thread = -1;
  EXPECT_FALSE(check_threads(placement, stranger));
}

TEST(CheckThreads, OrderOfTheFindingsDoesNotMatter) {
  const Placement placement = *plan_threads(four_cores(), 3);
  auto found = as_planned(placement);
  std::reverse(found.begin(), found.end());
  EXPECT_TRUE(check_threads(placement, found));
}

// The real thing: threads pinned by hand as OpenMP would pin them, found where they were put; unpinned ones are caught.
TEST(RealThreads, AreFoundWhereTheyWerePinned) {
  const auto node = describe_node({});
  ASSERT_TRUE(node);
  const auto placement = plan_threads(*node, static_cast<int>(node->allowed_pus.size()));
  ASSERT_TRUE(placement);
  std::vector<ThreadFinding> found(placement->thread_pus.size());
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(static_cast<std::size_t>(placement->thread_pus[i]), &set);
      if (sched_setaffinity(0, sizeof set, &set) == 0) found[i] = find_this_thread(static_cast<int>(i));
    });
  }
  for (auto& thread : threads) thread.join();
  const auto status = check_threads(*placement, found);
  EXPECT_TRUE(status) << status.error().what << ": " << status.error().why;
}

TEST(RealThreads, UnpinnedOnesAreCaught) {
  const auto node = describe_node({});
  ASSERT_TRUE(node);
  if (node->allowed_pus.size() < 2)
    GTEST_SKIP() << "needs two PUs: on one, an unpinned thread is where a pinned one would be";
  const ThreadFinding finding = find_this_thread(0);
  EXPECT_EQ(finding.allowed, node->allowed_pus);
  EXPECT_THAT(finding.allowed, testing::Contains(finding.running_on));
  EXPECT_FALSE(check_threads(*plan_threads(*node, 1), {finding}));
}

}  // namespace
}  // namespace hbmark::topology::tests
