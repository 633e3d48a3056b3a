#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/abi/kernel.h"
#include "bench/kernels/check.h"
#include "bench/kernels/random.h"

namespace hbmark {
namespace {

HostArray filled(std::string_view name, std::uint32_t type, std::uint64_t elements, std::uint64_t seed = 1) {
  HostArray array{{name, type, elements, false}, {}};
  fill_random(array, seed);
  return array;
}

TEST(FillRandom, GivesTheSameDataEverywhere) {
  // SplitMix64's mixer written out again; the numbers below were made by it once and must never change.
  const auto array = filled("a", HBMARK_F32, 5);
  const auto again = filled("a", HBMARK_F32, 5);
  EXPECT_EQ(array.bytes, again.bytes);
  EXPECT_EQ(random::mix(1), 0x5692161d100b05e5ULL);
  const auto longer = filled("a", HBMARK_F32, 1001);
  EXPECT_EQ(0, std::memcmp(array.bytes.data(), longer.bytes.data(), array.bytes.size())) << "a longer array starts alike";
}

TEST(FillRandom, DiffersBySeedAndName) {
  const auto a = filled("a", HBMARK_F32, 100);
  EXPECT_NE(a.bytes, filled("b", HBMARK_F32, 100).bytes);
  EXPECT_NE(a.bytes, filled("a", HBMARK_F32, 100, 2).bytes);
}

class FillRandomOf : public testing::TestWithParam<std::uint32_t> {};

TEST_P(FillRandomOf, IsUniformAndNeverZero) {
  constexpr std::uint64_t kCount = 100003;  // odd: the last block is partial
  const auto array = filled("x", GetParam(), kCount);
  ASSERT_EQ(array.bytes.size(), kCount * element_bytes(GetParam()));
  std::vector<double> values(kCount);
  check::load(array, 0, kCount, values.data());
  double sum = 0, squares = 0, neighbours = 0;
  for (std::uint64_t i = 0; i < kCount; ++i) {
    ASSERT_NE(values[i], 0);
    ASSERT_LT(std::abs(values[i]), 1);
    sum += values[i];
    squares += values[i] * values[i];
    if (i > 0) neighbours += values[i] * values[i - 1];
  }
  // Five standard deviations of the mean (1/sqrt(3 N)), the variance (sqrt(4/45 N)) and the lag-1 product (1/(3 sqrt N)).
  EXPECT_NEAR(sum / kCount, 0, 5 / std::sqrt(3.0 * kCount));
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 5 * std::sqrt(4.0 / 45 / kCount));
  EXPECT_NEAR(neighbours / kCount, 0, 5 / (3 * std::sqrt(1.0 * kCount)));
}
INSTANTIATE_TEST_SUITE_P(Types, FillRandomOf, testing::Values(HBMARK_F32, HBMARK_F64, HBMARK_F16, HBMARK_BF16, HBMARK_TF32));

TEST(FillRandom, KeepsIntegersInTheRecordedRange) {
  for (const std::uint32_t type : {HBMARK_S8, HBMARK_U8}) {
    const auto array = filled("x", type, 100000);
    const auto range = integer_range(type);
    int low = 1000, high = -1000;
    for (std::uint64_t i = 0; i < array.spec.elements; ++i) {
      const int value = static_cast<int>(check::at(array, i));
      low = std::min(low, value);
      high = std::max(high, value);
    }
    EXPECT_EQ(low, range.low);
    EXPECT_EQ(high, range.high);
  }
  EXPECT_EQ(integer_range(HBMARK_S8).low, -127);
  EXPECT_EQ(integer_range(HBMARK_S8).high, 127);
  EXPECT_EQ(integer_range(HBMARK_U8).high, 126);
}

TEST(RandomStream, BelowIsInRangeAndEven) {
  const random::Stream stream(5, "below");
  std::vector<int> counts(7);
  for (std::uint64_t i = 0; i < 70000; ++i) {
    const auto value = stream.below(i, 7);
    ASSERT_LT(value, 7u);
    ++counts[value];
  }
  for (const int count : counts) EXPECT_NEAR(count, 10000, 500);
  EXPECT_LT(stream.below(3, std::uint64_t{1} << 63), std::uint64_t{1} << 63);
}

TEST(RandomSigns, AreBalanced) {
  double sum = 0;
  for (const double sign : random::signs(1, "s", 100000)) {
    ASSERT_EQ(std::abs(sign), 1);
    sum += sign;
  }
  EXPECT_LT(std::abs(sum), 5 * std::sqrt(100000.0));
}

TEST(Kernels, AreSortedCompleteAndTellTheTruth) {
  ASSERT_GE(kernels().size(), 5u);
  for (std::size_t i = 0; i < kernels().size(); ++i) {
    const auto& kernel = *kernels()[i];
    if (i > 0) {
      EXPECT_LT(kernels()[i - 1]->name, kernel.name);
    }
    EXPECT_EQ(find_kernel(kernel.name), &kernel);
    const auto example = parse_problem(kernel.example);
    ASSERT_TRUE(example) << kernel.example;
    EXPECT_EQ(to_string(*example), kernel.example);
    EXPECT_EQ(kernel.capability, "hbmark." + std::string(kernel.name) + "/1");
  }
  EXPECT_EQ(find_kernel("chess"), nullptr);
}

}  // namespace
}  // namespace hbmark
