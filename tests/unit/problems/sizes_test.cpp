#include "bench/problems/sizes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/kernels/kernel.h"

namespace hbmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr std::uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
using Fields = std::vector<std::pair<std::string, std::string>>;

Fields stream_fields(const std::string& op) { return {{"op", op}, {"type", "f64"}}; }

std::vector<std::int64_t> sizes_of(std::string_view symbol, std::string_view kernel, const Fields& fields,
                                   const SuiteContext& context) {
  const auto sizes = sizes::resolve(symbol, *find_kernel(kernel), fields, context);
  EXPECT_TRUE(sizes) << sizes.error().why;
  return sizes ? *sizes : std::vector<std::int64_t>{};
}

TEST(Sizes, BeyondTheLastLevelIsFourTimesItInAllArraysTogether) {
  std::vector<std::string> notes;
  const SuiteContext context{384 * kMiB, &notes};
  EXPECT_THAT(sizes_of("beyond-last-level", "stream", stream_fields("triad"), context), ElementsAre(512 * kMiB));
  EXPECT_THAT(sizes_of("beyond-last-level", "stream", stream_fields("copy"), context), ElementsAre(kGiB));
  EXPECT_THAT(sizes_of("beyond-last-level", "stream", stream_fields("write"), context), ElementsAre(2 * kGiB));
  ASSERT_EQ(notes.size(), 1u) << "2 GiB an array is worth a word, once";
  EXPECT_THAT(notes[0], HasSubstr("stream arrays take 2 GiB each to leave a last level of 384 MiB"));
}

TEST(Sizes, OfASmallCacheAre64MiB) {
  EXPECT_THAT(sizes_of("beyond-last-level", "stream", stream_fields("triad"), {8 * kMiB, nullptr}), ElementsAre(64 * kMiB));
}

TEST(Sizes, ASweepDoublesFromInsideTheFirstLevelToWhereHalfOfTheMemoryEnds) {
  std::vector<std::string> notes;
  SuiteContext context{32 * kMiB, &notes};
  context.first_level_cache_bytes = 32 * kKiB;
  context.memory_bytes = 16 * kGiB;
  context.threads = 4;
  const auto sizes = sizes_of("sweep", "stream", stream_fields("read"), context);
  ASSERT_GE(sizes.size(), 10u);
  EXPECT_EQ(sizes.front(), static_cast<std::int64_t>(16 * kKiB)) << "an eighth of four first levels of 32 KiB";
  for (std::size_t i = 1; i < sizes.size(); ++i) EXPECT_EQ(sizes[i], 2 * sizes[i - 1]);
  // The array and the host's copy of it are two: four times 2 GiB are half of 16 GiB and a little, for the sums of a read.
  EXPECT_THAT(sizes.back(), testing::AnyOf(2 * kGiB, 4 * kGiB));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("the sweep of stream read f64 ends at"));
  EXPECT_THAT(notes[0], HasSubstr("instead of 32 GiB"));
}

TEST(Sizes, ASweepPassesTwiceTheFastMemoryOfAKnightsLandingAndEndsThere) {
  std::vector<std::string> notes;
  SuiteContext context{32 * kMiB, &notes};
  context.first_level_cache_bytes = 32 * kKiB;
  context.memory_bytes = std::uint64_t{1} << 40;
  EXPECT_EQ(sizes_of("sweep", "chase", {}, context).back(), static_cast<std::int64_t>(32 * kGiB));
  EXPECT_EQ(sizes_of("sweep", "stream", stream_fields("copy"), context).back(), static_cast<std::int64_t>(16 * kGiB));
  EXPECT_THAT(notes, testing::IsEmpty());
}

TEST(Sizes, AChaseIsOfOneThreadWhateverTheRunHas) {
  SuiteContext context{32 * kMiB, nullptr};
  context.first_level_cache_bytes = 32 * kKiB;
  context.threads = 64;
  const auto chase = sizes_of("sweep", "chase", {}, context);
  EXPECT_EQ(chase.front(), static_cast<std::int64_t>(4 * kKiB));
  EXPECT_EQ(chase.back(), static_cast<std::int64_t>(kGiB)) << "the memory is unknown";
  EXPECT_EQ(sizes_of("sweep", "stream", stream_fields("write"), context).front(), static_cast<std::int64_t>(256 * kKiB));
}

TEST(Sizes, UnknownCachesAreAssumedAndSaid) {
  std::vector<std::string> notes;
  const SuiteContext context{0, &notes};
  EXPECT_FALSE(sizes_of("sweep", "chase", {}, context).empty());
  ASSERT_EQ(notes.size(), 2u);
  EXPECT_THAT(notes, testing::Contains(HasSubstr("32 MiB is assumed")));
  EXPECT_THAT(notes, testing::Contains(HasSubstr("32 KiB is assumed")));
}

TEST(Sizes, ASizeBeyondTheMemoryIsKeptAndSaidToBeSkipped) {
  std::vector<std::string> notes;
  SuiteContext context{384 * kMiB, &notes};
  context.memory_bytes = kGiB;
  EXPECT_THAT(sizes_of("beyond-last-level", "stream", stream_fields("triad"), context), ElementsAre(512 * kMiB));
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_THAT(notes[0], HasSubstr("it will be skipped"));
}

TEST(Sizes, FieldsThatMakeNoProblemAreRefused) {
  EXPECT_FALSE(sizes::resolve("sweep", *find_kernel("stream"), stream_fields("divide"), {}));
}

}  // namespace
}  // namespace hbmark
