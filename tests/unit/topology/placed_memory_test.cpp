// Memory as the kernel really places it: what was not touched is not there, what was is on a node.
#include "topology/placed_memory.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <cstdint>
#include <cstring>
#include <numeric>

#include "tests/unit/topology/fixtures.h"
#include "topology/placement.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;

std::size_t page() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::uint64_t present(const PageFinding& finding) {
  return std::accumulate(finding.pages_by_node.begin(), finding.pages_by_node.end(), std::uint64_t{0},
                         [](std::uint64_t sum, const auto& entry) { return sum + entry.second; });
}

#define HBMARK_NEED_MOVE_PAGES()                                                     \
  do {                                                                               \
    int probe = 0;                                                                   \
    if (auto answer = find_pages(&probe, sizeof probe); !answer) {                   \
      GTEST_SKIP() << "this kernel or container forbids it: " << answer.error().why; \
    }                                                                                \
  } while (false)

TEST(PlacedMemory, TouchesNothingUntilTheCallerDoes) {
  HBMARK_NEED_MOVE_PAGES();
  constexpr std::size_t kPages = 5000;  // more than one question's worth
  auto memory = PlacedMemory::allocate(kPages * page(), 64, HugePages::kForbid);
  ASSERT_TRUE(memory);
  auto before = find_pages(memory->address(), memory->size_bytes());
  ASSERT_TRUE(before);
  EXPECT_EQ(present(*before), 0U);
  EXPECT_EQ(before->not_present, kPages);

  std::memset(memory->address(), 1, 3000 * page());
  const auto after = find_pages(memory->address(), memory->size_bytes());
  ASSERT_TRUE(after);
  EXPECT_EQ(present(*after), 3000U);
  EXPECT_EQ(after->not_present, kPages - 3000);
}

TEST(PlacedMemory, HugePagesCountAsTheirSmallOnes) {
  HBMARK_NEED_MOVE_PAGES();
  constexpr std::size_t kBytes = 8 << 20;
  auto memory = PlacedMemory::allocate(kBytes, 64);
  ASSERT_TRUE(memory);
  std::memset(memory->address(), 1, kBytes);
  const auto found = find_pages(memory->address(), kBytes);
  ASSERT_TRUE(found);
  EXPECT_EQ(present(*found), kBytes / page());
  EXPECT_EQ(found->not_present, 0U);
}

TEST(PlacedMemory, IsAlignedAndSaysWhatItAsked) {
  for (std::size_t alignment : {std::size_t{0}, std::size_t{1}, std::size_t{64}, std::size_t{4096}, std::size_t{1} << 22}) {
    auto memory = PlacedMemory::allocate(100, alignment);
    ASSERT_TRUE(memory) << alignment;
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->address()) % std::max(alignment, page()), 0U);
    EXPECT_EQ(memory->size_bytes(), 100U);
    std::memset(memory->address(), 1, 100);
  }
  EXPECT_THAT(PlacedMemory::allocate(1, 0)->huge_pages(), testing::AnyOf("advised", HasSubstr("refused")));
  EXPECT_THAT(PlacedMemory::allocate(1, 0, HugePages::kForbid)->huge_pages(),
              testing::AnyOf("forbidden", HasSubstr("refused")));
  EXPECT_EQ(PlacedMemory::allocate(1, 0, HugePages::kDefault)->huge_pages(), "default");
}

TEST(PlacedMemory, LargeOnesAreAlignedToHugePages) {
  auto memory = PlacedMemory::allocate(16 << 20, 64);
  ASSERT_TRUE(memory);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->address()) % (2 << 20), 0U);
}

TEST(PlacedMemory, MovesAndReleases) {
  HBMARK_NEED_MOVE_PAGES();
  auto first = PlacedMemory::allocate(4 * page(), 0, HugePages::kForbid);
  ASSERT_TRUE(first);
  void* const address = first->address();
  std::memset(address, 1, 4 * page());
  PlacedMemory second = std::move(*first);
  EXPECT_EQ(second.address(), address);
  EXPECT_EQ(first->address(), nullptr);
  EXPECT_EQ(present(*find_pages(address, 4 * page())), 4U);
  second = PlacedMemory();
  EXPECT_EQ(present(*find_pages(address, 4 * page())), 0U) << "still mapped";
}

TEST(PlacedMemory, AbsurdSizesAreValuesNotCrashes) {
  EXPECT_EQ(PlacedMemory::allocate(0, 64).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(PlacedMemory::allocate(64, 48).error().kind, ErrorKind::kUsage);
  for (std::size_t bytes : {std::size_t{1} << 62, ~std::size_t{0}, ~std::size_t{0} - 4095}) {
    const auto memory = PlacedMemory::allocate(bytes, 64);
    ASSERT_FALSE(memory) << bytes;
    EXPECT_EQ(memory.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(memory.error().what, HasSubstr("cannot allocate"));
  }
}

TEST(FindPages, UnalignedRangesCoverTheirPages) {
  HBMARK_NEED_MOVE_PAGES();
  auto memory = PlacedMemory::allocate(4 * page(), 0, HugePages::kForbid);
  ASSERT_TRUE(memory);
  std::memset(memory->address(), 1, 4 * page());
  char* const start = static_cast<char*>(memory->address());
  EXPECT_EQ(present(*find_pages(start + page() - 1, 2)), 2U);
  EXPECT_EQ(present(*find_pages(start + 1, 1)), 1U);
  EXPECT_EQ(present(*find_pages(start, 0)), 0U);
}

TEST(FindPages, PagesOnlyReadAreNotPresent) {
  HBMARK_NEED_MOVE_PAGES();
  auto memory = PlacedMemory::allocate(2 * page(), 0, HugePages::kForbid);
  ASSERT_TRUE(memory);
  const volatile char* const first = static_cast<const volatile char*>(memory->address());
  EXPECT_EQ(*first, 0);  // maps the kernel's shared page of zeros
  const auto found = find_pages(memory->address(), 2 * page());
  ASSERT_TRUE(found);
  EXPECT_EQ(found->not_present, 2U);
}

}  // namespace
}  // namespace hbmark::topology::tests
