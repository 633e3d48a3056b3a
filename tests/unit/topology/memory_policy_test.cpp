// Which nodes a word of --memory means on machines made by hand, and what the kernel really does with a binding.
#include "topology/memory_policy.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>

#include "tests/unit/topology/temp_tree.h"
#include "topology/page_census.h"
#include "topology/placement.h"

namespace hbmark::topology::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// Two clusters of two PUs, each with DDR and MCDRAM; the MCDRAM nodes have no CPUs of their own. Indexes as real files have
// them: not paired by +2.
Node two_clusters() {
  Node node;
  node.cores = {{{0}, 0, 0}, {{1}, 0, 0}, {{2}, 0, 1}, {{3}, 0, 1}};
  node.allowed_pus = node.pus = {0, 1, 2, 3};
  node.numa = {{0, "ddr", 1 << 30, {0, 1}, 3, true},
               {1, "ddr", 1 << 30, {2, 3}, 2, true},
               {2, "mcdram", 1 << 28, {}, 1, true},
               {3, "mcdram", 1 << 28, {}, 0, true}};
  node.fast_memory = {{2, {2, 3}}, {3, {0, 1}}};
  return node;
}

TEST(MemoryWord, OtherNamesMeanTheSame) {
  EXPECT_EQ(memory_word("mcdram").value(), "fast");
  EXPECT_EQ(memory_word("hbm-preferred").value(), "fast-preferred");
  EXPECT_EQ(memory_word("mcdram-interleave").value(), "fast-interleave");
  EXPECT_EQ(memory_word("node:007").value(), "node:7");
  for (const char* word : {"", "fst", "node:", "node:-1", "node:x", "node:99999", "fast-", "DDR", "default "}) {
    const auto read = memory_word(word);
    ASSERT_FALSE(read) << word;
    EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(read.error().what, HasSubstr("--memory"));
  }
}

TEST(PlanMemory, TakesAllNodesOfTheThreadsAndNoOthers) {
  const Node node = two_clusters();
  const auto fast = plan_memory(node, "fast", {0, 1, 2, 3});
  ASSERT_TRUE(fast);
  EXPECT_THAT(fast->nodes, ElementsAre(2, 3));
  EXPECT_EQ(fast->kind, "mcdram");
  EXPECT_EQ(fast->rule, MemoryRule::kStrict);
  EXPECT_THAT(plan_memory(node, "fast", {0})->nodes, ElementsAre(3)) << "by the tree, not by index";
  EXPECT_THAT(plan_memory(node, "ddr", {3})->nodes, ElementsAre(1));
  EXPECT_THAT(plan_memory(node, "ddr", {})->nodes, ElementsAre(0, 1)) << "unpinned threads may be anywhere";
  EXPECT_THAT(plan_memory(node, "ddr", {kUnpinned, kUnpinned})->nodes, ElementsAre(0, 1));
  EXPECT_THAT(plan_memory(node, "node:2", {0})->nodes, ElementsAre(2));
  EXPECT_THAT(plan_memory(node, "default", {0})->nodes, IsEmpty());
}

TEST(PlanMemory, SaysHowItPlacesAndHowItIsStored) {
  const Node node = two_clusters();
  const auto text = [&](const char* word) {
    const auto memory = plan_memory(node, word, {});
    return policy_text(*memory) + " " + memory_label(*memory);
  };
  EXPECT_EQ(text("default"), "first_touch any");
  EXPECT_EQ(text("ddr"), "strict:0,1 ddr");
  EXPECT_EQ(text("fast"), "strict:2,3 mcdram");
  EXPECT_EQ(text("fast-preferred"), "preferred:2,3 mcdram-preferred");
  EXPECT_EQ(text("fast-interleave"), "interleave:2,3 mcdram-interleave");
  EXPECT_EQ(text("node:1"), "strict:1 node:1");
}

TEST(PlanMemory, WhatIsNotThereIsTheEnvironmentsFault) {
  Node node = two_clusters();
  node.fast_memory.clear();
  node.memory_mode.value = "cache";
  const auto cached = plan_memory(node, "fast", {});
  ASSERT_FALSE(cached);
  EXPECT_EQ(cached.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(cached.error().why, HasSubstr("cache"));

  node = two_clusters();
  for (NumaNode& numa : node.numa) numa.allowed = numa.kind == "ddr";
  EXPECT_EQ(plan_memory(node, "fast", {}).error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(plan_memory(node, "node:2", {}).error().next, HasSubstr("cpuset.mems"));
  for (NumaNode& numa : node.numa) numa.kind = "hbm";
  EXPECT_FALSE(plan_memory(node, "ddr", {}));
}

TEST(PlanMemory, ANodeThatIsNotThereIsAUsageErrorThatNamesThose) {
  const auto absent = plan_memory(two_clusters(), "node:4", {});
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(absent.error().why, HasSubstr("0, 1, 2, 3"));
}

TEST(PlanMemory, AMachineFromAFileIsRefused) {
  Node node = two_clusters();
  node.this_system = false;
  for (const char* word : {"default", "ddr", "fast", "node:0"}) {
    const auto memory = plan_memory(node, word, {});
    ASSERT_FALSE(memory) << word;
    EXPECT_EQ(memory.error().kind, ErrorKind::kEnvironment);
  }
}

// Two zones of node 0, one of node 1, as Linux 6.1 writes them.
constexpr const char* kZones = R"(Node 0, zone      DMA
  per-node stats
      nr_inactive_file 226329
  pages free     1000
        boost    0
        min      10
        low      20
        high     30
        spanned  4095
        protection: (0, 300, 400)
      nr_zone_inactive_file 5
  pagesets
    cpu: 0
              count: 77
              high:  7
              batch: 1
Node 0, zone    DMA32
  pages free     5000
        min      100
        low      200
        high     300
        protection: (0, 0, 0)
      nr_zone_inactive_file 100
Node 1, zone   Normal
  pages free     50
        min      60
        low      75
        high     90
        protection: (0, 0, 0)
      nr_zone_inactive_file 0)";

TEST(Room, IsWhatIsAboveTheWatermarks) {
  const TempTree machine{{"/proc/zoneinfo", kZones}};
  const auto page = static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
  EXPECT_EQ(room_on_node(0, machine.root()), (1000 - 20 - 400 + 5 + 5000 - 200 + 100) * page);
  EXPECT_EQ(room_on_node(1, machine.root()), 0U) << "below its watermark";
  EXPECT_EQ(room_on_node(2, machine.root()), std::nullopt);
  EXPECT_EQ(room_on_node(0, TempTree().root()), std::nullopt);
}

TEST(Room, OfStrictNodesIsTheSumAndOfInterleavedOnesTheLeast) {
  const TempTree machine{{"/proc/zoneinfo", kZones}};
  MemoryPlacement memory{"fast", "mcdram", MemoryRule::kStrict, {0, 1}};
  EXPECT_EQ(room_for(memory, machine.root()), room_on_node(0, machine.root()));
  memory.rule = MemoryRule::kInterleave;
  EXPECT_EQ(room_for(memory, machine.root()), 0U);
  memory.rule = MemoryRule::kPreferred;
  EXPECT_EQ(room_for(memory, machine.root()), std::nullopt) << "it spills";
  EXPECT_EQ(room_for(MemoryPlacement{}, machine.root()), std::nullopt);
}

TEST(Room, OfThisMachineIsNoMoreThanItsMemory) {
  const auto room = room_on_node(0);
  if (!room) GTEST_SKIP() << "no /proc/zoneinfo here";
  EXPECT_GT(*room, 0U);
  EXPECT_LE(*room, static_cast<std::uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)));
}

MemoryPlacement strict_on(std::vector<int> nodes) { return {"node:0", "ddr", MemoryRule::kStrict, std::move(nodes)}; }

#define HBMARK_NEED_MEMPOLICY()                                                              \
  do {                                                                                       \
    if (auto bound = try_binding(strict_on({0})); !bound) GTEST_SKIP() << bound.error().why; \
  } while (false)

TEST(Binding, IsTriedWithoutATrace) {
  HBMARK_NEED_MEMPOLICY();
  EXPECT_FALSE(ProcessBinding(strict_on({0})).check()) << "the trial was undone";
  EXPECT_TRUE(ProcessBinding(MemoryPlacement{}).check()) << "first touch promises nothing";
}

TEST(Binding, HoldsOverAnExec) {
  HBMARK_NEED_MEMPOLICY();
  const ProcessBinding binding(strict_on({0}));
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe(ends.data()), 0);
  const pid_t child = fork();
  if (child == 0) {
    if (binding.apply() != 0 || dup2(ends[1], STDOUT_FILENO) < 0) _exit(1);
    execl("/bin/cat", "cat", "/proc/self/numa_maps", nullptr);
    _exit(1);
  }
  close(ends[1]);
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = read(ends[0], piece.data(), piece.size())) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  ASSERT_EQ(status, 0);
  EXPECT_THAT(text, HasSubstr("stack"));
  EXPECT_THAT(text, HasSubstr(" bind:0 "));
  EXPECT_THAT(text, testing::Not(HasSubstr(" default "))) << "every mapping is under it";
}

TEST(Binding, ANodeThatIsNotThereIsRefusedByTheKernel) {
  HBMARK_NEED_MEMPOLICY();
  const auto bound = try_binding(strict_on({900}));
  ASSERT_FALSE(bound);
  EXPECT_EQ(bound.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(bound.error().why, HasSubstr("strict:900"));
}

}  // namespace
}  // namespace hbmark::topology::tests
