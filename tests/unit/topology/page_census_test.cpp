// The census against lines as the kernel writes them, and against memory whose place is known.
#include "topology/page_census.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <numeric>

#include "tests/unit/topology/temp_tree.h"
#include "topology/placed_memory.h"

namespace hbmark::topology::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

// From the virtual KNL: heap and stack on node 1, text on node 0, a copied page among a file's.
constexpr const char* kMaps = R"(00400000 bind:1 file=/bin/hbmark mapped=200 N0=200 kernelpagesize_kB=4
00700000 bind:1 file=/bin/hbmark anon=3 dirty=3 mapped=9 N0=6 N1=3 kernelpagesize_kB=4
00800000 bind:1 file=/bin/hbmark anon=2 dirty=2 mapped=5 N0=5 kernelpagesize_kB=4
00900000 bind:1 heap anon=40 dirty=40 N1=40 kernelpagesize_kB=4
7f0000000000 bind:1 anon=1024 dirty=1024 active=0 N0=512 N1=512 kernelpagesize_kB=4
7f1000000000 bind:1 file=/anon_hugepage\040(deleted) huge anon=2 dirty=2 N1=2 kernelpagesize_kB=2048
7f2000000000 bind:1
7ffc00000000 bind:1 stack anon=5 dirty=5 N1=5 kernelpagesize_kB=4)";

TEST(NumaMaps, AnonymousPagesAreToldFromAFiles) {
  const auto all = parse_numa_maps(kMaps);
  ASSERT_TRUE(all);
  ASSERT_EQ(all->size(), 6U);
  EXPECT_TRUE((*all)[0].mixed) << "which of node 0's are copies is not said";
  EXPECT_EQ((*all)[0].begin, 0x700000U);
  EXPECT_FALSE((*all)[1].mixed);
  EXPECT_THAT((*all)[1].bytes, ElementsAre(Pair(0, 2 * 4096)));
  EXPECT_THAT((*all)[2].bytes, ElementsAre(Pair(1, 40 * 4096)));
  EXPECT_THAT((*all)[3].bytes, ElementsAre(Pair(0, 512 * 4096), Pair(1, 512 * 4096)));
  EXPECT_THAT((*all)[4].bytes, ElementsAre(Pair(1, 2 * 2048 * 1024))) << "a huge page is one of 2 MiB";
  EXPECT_THAT((*all)[5].bytes, ElementsAre(Pair(1, 5 * 4096)));
}

TEST(NumaMaps, NonsenseIsAnError) {
  EXPECT_THAT(parse_numa_maps("").value(), IsEmpty());
  const auto bad = parse_numa_maps("hello anon=1 N0=1");
  ASSERT_FALSE(bad);
  EXPECT_THAT(bad.error().why, HasSubstr("hello"));
}

std::uint64_t sum(const BytesByNode& bytes) {
  return std::accumulate(bytes.begin(), bytes.end(), std::uint64_t{0},
                         [](std::uint64_t all, const auto& one) { return all + one.second; });
}

TEST(Census, GrowsByWhatIsTouched) {
  const auto before = count_anonymous_bytes();
  if (!before) GTEST_SKIP() << before.error().why;
  constexpr std::uint64_t kBytes = 32 << 20;
  auto memory = PlacedMemory::allocate(kBytes, 64);
  ASSERT_TRUE(memory);
  std::memset(memory->address(), 1, kBytes);
  const auto after = count_anonymous_bytes();
  ASSERT_TRUE(after);
  EXPECT_NEAR(static_cast<double>(sum(*after) - sum(*before)), kBytes, 4 << 20);
}

// What the kernel's own sum says: VmRSS is anonymous, file and shared; RssAnon the first of them.
TEST(Census, IsTheKernelsSum) {
  const auto counted = count_anonymous_bytes();
  if (!counted) GTEST_SKIP() << counted.error().why;
  std::ifstream status("/proc/self/status");
  std::uint64_t kib = 0;
  for (std::string word; status >> word;) {
    if (word == "RssAnon:") status >> kib;
  }
  ASSERT_GT(kib, 0U);
  // RssAnon is kept in batches a thread and CPU (mm/memory.c): off by some dozens of pages.
  EXPECT_NEAR(static_cast<double>(sum(*counted)), static_cast<double>(kib) * 1024, 2 << 20);
}

TEST(Shares, AreOfOne) {
  EXPECT_THAT(shares({{0, 1 << 20}, {1, 3 << 20}}), ElementsAre(Pair(0, 0.25), Pair(1, 0.75)));
  EXPECT_THAT(shares({}), IsEmpty());
}

TEST(CheckBytes, OnePageElsewhereIsTooMuch) {
  const MemoryPlacement strict{"fast", "mcdram", MemoryRule::kStrict, {1, 3}};
  EXPECT_TRUE(check_bytes(strict, {{1, 4096}, {3, 1 << 30}}, "the pages"));
  const auto wrong = check_bytes(strict, {{1, 3 * 4096}, {0, 4096}}, "the pages");
  ASSERT_FALSE(wrong);
  EXPECT_THAT(wrong.error().what, HasSubstr("the pages"));
  EXPECT_THAT(wrong.error().why, HasSubstr("strict:1,3"));
  EXPECT_THAT(wrong.error().why, HasSubstr("25 % on NUMA node 0"));
  MemoryPlacement loose = strict;
  loose.rule = MemoryRule::kPreferred;
  EXPECT_TRUE(check_bytes(loose, {{0, 4096}}, "the pages")) << "preferred promises nothing";
  loose.rule = MemoryRule::kInterleave;
  EXPECT_FALSE(check_bytes(loose, {{0, 4096}}, "the pages"));
}

TEST(HugePagesFound, SmallOnesAreNone) {
  constexpr std::uint64_t kBytes = 8 << 20;
  auto memory = PlacedMemory::allocate(kBytes, 64, HugePages::kForbid);
  ASSERT_TRUE(memory);
  std::memset(memory->address(), 1, kBytes);
  const auto huge = count_huge_bytes(memory->address(), kBytes);
  ASSERT_TRUE(huge) << huge.error().why;
  EXPECT_EQ(*huge, 0U);
}

TEST(HugePagesFound, AdvisedOnesAreSeen) {
  if (!transparent_huge_pages()) GTEST_SKIP() << "transparent huge pages are off here";
  constexpr std::uint64_t kBytes = 16 << 20;
  auto memory = PlacedMemory::allocate(kBytes, 64);
  ASSERT_TRUE(memory);
  std::memset(memory->address(), 1, kBytes);
  const auto huge = count_huge_bytes(memory->address(), kBytes);
  ASSERT_TRUE(huge);
  EXPECT_LE(*huge, kBytes);
  EXPECT_EQ(*huge % (2 << 20), 0U);
  if (*huge == 0) GTEST_SKIP() << "this kernel had no huge page to give";
  const auto all = count_transparent_huge_bytes();
  ASSERT_TRUE(all);
  EXPECT_GE(*all, *huge);
}

TEST(HugePagesFound, ThoseOfThePoolAreAllOfThem) {
  constexpr std::uint64_t kPages = 2;
  if (free_pool_pages({}) < kPages) GTEST_SKIP() << "no pages of 2 MiB in the pool (sysctl vm.nr_hugepages)";
  auto memory = PlacedMemory::allocate(kPages * (2 << 20) - 5, 64, HugePages::kPool);
  ASSERT_TRUE(memory);
  std::memset(memory->address(), 1, memory->size_bytes());
  EXPECT_EQ(count_huge_bytes(memory->address(), memory->size_bytes()).value(), memory->size_bytes());
}

TEST(Pool, WithoutEnoughPagesTheErrorNamesTheSysctl) {
  const std::size_t too_many = (free_pool_pages({}) + 1) * (2 << 20) + 1;
  const auto memory = PlacedMemory::allocate(too_many, 64, HugePages::kPool);
  if (memory) GTEST_SKIP() << "this machine may overcommit its pool (vm.nr_overcommit_hugepages)";
  EXPECT_THAT(memory.error().next, HasSubstr("sysctl vm.nr_hugepages="));
}

TEST(Pool, IsCountedByNode) {
  const TempTree machine{{"/sys/devices/system/node/node1/hugepages/hugepages-2048kB/free_hugepages", "7"},
                         {"/sys/devices/system/node/node2/hugepages/hugepages-2048kB/free_hugepages", "5"},
                         {"/sys/kernel/mm/hugepages/hugepages-2048kB/free_hugepages", "12"}};
  EXPECT_EQ(free_pool_pages({1}, machine.root()), 7U);
  EXPECT_EQ(free_pool_pages({1, 2}, machine.root()), 12U);
  EXPECT_EQ(free_pool_pages({}, machine.root()), 12U);
  EXPECT_EQ(free_pool_pages({0}, machine.root()), 0U);
}

TEST(TransparentHugePages, NeverMeansNone) {
  const TempTree off{{"/sys/kernel/mm/transparent_hugepage/enabled", "always madvise [never]"}};
  const auto refused = transparent_huge_pages(off.root());
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().next, HasSubstr("madvise"));
  const TempTree on{{"/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never"}};
  EXPECT_TRUE(transparent_huge_pages(on.root()));
  EXPECT_FALSE(transparent_huge_pages(TempTree().root()));
}

}  // namespace
}  // namespace hbmark::topology::tests
