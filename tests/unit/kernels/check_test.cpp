// The checks find every planted fault, and nothing in what is right.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include "backends/abi/kernel.h"
#include "bench/kernels/random.h"
#include "tests/unit/kernels/naive.h"

namespace hbmark {
namespace {

using testing::HasSubstr;
using tests::Arrays;
using tests::compute;
using tests::Order;

constexpr const char* kProblems[] = {
    "gemm:f32:nn:m48n40k56",
    "gemm:f32:nt:m33n65k17",
    "gemm:f32:tn:m64n64k64",
    "gemm:f32:tt:m31n37k129",
    "gemm:f32:nn:m20n24k28/batch=3",
    "gemm:f64:tn:m33n45k50",
    "conv:fwd:f32:n3c5h9w8k6r3s3sh1sw1ph1pw1",
    "conv:bwd_data:f32:n3c5h9w8k6r3s3sh1sw1ph1pw1",
    "conv:bwd_weights:f32:n3c5h9w8k6r3s3sh1sw1ph1pw1",
    "conv:fwd:f32:n2c6h11w13k8r5s3sh2sw1ph2pw0/g=2",
    "conv:bwd_data:f32:n2c6h11w13k8r5s3sh2sw1ph2pw0/g=2",
    "conv:bwd_weights:f32:n2c6h11w13k8r5s3sh2sw1ph2pw0/g=2",
    "conv:fwd:f64:n2c3h12w10k4r3s2sh1sw3ph1pw2/dh=2/dw=3",
    "conv:bwd_data:f64:n2c3h12w10k4r3s2sh1sw3ph1pw2/dh=2/dw=3",
    "conv:bwd_weights:f64:n2c3h12w10k4r3s2sh1sw3ph1pw2/dh=2/dw=3",
    "stream:copy:f32:20000",
    "stream:scale:f64:20000",
    "stream:add:f32:20000",
    "stream:triad:f64:20000",
    "stream:triad:f32:20000",
    "stream:read:f32:20004",
    "stream:read:f64:20008",
    "stream:write:f32:20000",
    "stream:write:f64:20000",
    "chase:832",
    "chase:64000",
    "chase:4194304",
    "peak:fma:f32",
    "peak:fma:f64",
};

class Check : public testing::TestWithParam<const char*> {
 protected:
  Check() : arrays_(GetParam()) { compute(arrays_); }

  std::size_t count() const { return arrays_.outputs[0].spec.elements; }
  std::uint32_t type() const { return arrays_.outputs[0].spec.type; }
  bool is(const char* kernel, const char* op = nullptr) const {
    return arrays_.problem.kernel->name == kernel && (op == nullptr || arrays_.problem.word("op") == op);
  }
  double get(std::size_t i) {
    if (type() == HBMARK_S32) return arrays_.out<std::int32_t>()[i];
    return type() == HBMARK_F64 ? arrays_.out<double>()[i] : static_cast<double>(arrays_.out<float>()[i]);
  }
  // An integer that is no number is what the host poisons outputs with.
  void set(std::size_t i, double value) {
    if (type() == HBMARK_S32) {
      arrays_.out<std::int32_t>()[i] = std::isfinite(value) ? static_cast<std::int32_t>(std::lround(value)) : -1;
    } else if (type() == HBMARK_F64) {
      arrays_.out<double>()[i] = value;
    } else {
      arrays_.out<float>()[i] = static_cast<float>(value);
    }
  }
  void expect_swapped(std::size_t i, std::size_t j) {
    const double first = get(i), second = get(j);
    ASSERT_NE(first, second);
    set(i, second);
    set(j, first);
    expect_found("two elements swapped");
  }
  void expect_found(const std::string& fault) {
    for (const std::uint64_t seed : {1u, 2u, 3u}) {
      const auto report = arrays_.check(seed);
      EXPECT_FALSE(report.ok()) << fault << " in " << GetParam();
      EXPECT_GT(report.max_rel_error, report.tolerance) << fault;
    }
  }

  Arrays arrays_;
};

TEST_P(Check, AcceptsWhatIsRight) {
  const auto report = arrays_.check();
  EXPECT_TRUE(report.ok()) << report.first_wrong;
  const auto covered = is("stream", "read") ? static_cast<double>(arrays_.inputs[0].spec.elements)
                       : is("chase")        ? arrays_.problem.kernel->loads(arrays_.problem)
                                            : static_cast<double>(count());
  EXPECT_EQ(static_cast<double>(report.checked), covered);
  EXPECT_LE(report.max_rel_error, report.tolerance);
  EXPECT_FALSE(report.method.empty());
}

TEST_P(Check, FindsAnyOneElement) {
  // Each of many positions, off by a tenth of what an element is worth, or an integer by one.
  const double error = type() == HBMARK_S32 ? 1 : 0.1;
  const random::Stream stream(3, "positions");
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const auto i = trial == 0 ? 0 : trial == 1 ? count() - 1 : static_cast<std::size_t>(stream.below(trial, count()));
    const double right = get(i);
    set(i, right + error);
    const auto report = arrays_.check(trial);
    EXPECT_FALSE(report.ok()) << GetParam() << " element " << i;
    EXPECT_THAT(report.first_wrong, HasSubstr("expected")) << "names what stood there and what should";
    set(i, right);
  }
  EXPECT_TRUE(arrays_.check().ok());
}

TEST_P(Check, FindsZeros) {
  for (std::size_t i = 0; i < count(); ++i) set(i, 0);
  expect_found("all zeros");
}

TEST_P(Check, FindsWhatWasNotWritten) {
  set(count() / 2, std::numeric_limits<double>::quiet_NaN());
  expect_found("one NaN");
  for (std::size_t i = count() / 2; i < count(); ++i) set(i, std::numeric_limits<double>::quiet_NaN());
  expect_found("half of it NaN");
}

TEST_P(Check, FindsInfinity) {
  set(count() - 1, std::numeric_limits<double>::infinity());
  expect_found("infinity");
}

TEST_P(Check, FindsATile) {
  for (std::size_t i = count() / 3; i < std::min(count(), count() / 3 + 8); ++i) set(i, get(i) / 2 + 1.01);
  expect_found("a tile");
}

TEST_P(Check, FindsASwap) {
  if (is("peak") || is("stream", "write")) GTEST_SKIP() << "every element is the same number";
  if (count() == 2) return expect_swapped(0, 1);
  expect_swapped(1, 2);
}

TEST_P(Check, FindsThePreviousRunsOutput) {
  if (is("peak") || is("stream", "write")) GTEST_SKIP() << "every run ends at the same numbers, from NaN";
  Arrays other(GetParam(), 2);
  compute(other);
  arrays_.outputs = other.outputs;
  expect_found("the output for other inputs");
}

TEST_P(Check, FindsInputsLeftAsOutput) {
  if (arrays_.inputs.empty()) GTEST_SKIP() << "there are no inputs";
  std::memcpy(arrays_.outputs[0].bytes.data(), arrays_.inputs[0].bytes.data(),
              std::min(arrays_.outputs[0].bytes.size(), arrays_.inputs[0].bytes.size()));
  if (arrays_.problem.kernel->name == "stream" && arrays_.problem.word("op") == "copy")
    GTEST_SKIP() << "that is what copy means";
  expect_found("the first operand");
}

TEST_P(Check, SaysWhichArrayIsMissing) {
  arrays_.outputs[0].bytes.resize(arrays_.outputs[0].bytes.size() - 4);
  EXPECT_FALSE(arrays_.check().ok());
  arrays_.outputs.clear();
  EXPECT_THAT(arrays_.check().first_wrong, HasSubstr("missing"));
}

INSTANTIATE_TEST_SUITE_P(Problems, Check, testing::ValuesIn(kProblems));

TEST(GemmCheck, FindsAColumnAndTransposedOperands) {
  Arrays arrays("gemm:f32:nn:m40n40k40");
  compute(arrays);
  const auto right = arrays.outputs;
  for (int i = 0; i < 40; ++i) arrays.out()[i + 17 * 40] *= -1;
  EXPECT_FALSE(arrays.check().ok());
  for (const char* swapped : {"gemm:f32:nt:m40n40k40", "gemm:f32:tn:m40n40k40", "gemm:f32:tt:m40n40k40"}) {
    Arrays other(swapped);
    compute(other);
    arrays.outputs = other.outputs;
    EXPECT_FALSE(arrays.check().ok()) << swapped;
  }
  arrays.outputs = right;
  EXPECT_TRUE(arrays.check().ok());
}

TEST(GemmCheck, FindsOneProductOfABatch) {
  Arrays arrays("gemm:f32:nn:m8n8k8/batch=4");
  compute(arrays);
  std::memcpy(arrays.out() + 2 * 64, arrays.out() + 1 * 64, 64 * sizeof(float));
  EXPECT_THAT(arrays.check().first_wrong, HasSubstr("c[2,"));
}

TEST(GemmCheck, FindsASumThatStopsShort) {
  Arrays arrays("gemm:f32:nn:m30n30k128");
  Arrays shorter("gemm:f32:nn:m30n30k127");
  shorter.inputs[0].bytes.assign(arrays.inputs[0].bytes.begin(), arrays.inputs[0].bytes.begin() + 30 * 127 * 4);
  for (int j = 0; j < 30; ++j) std::memcpy(shorter.in<float>(1) + j * 127, arrays.in<float>(1) + j * 128, 127 * 4);
  compute(shorter);
  arrays.outputs = shorter.outputs;
  EXPECT_FALSE(arrays.check().ok());
}

TEST(GemmCheck, HoldsEightBitSumsToTheLastBit) {
  Arrays arrays("gemm:s8:nt:m30n20k50");
  const auto* a = arrays.in<std::int8_t>(0);
  const auto* b = arrays.in<std::int8_t>(1);
  auto* c = arrays.out<std::int32_t>();
  for (int i = 0; i < 30; ++i) {
    for (int j = 0; j < 20; ++j) {
      c[i + j * 30] = 0;
      for (int l = 0; l < 50; ++l) c[i + j * 30] += a[i + l * 30] * b[j + l * 20];
    }
  }
  EXPECT_TRUE(arrays.check().ok()) << arrays.check().first_wrong;
  EXPECT_EQ(arrays.check().tolerance, 0);
  EXPECT_THAT(arrays.check().method, HasSubstr("inputs from -127 to 127")) << "the range is recorded with the result";
  c[123] += 1;
  EXPECT_FALSE(arrays.check().ok());
}

TEST(GemmCheck, KnowsThatTf32IsCoarseAndF32IsNot) {
  // Inputs cut to 10 fraction bits, as tensor cores read them: right for tf32, wrong for f32.
  Arrays arrays("gemm:tf32:nn:m64n64k64");
  const auto inputs = arrays.inputs;
  for (auto& input : arrays.inputs) {
    auto* words = Arrays::data<std::uint32_t>(input);
    for (std::size_t i = 0; i < input.spec.elements; ++i) words[i] &= 0xffffe000U;
  }
  tests::naive_gemm<float>(arrays, Order::kForward);
  arrays.inputs = inputs;
  EXPECT_TRUE(arrays.check().ok()) << arrays.check().first_wrong;
  Arrays strict("gemm:f32:nn:m64n64k64");
  strict.inputs = inputs;
  strict.outputs = arrays.outputs;
  EXPECT_FALSE(strict.check().ok()) << "a library that uses TF32 where f32 was asked";
  arrays.out()[100] += 1.0F;
  EXPECT_FALSE(arrays.check().ok());
}

TEST(ConvCheck, FindsMirroredFiltersAndShiftedPadding) {
  Arrays arrays("conv:fwd:f32:n2c3h8w8k4r3s3sh1sw1ph1pw1");
  Arrays mirrored = arrays;
  float* filters = mirrored.in<float>(1);
  for (int plane = 0; plane < 12; ++plane) std::reverse(filters + plane * 9, filters + plane * 9 + 9);
  compute(mirrored);
  arrays.outputs = mirrored.outputs;
  EXPECT_FALSE(arrays.check().ok()) << "convolution for cross-correlation";
  compute(arrays);
  EXPECT_TRUE(arrays.check().ok());
  std::rotate(arrays.out(), arrays.out() + 1, arrays.out() + arrays.outputs[0].spec.elements);
  EXPECT_FALSE(arrays.check().ok());
}

TEST(ConvCheck, GivesTransformsTheirDueAndNoMore) {
  Arrays arrays("conv:fwd:f32:n2c16h8w8k16r3s3sh1sw1ph1pw1");
  compute(arrays);
  // Noise as a Winograd transform makes it, twenty times that of a direct sum.
  const random::Stream stream(1, "noise");
  for (std::size_t i = 0; i < arrays.outputs[0].spec.elements; ++i) {
    arrays.out()[i] += 2e-5F * static_cast<float>(static_cast<double>(stream.at(i) >> 11) * 0x1p-52 - 1);
  }
  arrays.out()[5] += 6e-5F;
  EXPECT_FALSE(arrays.check(7, HBMARK_ALGORITHM_DIRECT).ok());
  EXPECT_TRUE(arrays.check(7, HBMARK_ALGORITHM_WINOGRAD).ok()) << arrays.check(7, HBMARK_ALGORITHM_WINOGRAD).first_wrong;
  arrays.out()[5] += 0.05F;
  EXPECT_FALSE(arrays.check(7, HBMARK_ALGORITHM_WINOGRAD).ok());
}

TEST(ConvCheck, FindsOneElementOfALargeLayer) {
  // The projection sums 2^16 elements at each position; one that is off by a hundredth still stands out.
  Arrays arrays("conv:fwd:f32:n32c16h4w4k512r1s1sh1sw1ph0pw0");
  compute(arrays);
  EXPECT_TRUE(arrays.check().ok()) << arrays.check().first_wrong;
  for (const std::size_t i : {std::size_t{12345}, std::size_t{200001}}) {
    const float right = arrays.out()[i];
    arrays.out()[i] += 0.02F;
    EXPECT_FALSE(arrays.check().ok());
    arrays.out()[i] = right;
  }
}

TEST(StreamCheck, AReadMustHaveReadEveryElement) {
  Arrays arrays("stream:read:f64:800000");
  const auto inputs = arrays.inputs;
  auto* x = arrays.in<double>(0);
  const random::Stream stream(4, "skipped");
  for (std::uint64_t trial = 0; trial < 50; ++trial) {
    const auto i = stream.below(trial, 100000);
    x[i] = 0;  // to the sums, an element not read
    compute(arrays);
    arrays.inputs[0].bytes = inputs[0].bytes;
    EXPECT_THAT(arrays.check().first_wrong, HasSubstr("not all of x was read")) << "element " << i;
  }
  std::fill(x + 99000, x + 100000, 0.0);
  compute(arrays);
  arrays.inputs = inputs;
  EXPECT_FALSE(arrays.check().ok()) << "the last hundredth left out";
  compute(arrays);
  EXPECT_TRUE(arrays.check().ok()) << arrays.check().first_wrong;
}

TEST(ChaseCheck, TheCycleHasEveryLineForEverySize) {
  for (const std::int64_t lines : {2, 3, 4, 5, 64, 1000, 32771, 100000}) {
    Arrays arrays("chase:" + std::to_string(lines * 64), 5);
    std::vector<bool> seen(static_cast<std::size_t>(lines));
    std::int32_t line = 0;
    for (std::int64_t i = 0; i < lines; ++i) {
      ASSERT_FALSE(seen[static_cast<std::size_t>(line)]) << lines << " lines: back after " << i;
      seen[static_cast<std::size_t>(line)] = true;
      line = arrays.in<std::int32_t>(0)[line];
    }
    EXPECT_EQ(line, 0) << lines;
  }
}

TEST(ChaseCheck, RefusesAShorterCycleAndStrayIndexes) {
  Arrays arrays("chase:64000");
  auto* next = arrays.in<std::int32_t>(0);
  tests::naive_chase(arrays);
  ASSERT_TRUE(arrays.check().ok());
  const auto kept = next[0];
  next[0] = next[next[0]];  // one line left out
  tests::naive_chase(arrays);
  EXPECT_THAT(arrays.check().first_wrong, HasSubstr("comes back after 999 of 1000 lines"));
  for (const std::int32_t stray : {-1, 1000}) {
    next[0] = stray;
    EXPECT_THAT(arrays.check().first_wrong, HasSubstr("beyond the array"));
  }
  next[0] = kept;
  for (const std::int32_t stray : {-1, 1000}) {
    arrays.out<std::int32_t>()[0] = stray;
    EXPECT_THAT(arrays.check().first_wrong, HasSubstr("z[0]"));
  }
}

TEST(ChaseCheck, FindsOneLoadTooFewOrTooMany) {
  for (const char* text : {"chase:128", "chase:4096", "chase:4194304"}) {
    Arrays arrays(text);
    const auto* next = arrays.in<std::int32_t>(0);
    auto* z = arrays.out<std::int32_t>();
    tests::naive_chase(arrays, 2);
    const auto start = z[0], end = z[1];
    z[1] = next[end];
    EXPECT_FALSE(arrays.check().ok()) << text << ": one too many";
    z[1] = end;
    z[0] = next[start];
    EXPECT_FALSE(arrays.check().ok()) << text << ": one too few";
    z[0] = start;
    EXPECT_TRUE(arrays.check().ok()) << text;
    z[1] = start;
    EXPECT_FALSE(arrays.check().ok()) << text << ": none at all";
  }
}

TEST(PeakCheck, FindsChainsThatDidNotRunOrHadNoWay) {
  Arrays arrays("peak:fma:f32");
  tests::naive_peak<float>(arrays, 200);
  EXPECT_FALSE(arrays.check().ok()) << "too few steps";
  tests::naive_peak<float>(arrays, 3000);
  EXPECT_TRUE(arrays.check().ok()) << arrays.check().first_wrong;
  arrays.in<float>(0)[9] = arrays.out()[9];
  EXPECT_THAT(arrays.check().first_wrong, HasSubstr("prove nothing"));
}

}  // namespace
}  // namespace hbmark
