// FLOP and bytes of ten problems a kernel, counted by hand.
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

#include "backends/abi/chase.h"
#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "bench/kernels/kernel.h"

namespace hbmark {
namespace {

struct Counted {
  const char* problem;
  double flop;
  double bytes;
};

void expect_counts(std::span<const Counted> table) {
  ASSERT_GE(table.size(), 10u);
  for (const auto& row : table) {
    const auto problem = parse_problem(row.problem);
    ASSERT_TRUE(problem) << row.problem << ": " << problem.error().why;
    EXPECT_EQ(problem->kernel->flop(*problem), row.flop) << row.problem;
    EXPECT_EQ(problem->kernel->bytes(*problem), row.bytes) << row.problem;
  }
}

TEST(Counts, Gemm) {
  // flop: m n k products, a multiplication and an addition each; bytes: (m k + k n + m n) elements.
  const Counted table[] = {
      {"gemm:f32:nn:m1n1k1", 2, 3 * 4},
      {"gemm:f32:nn:m2n3k4", 2 * (2 * 3 * 4), (8 + 12 + 6) * 4},
      {"gemm:f32:tn:m2n3k4", 2 * (2 * 3 * 4), (8 + 12 + 6) * 4},
      {"gemm:f32:tt:m10n1k7", 2 * 70, (70 + 7 + 10) * 4},
      {"gemm:f32:nt:m1024n1024k1024", 2147483648.0, 3.0 * 1048576 * 4},
      {"gemm:f32:nn:m2n3k4/batch=5", 5 * 48, 5 * 26 * 4},
      {"gemm:f64:nn:m2n3k4", 48, 26 * 8},
      {"gemm:f16:nn:m2n3k4", 48, 26 * 2},
      {"gemm:s8:nn:m2n3k4", 48, (8 + 12) * 1 + 6 * 4},
      {"gemm:bf16:nn:m5124n700k2048", 2.0 * 5124 * 700 * 2048, (5124.0 * 2048 + 2048.0 * 700 + 5124.0 * 700) * 2},
      {"gemm:tf32:nn:m2n3k4", 48, 26 * 4},
  };
  expect_counts(table);
}

TEST(Counts, Convolution) {
  // flop: n k p q c/g r s products, two each, padding counted; bytes: n c h w + k c/g r s + n k p q elements.
  const Counted table[] = {
      {"conv:fwd:f32:n1c1h1w1k1r1s1sh1sw1ph0pw0", 2, 3 * 4},
      // 4x4 input, 3x3 filter: 2x2 outputs of 9 products
      {"conv:fwd:f32:n1c1h4w4k1r3s3sh1sw1ph0pw0", 2 * 4 * 9, (16 + 9 + 4) * 4},
      // padding 1: 4x4 outputs of 9 products, those with padding counted
      {"conv:fwd:f32:n1c1h4w4k1r3s3sh1sw1ph1pw1", 2 * 16 * 9, (16 + 9 + 16) * 4},
      {"conv:bwd_data:f32:n1c1h4w4k1r3s3sh1sw1ph1pw1", 2 * 16 * 9, (16 + 9 + 16) * 4},
      {"conv:bwd_weights:f32:n1c1h4w4k1r3s3sh1sw1ph1pw1", 2 * 16 * 9, (16 + 9 + 16) * 4},
      // stride 2: (5 - 3) / 2 + 1 = 2 rows, (7 - 3) / 2 + 1 = 3 columns
      {"conv:fwd:f32:n2c3h5w7k4r3s3sh2sw2ph0pw0", 2.0 * 2 * 4 * 2 * 3 * 3 * 9, (2 * 3 * 35 + 4 * 3 * 9 + 2 * 4 * 6) * 4},
      // two groups: 2 of 4 input channels each
      {"conv:fwd:f32:n1c4h3w3k6r1s1sh1sw1ph0pw0/g=2", 2.0 * 6 * 9 * 2, (36 + 6 * 2 + 54) * 4},
      // dilation 2: the 3x3 filter covers 5x5 of 6x6: 2x2 outputs
      {"conv:fwd:f32:n1c1h6w6k1r3s3sh1sw1ph0pw0/dh=2/dw=2", 2 * 4 * 9, (36 + 9 + 4) * 4},
      // ResNet-50's first: (224 + 6 - 7) / 2 + 1 = 112
      {"conv:fwd:f32:n32c3h224w224k64r7s7sh2sw2ph3pw3", 2.0 * 32 * 64 * 112 * 112 * 3 * 49,
       (32.0 * 3 * 224 * 224 + 64 * 3 * 49 + 32.0 * 64 * 112 * 112) * 4},
      // DeepBench's first: width 700, height 161, filter 20 wide and 5 high: (161 - 5) / 2 + 1 = 79, (700 - 20) / 2 + 1 =
      // 341
      {"conv:fwd:f32:n4c1h161w700k32r5s20sh2sw2ph0pw0", 2.0 * 4 * 32 * 79 * 341 * 100,
       (4.0 * 161 * 700 + 32 * 100 + 4.0 * 32 * 79 * 341) * 4},
      {"conv:fwd:s8:n1c1h4w4k1r3s3sh1sw1ph0pw0", 2 * 4 * 9, 16 + 9 + 4 * 4},
  };
  expect_counts(table);
}

TEST(Counts, Stream) {
  // 800 bytes are 100 elements of f64 or 200 of f32; copy and scale move two arrays, add and triad three,
  // read and write one; the sums of a read are of integers and not counted, nor are the 64 bytes that hold them.
  const Counted table[] = {
      {"stream:copy:f64:800", 0, 1600},  {"stream:scale:f64:800", 100, 1600},
      {"stream:add:f64:800", 100, 2400}, {"stream:triad:f64:800", 200, 2400},
      {"stream:copy:f32:800", 0, 1600},  {"stream:scale:f32:800", 200, 1600},
      {"stream:add:f32:800", 200, 2400}, {"stream:triad:f32:800", 400, 2400},
      {"stream:read:f64:800", 0, 800},   {"stream:write:f64:800", 0, 800},
      {"stream:read:f32:800", 0, 800},   {"stream:write:f32:4", 0, 4},
      {"stream:triad:f64:8", 2, 24},     {"stream:triad:f64:268435456", 2.0 * 33554432, 3.0 * 268435456},
  };
  expect_counts(table);
}

TEST(Counts, OfAChaseAreItsLoads) {
  // A call passes every line of 64 bytes and one more; at least 32771 loads, at most 2^20 lines and one.
  struct Loads {
    const char* problem;
    double loads;
  };
  const Loads table[] = {{"chase:128", 32771},
                         {"chase:4096", 32771},
                         {"chase:32768", 32771},
                         {"chase:2097216", 32771},             // 32769 lines: 32770 would be the sum
                         {"chase:2097280", 32771},             // 32770 lines
                         {"chase:2097344", 32772},             // 32771 lines
                         {"chase:4194304", 65536 + 1},         // 4 MiB: 65536 lines
                         {"chase:6400000", 100000 + 1},        //
                         {"chase:67108864", 1048576 + 1},      // 64 MiB: 2^20 lines
                         {"chase:67108928", 1048576 + 1},      // a line more
                         {"chase:17179869184", 1048576 + 1}};  // 16 GiB
  ASSERT_GE(std::size(table), 10u);
  for (const auto& row : table) {
    const auto problem = parse_problem(row.problem).value();
    EXPECT_EQ(problem.kernel->loads(problem), row.loads) << row.problem;
    EXPECT_FALSE(problem.kernel->flop(problem).has_value());
    EXPECT_FALSE(problem.kernel->bytes(problem).has_value());
  }
}

TEST(Counts, OnlyAChaseHasLoads) {
  for (const auto* kernel : kernels()) EXPECT_EQ(kernel->loads != nullptr, kernel->name == "chase") << kernel->name;
}

TEST(Counts, OfPeakAreThePluginsToSay) {
  for (const char* text : {"peak:fma:f32", "peak:fma:f64"}) {
    const auto problem = parse_problem(text).value();
    EXPECT_FALSE(problem.kernel->flop(problem).has_value());
    EXPECT_FALSE(problem.kernel->bytes(problem).has_value());
    EXPECT_EQ(problem.kernel->operands(problem)[0].elements, 0u);
  }
}

template <class T>
T abi(const char* text) {
  const auto problem = parse_problem(text).value();
  const auto bytes = problem.kernel->to_abi(problem);
  T out{};
  EXPECT_EQ(bytes.size(), sizeof(T));
  std::memcpy(&out, bytes.data(), std::min(bytes.size(), sizeof(T)));
  EXPECT_EQ(out.struct_size, sizeof(T));
  return out;
}

TEST(AbiStruct, Gemm) {
  const auto got = abi<hbmark_gemm_problem>("gemm:f32:tn:m2n3k4/batch=5");
  EXPECT_EQ(got.type, static_cast<unsigned>(HBMARK_F32));
  EXPECT_EQ(got.trans_a, 1u);
  EXPECT_EQ(got.trans_b, 0u);
  EXPECT_EQ(got.m, 2);
  EXPECT_EQ(got.n, 3);
  EXPECT_EQ(got.k, 4);
  EXPECT_EQ(got.batch, 5);
  EXPECT_EQ(abi<hbmark_gemm_problem>("gemm:tf32:nt:m2n3k4").type, static_cast<unsigned>(HBMARK_TF32));
  EXPECT_EQ(abi<hbmark_gemm_problem>("gemm:f32:nt:m2n3k4").trans_b, 1u);
}

TEST(AbiStruct, Convolution) {
  const auto got = abi<hbmark_conv_problem>("conv:bwd_weights:f64:n2c4h30w40k6r3s5sh1sw2ph7pw8/g=2/dh=3/dw=4");
  EXPECT_EQ(got.type, static_cast<unsigned>(HBMARK_F64));
  EXPECT_EQ(got.pass, static_cast<unsigned>(HBMARK_CONV_BWD_WEIGHTS));
  const std::int64_t numbers[] = {got.n,  got.c,  got.h,  got.w,  got.k, got.r,  got.s,
                                  got.sh, got.sw, got.ph, got.pw, got.g, got.dh, got.dw};
  const std::int64_t expected[] = {2, 4, 30, 40, 6, 3, 5, 1, 2, 7, 8, 2, 3, 4};
  for (std::size_t i = 0; i < std::size(numbers); ++i) EXPECT_EQ(numbers[i], expected[i]) << i;
}

TEST(AbiStruct, ReadWriteAndChase) {
  EXPECT_EQ(abi<hbmark_stream_problem>("stream:read:f32:4096").op, static_cast<unsigned>(HBMARK_STREAM_READ));
  EXPECT_EQ(abi<hbmark_stream_problem>("stream:write:f64:4096").op, static_cast<unsigned>(HBMARK_STREAM_WRITE));
  const auto chase = abi<hbmark_chase_problem>("chase:4194304");
  EXPECT_EQ(chase.array_bytes, 4194304u);
  EXPECT_EQ(chase.loads, 65537u);
}

TEST(AbiStruct, StreamAndPeak) {
  const auto stream = abi<hbmark_stream_problem>("stream:add:f32:4096");
  EXPECT_EQ(stream.op, static_cast<unsigned>(HBMARK_STREAM_ADD));
  EXPECT_EQ(stream.type, static_cast<unsigned>(HBMARK_F32));
  EXPECT_EQ(stream.array_bytes, 4096u);
  EXPECT_NE(stream.scalar, 0);
  const auto peak = abi<hbmark_peak_problem>("peak:fma:f64");
  EXPECT_EQ(peak.op, static_cast<unsigned>(HBMARK_PEAK_FMA));
  EXPECT_EQ(peak.type, static_cast<unsigned>(HBMARK_F64));
  EXPECT_LT(peak.scale, 1);
  EXPECT_GT(std::abs(peak.offset / (1 - peak.scale)), 1.1) << "a fixed point among the inputs would prove nothing";
}

}  // namespace
}  // namespace hbmark
