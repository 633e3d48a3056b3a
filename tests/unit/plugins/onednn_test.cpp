// The onednn plugin against plain loops in double: every pass, odd shapes, layouts, types; and how it says no.
#include <gmock/gmock.h>

#include <array>
#include <bit>
#include <cmath>

#include "backends/onednn/knights.h"
#include "onednn_plain_loops.h"
#include "plugin_host.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

hbmark_gemm_problem gemm(std::uint32_t type, bool ta, bool tb, std::int64_t m, std::int64_t n, std::int64_t k,
                         std::int64_t batch = 1) {
  return {sizeof(hbmark_gemm_problem), type, ta ? 1u : 0u, tb ? 1u : 0u, m, n, k, batch};
}

std::vector<double> widen(const std::vector<float>& values) { return {values.begin(), values.end()}; }

// Absolute, for values in [-1, 1): a sum of `terms` rounded to f32; Winograd's transforms lose more.
double f32_tolerance(std::int64_t terms, std::uint32_t algorithm_class) {
  const double factor = algorithm_class == HBMARK_ALGORITHM_WINOGRAD ? 64 : 2;
  return factor * 6e-8 * (static_cast<double>(terms) + 4);
}

void expect_near(const std::vector<float>& got, const std::vector<double>& expected, double tolerance,
                 const std::string& what) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (std::size_t i = 0; i < got.size(); ++i) {
    ASSERT_NEAR(got[i], expected[i], tolerance) << what << " at " << i << " of " << got.size();
  }
}

// Every candidate of a problem with two inputs, run three times (outputs must be as one call leaves them).
void check_all_candidates(const OpenSession& session, const char* id, const void* problem, std::int64_t terms,
                          const std::vector<float>& first, const std::vector<float>& second,
                          const std::vector<double>& expected) {
  OpenCase c(session, id, problem);
  const std::vector<hbmark_candidate> candidates = c.candidates();
  ASSERT_FALSE(candidates.empty());
  for (std::uint32_t i = 0; i < candidates.size(); ++i) {
    c.select(i);
    c.bind_all();
    c.write(0, first);
    c.write(1, second);
    c.run(3);
    const hbmark_case_info info = c.info();
    const std::string what = std::string(candidates[i].name) + ": " + info.implementation + ", " + info.layout;
    EXPECT_STRNE(info.implementation, "");
    EXPECT_STRNE(info.isa, "");
    const double tolerance = f32_tolerance(terms, info.algorithm_class);
    expect_near(c.read<float>(2), expected, tolerance, what);
    if (info.has_conversion != 0) {
      c.convert(2);
      c.run(1);
      expect_near(c.read<float>(2), expected, tolerance, what + " after convert");
    } else {
      hbmark_status status = empty_status();
      EXPECT_EQ(c.kernel->convert(c.handle, 1, &status), HBMARK_INVALID);
    }
  }
}

class Onednn : public ::testing::Test {
 protected:
  PluginHost host_;
  OpenSession session_{host_, plugin("onednn")};
};

TEST_F(Onednn, GemmMatchesPlainLoops) {
  const std::array<std::array<std::int64_t, 3>, 9> shapes = {{{1, 1, 1},
                                                              {1, 7, 5},
                                                              {9, 1, 3},
                                                              {5, 6, 1},
                                                              {17, 33, 65},
                                                              {64, 64, 64},
                                                              {100, 3, 257},
                                                              {2, 130, 31},
                                                              {127, 129, 128}}};
  for (const auto& [m, n, k] : shapes) {
    for (const int transposed : {0, 1, 2, 3}) {
      const hbmark_gemm_problem problem = gemm(HBMARK_F32, (transposed & 1) != 0, (transposed & 2) != 0, m, n, k);
      const std::vector<float> a = random_floats(static_cast<std::size_t>(m * k), 1);
      const std::vector<float> b = random_floats(static_cast<std::size_t>(k * n), 2);
      SCOPED_TRACE(::testing::Message() << m << " " << n << " " << k << " transposed " << transposed);
      check_all_candidates(session_, HBMARK_GEMM_V1, &problem, k, a, b, naive_gemm(problem, widen(a), widen(b)));
    }
  }
}

TEST_F(Onednn, GemmMatchesPlainLoopsInBatches) {
  for (const int transposed : {0, 1, 2, 3}) {
    const hbmark_gemm_problem problem = gemm(HBMARK_F32, (transposed & 1) != 0, (transposed & 2) != 0, 13, 9, 21, 5);
    const std::vector<float> a = random_floats(13 * 21 * 5, 1);
    const std::vector<float> b = random_floats(21 * 9 * 5, 2);
    SCOPED_TRACE(transposed);
    check_all_candidates(session_, HBMARK_GEMM_V1, &problem, 21, a, b, naive_gemm(problem, widen(a), widen(b)));
  }
}

// n c h w k r s  sh sw ph pw  g dh dw
const std::int64_t kConvolutions[][14] = {
    {1, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 1, 1, 1},      // the least there is
    {2, 3, 12, 13, 5, 3, 3, 1, 1, 1, 1, 1, 1, 1},    // channels that fill no block
    {1, 16, 14, 14, 32, 3, 3, 1, 1, 1, 1, 1, 1, 1},  // Winograd's home
    {2, 64, 9, 9, 64, 3, 3, 1, 1, 1, 1, 1, 1, 1},   {2, 19, 7, 8, 23, 1, 1, 1, 1, 0, 0, 1, 1, 1},  // 1x1
    {1, 32, 9, 9, 16, 1, 1, 2, 2, 0, 0, 1, 1, 1},                                                  // 1x1 with stride
    {1, 3, 27, 31, 8, 7, 7, 2, 2, 3, 3, 1, 1, 1},                                                  // a first layer
    {1, 4, 10, 15, 6, 2, 5, 3, 2, 0, 2, 1, 1, 1},   // asymmetric in everything, stride leaves rows over
    {1, 4, 11, 9, 6, 5, 1, 1, 3, 4, 0, 1, 1, 1},    // padding wider than half the filter
    {1, 8, 9, 9, 12, 3, 3, 1, 1, 1, 1, 4, 1, 1},    // groups
    {2, 16, 8, 8, 16, 3, 3, 1, 1, 1, 1, 16, 1, 1},  // depthwise
    {1, 5, 17, 15, 7, 3, 3, 1, 1, 2, 3, 1, 2, 3},   // dilated, otherwise in each direction
    {1, 6, 16, 16, 4, 3, 3, 2, 1, 2, 2, 2, 2, 2},   // groups, stride and dilation
};

hbmark_conv_problem conv(std::uint32_t type, std::uint32_t pass, const std::int64_t (&x)[14]) {
  return {sizeof(hbmark_conv_problem),
          type,
          pass,
          0,
          x[0],
          x[1],
          x[2],
          x[3],
          x[4],
          x[5],
          x[6],
          x[7],
          x[8],
          x[9],
          x[10],
          x[11],
          x[12],
          x[13]};
}

TEST_F(Onednn, ConvolutionMatchesPlainLoopsInAllPasses) {
  for (const auto& row : kConvolutions) {
    for (const std::uint32_t pass : {HBMARK_CONV_FWD, HBMARK_CONV_BWD_DATA, HBMARK_CONV_BWD_WEIGHTS}) {
      const hbmark_conv_problem problem = conv(HBMARK_F32, pass, row);
      const ConvSizes sizes = sizes_of(problem);
      const std::vector<float> first = random_floats(pass == HBMARK_CONV_BWD_DATA ? sizes.dst : sizes.src, 1);
      const std::vector<float> second = random_floats(pass == HBMARK_CONV_BWD_WEIGHTS ? sizes.dst : sizes.weights, 2);
      const std::size_t outputs = pass == HBMARK_CONV_FWD        ? sizes.dst
                                  : pass == HBMARK_CONV_BWD_DATA ? sizes.src
                                                                 : sizes.weights;
      std::int64_t products = 0;
      each_product(problem, [&](std::size_t, std::size_t, std::size_t) { ++products; });
      // Not every output has equally many terms; the most is at hand by the filter or the image.
      const std::int64_t terms = pass == HBMARK_CONV_FWD        ? problem.c / problem.g * problem.r * problem.s
                                 : pass == HBMARK_CONV_BWD_DATA ? problem.k / problem.g * problem.r * problem.s
                                                                : products / static_cast<std::int64_t>(outputs) * 2;
      SCOPED_TRACE(::testing::Message() << "convolution " << &row - kConvolutions << " pass " << pass);
      check_all_candidates(session_, HBMARK_CONV_V1, &problem, terms, first, second,
                           naive_conv(problem, widen(first), widen(second)));
    }
  }
}

TEST_F(Onednn, ReportsLayoutsAndConversions) {
  const hbmark_conv_problem problem = conv(HBMARK_F32, HBMARK_CONV_FWD, kConvolutions[3]);
  const OpenCase c(session_, HBMARK_CONV_V1, &problem);
  const hbmark_case_info info = c.info();
  EXPECT_THAT(info.layout, HasSubstr("src nchw"));
  EXPECT_THAT(info.layout, HasSubstr("weights oihw"));
  EXPECT_THAT(info.layout, HasSubstr("dst nchw"));
  const bool converts =
      std::string(info.layout).find("->") != std::string::npos || std::string(info.layout).find("<-") != std::string::npos;
  EXPECT_EQ(info.has_conversion != 0, converts) << info.layout;
  EXPECT_EQ(info.has_conversion, 1u) << "64 channels are blocked by every CPU oneDNN: " << info.layout;
}

TEST_F(Onednn, RecordsLibraryRuntimeAndInstructionSet) {
  const hbmark_info info = session_.describe();
  EXPECT_THAT(info.library, StartsWith("oneDNN "));
  EXPECT_STREQ(info.runtime, "OpenMP");
  EXPECT_THAT(std::string(info.isa), Not(StartsWith("isa 0x"))) << "an instruction set without a name";
  EXPECT_STRNE(info.isa, "");
}

std::uint16_t to_bf16(float value) { return static_cast<std::uint16_t>(std::bit_cast<std::uint32_t>(value) >> 16); }
float from_bf16(std::uint16_t value) { return std::bit_cast<float>(static_cast<std::uint32_t>(value) << 16); }

// A type is either unsupported, with a reason, or right.
TEST_F(Onednn, HalfPrecisionIsRightOrUnsupportedWithAReason) {
  const hbmark_gemm_problem problem = gemm(HBMARK_BF16, false, true, 33, 17, 40);
  const hbmark_status status = session_.supports(HBMARK_GEMM_V1, &problem);
  if (status.code != HBMARK_OK) {
    EXPECT_EQ(status.code, HBMARK_UNSUPPORTED);
    EXPECT_THAT(status.message, HasSubstr("bf16"));
    return;
  }
  std::vector<std::uint16_t> a, b;
  for (const float value : random_floats(33 * 40, 1)) a.push_back(to_bf16(value));
  for (const float value : random_floats(17 * 40, 2)) b.push_back(to_bf16(value));
  std::vector<double> da, db;
  for (const std::uint16_t value : a) da.push_back(from_bf16(value));
  for (const std::uint16_t value : b) db.push_back(from_bf16(value));
  OpenCase c(session_, HBMARK_GEMM_V1, &problem);
  const std::vector<double> expected = naive_gemm(problem, da, db);
  for (std::uint32_t i = 0; i < c.candidates().size(); ++i) {
    c.select(i);
    c.bind_all();
    c.write(0, a);
    c.write(1, b);
    c.run(1);
    const std::vector<std::uint16_t> got = c.read<std::uint16_t>(2);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t at = 0; at < got.size(); ++at) {
      ASSERT_NEAR(from_bf16(got[at]), expected[at], 1.0 / 128 * std::fabs(expected[at]) + 1e-4) << c.info().implementation;
    }
  }
}

TEST_F(Onednn, EightBitIsExactOrUnsupportedWithAReason) {
  const hbmark_gemm_problem problem = gemm(HBMARK_S8, false, false, 19, 12, 70);
  const hbmark_status status = session_.supports(HBMARK_GEMM_V1, &problem);
  if (status.code != HBMARK_OK) {
    EXPECT_EQ(status.code, HBMARK_UNSUPPORTED);
    EXPECT_THAT(status.message, HasSubstr("s8"));
    return;
  }
  std::vector<std::int8_t> a(19 * 70), b(70 * 12);
  for (std::size_t i = 0; i < a.size(); ++i) a[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 256) - 128);
  for (std::size_t i = 0; i < b.size(); ++i) b[i] = static_cast<std::int8_t>(static_cast<int>(i * 91 % 256) - 128);
  OpenCase c(session_, HBMARK_GEMM_V1, &problem);
  const std::vector<double> expected = naive_gemm(problem, {a.begin(), a.end()}, {b.begin(), b.end()});
  for (std::uint32_t i = 0; i < c.candidates().size(); ++i) {
    c.select(i);
    c.bind_all();
    c.write(0, a);
    c.write(1, b);
    c.run(1);
    const std::vector<std::int32_t> got = c.read<std::int32_t>(2);
    ASSERT_EQ(got.size(), expected.size());
    for (std::size_t at = 0; at < got.size(); ++at) ASSERT_EQ(got[at], expected[at]) << c.info().implementation;
  }
}

TEST_F(Onednn, EightBitConvolutionIsExactOrUnsupported) {
  const hbmark_conv_problem problem = conv(HBMARK_S8, HBMARK_CONV_FWD, kConvolutions[2]);
  if (session_.supports(HBMARK_CONV_V1, &problem).code != HBMARK_OK) {
    EXPECT_THAT(session_.supports(HBMARK_CONV_V1, &problem).message, HasSubstr("s8"));
    return;
  }
  const ConvSizes sizes = sizes_of(problem);
  std::vector<std::int8_t> src(sizes.src), weights(sizes.weights);
  for (std::size_t i = 0; i < src.size(); ++i) src[i] = static_cast<std::int8_t>(static_cast<int>(i * 37 % 256) - 128);
  for (std::size_t i = 0; i < weights.size(); ++i)
    weights[i] = static_cast<std::int8_t>(static_cast<int>(i * 91 % 256) - 128);
  OpenCase c(session_, HBMARK_CONV_V1, &problem);
  c.bind_all();
  c.write(0, src);
  c.write(1, weights);
  c.run(1);
  const std::vector<double> expected = naive_conv(problem, {src.begin(), src.end()}, {weights.begin(), weights.end()});
  const std::vector<std::int32_t> got = c.read<std::int32_t>(2);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t at = 0; at < got.size(); ++at) ASSERT_EQ(got[at], expected[at]) << c.info().implementation;
}

template <class Problem>
std::string reason(const OpenSession& session, const char* id, const Problem& problem) {
  const hbmark_status status = session.supports(id, &problem);
  EXPECT_EQ(status.code, HBMARK_UNSUPPORTED) << status.message;
  hbmark_case* c = nullptr;
  hbmark_status prepared = empty_status();
  EXPECT_EQ(session.kernel(id)->prepare(session.handle, &problem, &c, &prepared), HBMARK_UNSUPPORTED);
  EXPECT_EQ(c, nullptr);
  return status.message;
}

TEST_F(Onednn, SaysWhyAProblemIsUnsupported) {
  const auto gemm_reason = [&](const hbmark_gemm_problem& p) { return reason(session_, HBMARK_GEMM_V1, p); };
  EXPECT_THAT(gemm_reason(gemm(HBMARK_F64, false, false, 8, 8, 8)), HasSubstr("f64"));
  EXPECT_THAT(gemm_reason(gemm(HBMARK_TF32, false, false, 8, 8, 8)), HasSubstr("tf32"));
  EXPECT_THAT(gemm_reason(gemm(HBMARK_S32, false, false, 8, 8, 8)), HasSubstr("s32"));
  EXPECT_THAT(gemm_reason(gemm(77, false, false, 8, 8, 8)), HasSubstr("type 77"));
  EXPECT_THAT(gemm_reason(gemm(HBMARK_F32, false, false, 0, 8, 8)), HasSubstr("at least 1"));
  EXPECT_THAT(gemm_reason(gemm(HBMARK_F32, false, false, std::int64_t{1} << 40, std::int64_t{1} << 40, 8)),
              HasSubstr("63 bits"));
  const auto conv_reason = [&](auto change) {
    hbmark_conv_problem problem = conv(HBMARK_F32, HBMARK_CONV_FWD, kConvolutions[1]);
    change(problem);
    return reason(session_, HBMARK_CONV_V1, problem);
  };
  EXPECT_THAT(conv_reason([](auto& p) { p.pass = 9; }), HasSubstr("pass 9"));
  EXPECT_THAT(conv_reason([](auto& p) { p.g = 2; }), HasSubstr("2 groups"));
  EXPECT_THAT(conv_reason([](auto& p) { p.r = 50; }), HasSubstr("output is empty"));
  EXPECT_THAT(conv_reason([](auto& p) { p.sh = -1; }), HasSubstr("at least 1"));
  EXPECT_THAT(conv_reason([](auto& p) { p.ph = -1; }), HasSubstr("padding"));
  EXPECT_THAT(conv_reason([](auto& p) { p.type = HBMARK_S8, p.pass = HBMARK_CONV_BWD_DATA; }), HasSubstr("s8"));
}

TEST_F(Onednn, EndsWhenCancelledAndRefusesAnUnknownDevice) {
  const hbmark_gemm_problem problem = gemm(HBMARK_F32, false, false, 8, 8, 8);
  OpenCase c(session_, HBMARK_GEMM_V1, &problem);
  c.bind_all();
  c.write(0, random_floats(64, 1));
  c.write(1, random_floats(64, 2));
  host_.cancel = true;
  hbmark_status status = empty_status();
  EXPECT_EQ(c.kernel->run(c.handle, UINT64_MAX, &status), HBMARK_CANCELLED);
  hbmark_session* none = nullptr;
  EXPECT_EQ(plugin("onednn")->open(host_.table(), "gpu:0", &none, &status), HBMARK_UNAVAILABLE);
  EXPECT_THAT(status.message, HasSubstr("gpu:0"));
}

TEST(OnednnMemory, GivesEveryBufferBackEvenWhenConversionFindsNone) {
  PluginHost host;
  {
    const OpenSession session(host, plugin("onednn"));
    const hbmark_conv_problem problem = conv(HBMARK_F32, HBMARK_CONV_FWD, kConvolutions[3]);
    OpenCase c(session, HBMARK_CONV_V1, &problem);
    c.bind_all();
    c.write(0, random_floats(sizes_of(problem).src, 1));
    c.write(1, random_floats(sizes_of(problem).weights, 2));
    host.refuse_above_bytes = 64;
    hbmark_status status = empty_status();
    EXPECT_EQ(c.kernel->convert(c.handle, 1, &status), HBMARK_OUT_OF_MEMORY);
    EXPECT_STREQ(status.message, "refused by the test");
    host.refuse_above_bytes = UINT64_MAX;
    c.run(1);
    c.convert(1);
    EXPECT_GT(host.live_allocations, 3);
  }
  EXPECT_EQ(host.live_allocations, 0);
}

TEST(OnednnKnights, WarnsOnAXeonPhiWithoutItsKernelsAndNowhereElse) {
  const sdk::CpuIdentity landing{"Intel(R) Xeon Phi(TM) CPU 7210", 6, 0x57}, mill{"", 6, 0x85}, skylake{"", 6, 0x55};
  EXPECT_THAT(onednn::knights_warning(landing, "oneDNN 2.6.3", "avx2"),
              ::testing::AllOf(HasSubstr("oneDNN 2.6.3 runs avx2"), HasSubstr("2.5.4"), HasSubstr("HBMARK_ONEDNN_ROOT")));
  EXPECT_NE(onednn::knights_warning(mill, "oneDNN 3.7.2", "avx2"), "");
  EXPECT_EQ(onednn::knights_warning(landing, "oneDNN 2.0.0", "avx512_mic"), "");
  EXPECT_EQ(onednn::knights_warning(mill, "oneDNN 2.5.4", "avx512_mic_4ops"), "");
  EXPECT_EQ(onednn::knights_warning(skylake, "oneDNN 2.6.3", "avx2"), "");
  EXPECT_LT(onednn::knights_warning(landing, "oneDNN 2.6.3", "avx2").size(), sizeof(hbmark_info::warning));
}

}  // namespace
}  // namespace hbmark::tests
