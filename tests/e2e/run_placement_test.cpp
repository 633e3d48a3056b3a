// Memory that is bound and proved: real workers on the fake backend.
#include "bench/run/planner.h"
#include "tests/e2e/run_fixture.h"
#include "topology/page_census.h"

namespace hbmark::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Key;
using testing::Pair;

class PlacementTest : public RunTest {
 protected:
  void SetUp() override {
    RunTest::SetUp();
    const auto counted = topology::count_anonymous_bytes();
    if (!counted) GTEST_SKIP() << counted.error().why;
    const auto bound = topology::try_binding({"node:0", "ddr", topology::MemoryRule::kStrict, {0}});
    if (!bound) GTEST_SKIP() << bound.error().why;
  }
  void TearDown() override {
    unsetenv("HBMARK_SCRIPTED_NODES");
    RunTest::TearDown();
  }
  // One case under each word, as planned; the driver finds the nodes.
  std::vector<ResultRecord> place(const std::vector<std::string>& words, const std::string& pages = "") {
    Plan wanted = plan(std::vector<std::string>(words.size(), kFirst));
    wanted.pages = pages;
    wanted.placements.clear();
    for (std::size_t i = 0; i < words.size(); ++i) {
      wanted.placements.push_back({words[i], 0});
      wanted.cases[i].placement = i;
    }
    EXPECT_EQ(drive({"run", db(), write_plan(wanted)}), 0) << output();
    return results();
  }
};

TEST_F(PlacementTest, EachIsAConfigurationWhoseWorkerIsBound) {
  const auto all = place({"default", "node:0"});
  ASSERT_EQ(all.size(), 2U);
  for (const ResultRecord& r : all) {
    EXPECT_EQ(r.outcome, Outcome::kOk) << r.reason;
    EXPECT_FALSE(r.worker_pages.empty());
    EXPECT_TRUE(r.huge_pages);
  }
  EXPECT_EQ(all[0].memory_kind, "any");
  EXPECT_EQ(all[1].memory_kind, "node:0");
  EXPECT_THAT(all[1].pages, ElementsAre(Pair(0, 1.0)));
  EXPECT_THAT(all[1].worker_pages, ElementsAre(Pair(0, 1.0)));
  EXPECT_NE(all[0].configuration_uuid, all[1].configuration_uuid);
}

TEST_F(PlacementTest, PagesElsewhereAfterFirstTouchAreMisplaced) {
  setenv("HBMARK_SCRIPTED_NODES", "3", 1);
  const auto all = place({"node:0"});
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all[0].outcome, Outcome::kMisplaced);
  EXPECT_THAT(all[0].reason, HasSubstr("after first touch, the worker's anonymous pages"));
  EXPECT_THAT(all[0].reason, HasSubstr("12.5 % on NUMA node 3"));
  EXPECT_FALSE(all[0].time);
}

TEST_F(PlacementTest, PagesThatMovedMeanwhileAreMisplaced) {
  setenv("HBMARK_SCRIPTED_NODES", "0 2", 1);
  const auto all = place({"node:0"});
  EXPECT_EQ(all.at(0).outcome, Outcome::kMisplaced);
  EXPECT_THAT(all[0].reason, HasSubstr("after the last sample"));
  EXPECT_THAT(all[0].worker_pages, ElementsAre(Key(0), Key(2)));
  EXPECT_FALSE(all[0].time) << "a time taken elsewhere is nobody's";
}

TEST_F(PlacementTest, WithoutABindingTheyAreToldOfOnly) {
  setenv("HBMARK_SCRIPTED_NODES", "2", 1);
  const auto all = place({"default"});
  EXPECT_EQ(all.at(0).outcome, Outcome::kOk) << all[0].reason;
  EXPECT_THAT(all[0].worker_pages, ElementsAre(Pair(0, 0.875), Pair(2, 0.125)));
}

TEST_F(PlacementTest, SmallPagesAreAllSmall) {
  const auto all = place({"default"}, "4k");
  EXPECT_EQ(all.at(0).outcome, Outcome::kOk) << all[0].reason;
  EXPECT_EQ(all[0].huge_pages, 0.0);
}

TEST_F(PlacementTest, WithoutAPoolTheCaseIsSkippedWithTheSysctl) {
  if (topology::free_pool_pages({}) > 0) GTEST_SKIP() << "this machine has a pool";
  const auto all = place({"default"}, "2m");
  EXPECT_EQ(all.at(0).outcome, Outcome::kSkipped);
  EXPECT_THAT(all[0].reason, HasSubstr("sysctl vm.nr_hugepages="));
}

}  // namespace
}  // namespace hbmark::tests
