#include "topology/partition.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <set>

#include "tests/unit/topology/fixtures.h"

namespace hbmark::topology::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Cores of one PU, so many to a tile and to a NUMA node.
Node cores(int count, int to_a_tile, int to_a_node) {
  Node node;
  for (int i = 0; i < count; ++i) {
    node.cores.push_back({{i}, 0, i / to_a_node, to_a_tile > 1 ? i / to_a_tile : i});
    node.pus.push_back(i);
  }
  node.allowed_pus = node.pus;
  return node;
}

std::vector<std::size_t> sizes(const Partition& partition) {
  std::vector<std::size_t> all;
  for (const auto& part : partition.parts) all.push_back(part.size());
  return all;
}

std::vector<std::string> warnings(const Partition& partition) {
  std::vector<std::string> ids;
  for (const Warning& warning : partition.warnings) ids.push_back(warning.id);
  return ids;
}

// Every usable core is in exactly one part.
void expect_whole(const Partition& partition, const Node& node) {
  std::set<std::size_t> seen;
  std::size_t count = 0;
  for (const auto& part : partition.parts) {
    EXPECT_FALSE(part.empty());
    seen.insert(part.begin(), part.end());
    count += part.size();
  }
  EXPECT_EQ(seen.size(), count);
  EXPECT_EQ(count, node.cores.size());
}

TEST(Partition, QuadrantsOfAKnlAreTheirOwnSizes) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-snc4-flat-real");
  const auto four = partition(node, 4);
  ASSERT_TRUE(four);
  EXPECT_THAT(sizes(*four), ElementsAre(18, 18, 16, 16));
  EXPECT_EQ(four->along, "NUMA nodes");
  EXPECT_THAT(warnings(*four), ElementsAre("uneven-replicas"));
  EXPECT_THAT(four->warnings[0].text, HasSubstr("18, 18, 16, 16 cores"));
  const auto two = partition(node, 2);
  ASSERT_TRUE(two);
  EXPECT_THAT(sizes(*two), ElementsAre(36, 32));
  const auto eight = partition(node, 8);  // no tile is cut in two
  ASSERT_TRUE(eight);
  EXPECT_EQ(eight->along, "tiles");
  EXPECT_THAT(sizes(*eight), ElementsAre(10, 8, 10, 8, 8, 8, 8, 8));
  const auto three = partition(node, 3);
  ASSERT_TRUE(three);
  EXPECT_THAT(sizes(*three), ElementsAre(24, 22, 22));
  EXPECT_THAT(warnings(*three), ElementsAre("uneven-replicas", "replicas-across-numa"));
  for (int parts : {1, 2, 3, 4, 5, 8, 17, 34, 68}) {
    const auto cut = partition(node, parts);
    ASSERT_TRUE(cut) << parts;
    EXPECT_EQ(cut->parts.size(), static_cast<std::size_t>(parts));
    expect_whole(*cut, node);
  }
}

TEST(Partition, RecordedMachinesAreCutWhole) {
  HBMARK_NEED_SHARED("data/topologies");
  for (const auto& file : std::filesystem::directory_iterator(hbmark::tests::shared_dir() / "data/topologies")) {
    if (file.path().extension() != ".xml") continue;
    const auto node = describe_node({.xml_file = file.path().string(), .sysfs_root = "", .with_io = false});
    ASSERT_TRUE(node) << file.path();
    const Partition all = partition(*node, 1).value_or(Partition{});
    if (all.parts.empty()) continue;  // a view without an allowed core
    const int usable = static_cast<int>(all.parts[0].size());
    for (int parts : {1, 2, 4, usable}) {
      if (parts > usable) continue;
      const auto cut = partition(*node, parts);
      ASSERT_TRUE(cut) << file.path() << " " << parts;
      EXPECT_EQ(cut->parts.size(), static_cast<std::size_t>(parts)) << file.path();
      std::set<std::size_t> seen;
      for (const auto& part : cut->parts) {
        EXPECT_FALSE(part.empty()) << file.path() << " " << parts;
        seen.insert(part.begin(), part.end());
      }
      EXPECT_EQ(static_cast<int>(seen.size()), usable) << file.path() << " " << parts;
    }
    EXPECT_FALSE(partition(*node, usable + 1)) << file.path();
  }
}

TEST(Partition, TwoPartsOfTwoCores) {
  const auto cut = partition(cores(2, 1, 2), 2);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->parts, ElementsAre(ElementsAre(0u), ElementsAre(1u)));
  EXPECT_EQ(cut->along, "cores");
  EXPECT_THAT(cut->warnings, IsEmpty());
}

TEST(Partition, MoreThanTheCoresIsRefusedWithTheLargestThatFits) {
  const auto cut = partition(cores(2, 1, 2), 3);
  ASSERT_FALSE(cut);
  EXPECT_EQ(cut.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(cut.error().next, HasSubstr("--replicas 2 or fewer"));
  EXPECT_FALSE(partition(cores(2, 1, 2), 0));
}

TEST(Partition, OnlyAllowedCoresAreShared) {
  Node node = cores(8, 1, 8);
  node.allowed_pus = {1, 2, 5, 6};
  const auto cut = partition(node, 2);
  ASSERT_TRUE(cut);
  EXPECT_THAT(cut->parts, ElementsAre(ElementsAre(1u, 2u), ElementsAre(5u, 6u)));
  EXPECT_FALSE(partition(node, 5));
}

TEST(PlanReplicas, EachHasItsThreadsAndTheWholeHasAll) {
  const auto plan = plan_replicas(cores(8, 2, 4), 2, ThreadWish{});
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->parts.size(), 2u);
  EXPECT_THAT(plan->parts[0].thread_pus, ElementsAre(0, 1, 2, 3));
  EXPECT_THAT(plan->parts[1].thread_pus, ElementsAre(4, 5, 6, 7));
  EXPECT_THAT(plan->thread_pus, ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  for (const auto& [name, value] : plan->environment) EXPECT_NE(name, "OMP_PLACES") << "of one part alone";
  const auto one_each = plan_replicas(cores(8, 2, 4), 2, ThreadWish{1, 0, Pin::kScatter});
  ASSERT_TRUE(one_each);
  EXPECT_THAT(one_each->thread_pus, ElementsAre(0, 4));
  const auto too_many = plan_replicas(cores(8, 2, 4), 2, ThreadWish{5, 0, Pin::kScatter});
  ASSERT_FALSE(too_many);
  EXPECT_THAT(too_many.error().why, HasSubstr("one of 2 replicas"));
}

}  // namespace
}  // namespace hbmark::topology::tests
