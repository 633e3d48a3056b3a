// The oracle itself, held against arithmetic it shares nothing with: Eigen's products and 16-bit types, values worked out by
// hand, and the identity that ties the three passes of a convolution together.
#include <gmock/gmock.h>

#include <Eigen/Core>
#include <cmath>
#include <cstring>

#include "tests/contract/driver.h"
#include "tests/contract/problems.h"

namespace hbmark::tests {
namespace {

constexpr std::uint64_t kSeed = 9;

class Reference : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_NE(find_backend("reference"), nullptr);
    session_ = std::make_unique<TestSession>(find_backend("reference"), host_);
    ASSERT_TRUE(session_->ok());
  }
  // Output of a problem for inputs given as doubles (f64) or, without, for made ones; `inputs` receives those.
  std::vector<double> solve(const char* capability, const Bytes& problem,
                            const std::vector<std::vector<double>>& given = {}) {
    TestCase c(*session_, capability, problem);
    EXPECT_TRUE(c.prepare());
    EXPECT_TRUE(c.list_operands());
    EXPECT_TRUE(c.bind_all());
    inputs_.clear();
    for (std::uint32_t i = 0; i < c.operands().size(); ++i) {
      const hbmark_operand& operand = c.operands()[i];
      if (operand.role != HBMARK_INPUT) continue;
      Bytes bytes = make_input(operand, kSeed, false);
      if (!given.empty()) {
        EXPECT_EQ(given.at(i).size() * sizeof(double), bytes.size());
        std::memcpy(bytes.data(), given[i].data(), bytes.size());
      }
      EXPECT_TRUE(c.write(i, bytes));
      inputs_.push_back(to_doubles(bytes, operand.type));
    }
    EXPECT_TRUE(c.run(1));
    Bytes out;
    EXPECT_TRUE(c.read(out));
    return to_doubles(out, c.output().type);
  }

  TestHost host_;
  std::unique_ptr<TestSession> session_;
  std::vector<std::vector<double>> inputs_;
};

TEST_F(Reference, GemmIsEigensProduct) {
  using Matrix = Eigen::MatrixXd;  // column-major
  for (std::uint32_t trans = 0; trans < 4; ++trans) {
    for (hbmark_gemm_problem p : {gemm(1, 1, 1), gemm(5, 7, 3), gemm(31, 2, 17)}) {
      p.type = HBMARK_F64, p.trans_a = trans & 1, p.trans_b = trans >> 1, p.batch = 2;
      const auto got = solve(HBMARK_GEMM_V1, to_bytes(p));
      for (std::int64_t batch = 0; batch < p.batch; ++batch) {
        const double* a = inputs_[0].data() + batch * p.m * p.k;
        const double* b = inputs_[1].data() + batch * p.k * p.n;
        const Matrix op_a = p.trans_a != 0 ? Matrix(Eigen::Map<const Matrix>(a, p.k, p.m).transpose())
                                           : Matrix(Eigen::Map<const Matrix>(a, p.m, p.k));
        const Matrix op_b = p.trans_b != 0 ? Matrix(Eigen::Map<const Matrix>(b, p.n, p.k).transpose())
                                           : Matrix(Eigen::Map<const Matrix>(b, p.k, p.n));
        const Eigen::Map<const Matrix> c(got.data() + batch * p.m * p.n, p.m, p.n);
        EXPECT_LT((c - op_a * op_b).cwiseAbs().maxCoeff(), 1e-13) << describe(p).text;
      }
    }
  }
}

TEST_F(Reference, ConvolutionByHand) {
  hbmark_conv_problem x = conv(HBMARK_CONV_FWD, 1, 1, 3, 3, 1, 2, 2);
  x.type = HBMARK_F64;
  const std::vector<double> image = {1, 2, 3, 4, 5, 6, 7, 8, 9};
  EXPECT_THAT(solve(HBMARK_CONV_V1, to_bytes(x), {image, {1, 10, 100, 1000}}), testing::ElementsAre(5421, 6532, 8754, 9865));
  x.ph = 1, x.sh = 2, x.sw = 2;  // rows -1 and 1 on top, column 0 only
  EXPECT_THAT(solve(HBMARK_CONV_V1, to_bytes(x), {image, {1, 10, 100, 1000}}), testing::ElementsAre(2100, 8754));
  x = conv(HBMARK_CONV_FWD, 1, 1, 3, 3, 1, 2, 2);
  x.type = HBMARK_F64, x.dh = 2, x.dw = 2;  // the four corners
  EXPECT_THAT(solve(HBMARK_CONV_V1, to_bytes(x), {image, {1, 10, 100, 1000}}), testing::ElementsAre(9731));
  x = conv(HBMARK_CONV_FWD, 1, 2, 1, 1, 4, 1, 1);
  x.type = HBMARK_F64, x.g = 2;  // channel 0 feeds outputs 0 and 1, channel 1 outputs 2 and 3
  EXPECT_THAT(solve(HBMARK_CONV_V1, to_bytes(x), {{3, 5}, {1, 2, 3, 4}}), testing::ElementsAre(3, 6, 15, 20));
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  EXPECT_EQ(a.size(), b.size());
  double sum = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) sum += a[i] * b[i];
  return sum;
}

// <conv(src, w), d> = <src, bwd_data(d, w)> = <w, bwd_weights(src, d)> for any src, w and d.
TEST_F(Reference, TheThreePassesOfAConvolutionAgree) {
  int checked = 0;
  for (const ContractProblem& problem : conv_kernel().problems) {
    hbmark_conv_problem x;
    std::memcpy(&x, problem.bytes.data(), sizeof x);
    if (x.pass != HBMARK_CONV_FWD || x.type != HBMARK_F64) continue;
    SCOPED_TRACE(problem.text);
    const auto dst = solve(HBMARK_CONV_V1, to_bytes(x));
    const auto src = inputs_[0];
    const auto weights = inputs_[1];
    x.pass = HBMARK_CONV_BWD_WEIGHTS;
    solve(HBMARK_CONV_V1, to_bytes(x));
    const auto d = inputs_[1];
    const double forward = dot(dst, d);
    EXPECT_NEAR(dot(weights, solve(HBMARK_CONV_V1, to_bytes(x), {src, d})), forward, 1e-9);
    x.pass = HBMARK_CONV_BWD_DATA;
    EXPECT_NEAR(dot(src, solve(HBMARK_CONV_V1, to_bytes(x), {d, weights})), forward, 1e-9);
    EXPECT_NE(forward, 0);
    ++checked;
  }
  EXPECT_GT(checked, 6);
}

// C = A b with k = 1 and b = 1 reads every 16-bit value and writes it back; other b round, ties and subnormals included.
template <class Half>
void expect_eigens_rounding(TestSession& session, std::uint32_t type) {
  hbmark_gemm_problem p = gemm(65536, 1, 1);
  p.type = type;
  int rounded = 0;
  for (const double factor : {1.0, 0.5, 0.75, 1.0 / 3, 0x1p-9, -1.0009765625, 300.0}) {
    TestCase c(session, HBMARK_GEMM_V1, to_bytes(p));
    ASSERT_TRUE(c.prepare());
    ASSERT_TRUE(c.list_operands());
    ASSERT_TRUE(c.bind_all());
    Bytes a(65536 * 2), b(2), out;
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      std::memcpy(a.data() + 2 * i, &bits, 2);
    }
    const Half narrow_factor = Half(static_cast<float>(factor));
    std::memcpy(b.data(), &narrow_factor, 2);
    ASSERT_TRUE(c.write(0, a));
    ASSERT_TRUE(c.write(1, b));
    ASSERT_TRUE(c.run(1));
    ASSERT_TRUE(c.read(out));
    for (std::uint32_t i = 0; i < 65536; ++i) {
      const auto bits = static_cast<std::uint16_t>(i);
      Half value, got;
      std::memcpy(static_cast<void*>(&value), &bits, 2);
      std::memcpy(static_cast<void*>(&got), out.data() + 2 * i, 2);
      // A product of two 11-digit numbers is exact in a float, so Eigen rounds once, as the oracle does.
      const Half want = Half(static_cast<float>(value) * static_cast<float>(narrow_factor));
      if (std::isnan(static_cast<float>(want))) {
        ASSERT_TRUE(std::isnan(static_cast<float>(got))) << i;
        continue;
      }
      rounded += static_cast<float>(want) != static_cast<float>(value) * static_cast<float>(narrow_factor) ? 1 : 0;
      std::uint16_t got_bits, want_bits;
      std::memcpy(&got_bits, &got, 2);
      std::memcpy(&want_bits, static_cast<const void*>(&want), 2);
      // 0 * -1 + 0 is +0 in a sum and -0 in a product.
      const bool both_zero = (got_bits & 0x7fff) == 0 && (want_bits & 0x7fff) == 0;
      ASSERT_TRUE(got_bits == want_bits || both_zero)
          << "bits " << i << " times " << factor << ": " << got_bits << " != " << want_bits;
    }
  }
  EXPECT_GT(rounded, 10000) << "nothing was rounded: the test tests nothing";
}

TEST_F(Reference, HalfRoundsAsEigenDoes) { expect_eigens_rounding<Eigen::half>(*session_, HBMARK_F16); }
TEST_F(Reference, BfloatRoundsAsEigenDoes) { expect_eigens_rounding<Eigen::bfloat16>(*session_, HBMARK_BF16); }

TEST_F(Reference, Tf32DropsThirteenBitsOfItsInputs) {
  hbmark_gemm_problem p = gemm(4, 1, 1);
  p.type = HBMARK_TF32;
  TestCase c(*session_, HBMARK_GEMM_V1, to_bytes(p));
  ASSERT_TRUE(c.prepare());
  ASSERT_TRUE(c.list_operands());
  ASSERT_TRUE(c.bind_all());
  // 11 significant digits: 1 + 2^-10 stays, 1 + 2^-11 is a tie (to even: 1), 1 + 3 * 2^-11 a tie (up), 1 + 2^-12 goes.
  const float a[] = {1 + 0x1p-10f, 1 + 0x1p-11f, 1 + 3 * 0x1p-11f, 1 + 0x1p-12f};
  const float one = 1;
  Bytes a_bytes(sizeof a), b_bytes(sizeof one), out;
  std::memcpy(a_bytes.data(), a, sizeof a);
  std::memcpy(b_bytes.data(), &one, sizeof one);
  ASSERT_TRUE(c.write(0, a_bytes));
  ASSERT_TRUE(c.write(1, b_bytes));
  ASSERT_TRUE(c.run(1));
  ASSERT_TRUE(c.read(out));
  EXPECT_THAT(to_doubles(out, HBMARK_F32), testing::ElementsAre(1 + 0x1p-10, 1.0, 1 + 0x1p-9, 1.0));
}

TEST_F(Reference, StreamsByHand) {
  const auto solved = [&](std::uint32_t op) {
    return solve(HBMARK_STREAM_V1, to_bytes(hbmark_stream_problem{0, op, HBMARK_F64, 0, 24, 0.5}),
                 op == HBMARK_STREAM_ADD || op == HBMARK_STREAM_TRIAD
                     ? std::vector<std::vector<double>>{{1, 2, 3}, {10, 20, 40}}
                     : std::vector<std::vector<double>>{{1, 2, 3}});
  };
  EXPECT_THAT(solved(HBMARK_STREAM_COPY), testing::ElementsAre(1, 2, 3));
  EXPECT_THAT(solved(HBMARK_STREAM_SCALE), testing::ElementsAre(0.5, 1, 1.5));
  EXPECT_THAT(solved(HBMARK_STREAM_ADD), testing::ElementsAre(11, 22, 43));
  EXPECT_THAT(solved(HBMARK_STREAM_TRIAD), testing::ElementsAre(6, 12, 23));
  EXPECT_THAT(solve(HBMARK_STREAM_V1, to_bytes(hbmark_stream_problem{0, HBMARK_STREAM_WRITE, HBMARK_F64, 0, 24, 0.5})),
              testing::Each(0.5));
  // 1.0 is 0x3ff0000000000000 and 2.0 0x4000000000000000: the low words, even ones, are 0; words 1 and 17 meet in one sum.
  const std::vector<double> x = {1, 2, 2, 2, 2, 2, 2, 2, 2};
  const auto sums =
      solve(HBMARK_STREAM_V1, to_bytes(hbmark_stream_problem{0, HBMARK_STREAM_READ, HBMARK_F64, 0, 72, 0}), {x});
  ASSERT_EQ(sums.size(), 16u);
  EXPECT_EQ(sums[0], 0);
  EXPECT_EQ(sums[1], static_cast<std::int32_t>(0x3ff00000U + 0x40000000U));
  EXPECT_EQ(sums[3], 0x40000000);
}

TEST_F(Reference, PeakComesToItsFixedPoint) {
  for (const double scale : {0.0, 0.5, -0.9, 0.999}) {
    const auto z = solve(HBMARK_PEAK_V1, to_bytes(hbmark_peak_problem{0, HBMARK_PEAK_FMA, HBMARK_F64, 0, scale, 3}));
    ASSERT_FALSE(z.empty());
    for (const double value : z) EXPECT_NEAR(value, 3 / (1 - scale), 1e-12 / (1 - std::fabs(scale)));
  }
}

}  // namespace
}  // namespace hbmark::tests
