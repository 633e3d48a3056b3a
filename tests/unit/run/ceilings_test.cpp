#include "bench/run/ceilings.h"

#include <gmock/gmock.h>

#include "backends/abi/kernel.h"

namespace hbmark {
namespace {

using testing::Contains;
using testing::Not;

constexpr std::uint64_t kCache = 1 << 20;
constexpr std::uint64_t kLarge = 16 << 20, kSmall = 1 << 20;

ResultRecord result(double time_s, std::optional<double> flop, std::optional<double> bytes) {
  ResultRecord r;
  r.outcome = Outcome::kOk;
  r.device = "cpu";
  r.threads = 2;
  r.time = TimeSummary{};
  r.time->median = time_s;
  r.flop = flop;
  r.bytes = bytes;
  return r;
}

Problem problem(const char* text) { return *parse_problem(text); }
const Problem kGemm = problem("gemm:f32:nn:m64n64k64");
const Problem kPeak = problem("peak:fma:f32");
const Problem kPeak64 = problem("peak:fma:f64");
const Problem kTriad = problem("stream:triad:f64:1048576");
const Problem kCopy = problem("stream:copy:f64:1048576");

CaseFacts facts(std::uint64_t bytes, std::uint32_t algorithm_class = HBMARK_ALGORITHM_DIRECT) {
  return {algorithm_class, bytes};
}

TEST(Ceilings, AreAbsentWithoutAMeasuredOne) {
  const Ceilings ceilings(kCache);
  ResultRecord r = result(1, 100, 10);
  r.ceiling_fraction = 0.5;  // whatever a worker may have said
  ceilings.apply(r, kGemm, facts(kLarge));
  EXPECT_FALSE(r.ceiling_flop_per_s);
  EXPECT_FALSE(r.ceiling_bytes_per_s);
  EXPECT_FALSE(r.ceiling_fraction);
}

TEST(Ceilings, TheBestPeakOfTheTypeCounts) {
  Ceilings ceilings(kCache);
  ceilings.learn(result(1, 200, {}), kPeak);
  ceilings.learn(result(1, 400, {}), kPeak);
  ceilings.learn(result(1, 300, {}), kPeak);
  ceilings.learn(result(1, 9e9, {}), kPeak64);
  ResultRecord r = result(1, 100, 10);
  ceilings.apply(r, kGemm, facts(kSmall));
  EXPECT_DOUBLE_EQ(*r.ceiling_flop_per_s, 400);
  EXPECT_FALSE(r.ceiling_bytes_per_s);
  EXPECT_DOUBLE_EQ(*r.ceiling_fraction, 0.25);
}

TEST(Ceilings, OtherThreadsAndDevicesDoNotCount) {
  Ceilings ceilings(kCache);
  ResultRecord peak = result(1, 400, {});
  peak.threads = 1;
  ceilings.learn(peak, kPeak);
  peak.threads = 2;
  peak.device = "cuda:0";
  ceilings.learn(peak, kPeak);
  ResultRecord r = result(1, 100, 10);
  ceilings.apply(r, kGemm, facts(kSmall));
  EXPECT_FALSE(r.ceiling_fraction);
}

TEST(Ceilings, AFailedPeakTeachesNothing) {
  Ceilings ceilings(kCache);
  ResultRecord peak = result(1, 400, {});
  peak.outcome = Outcome::kWrongResult;
  ceilings.learn(peak, kPeak);
  ResultRecord r = result(1, 100, 10);
  ceilings.apply(r, kGemm, facts(kSmall));
  EXPECT_FALSE(r.ceiling_fraction);
}

TEST(Ceilings, BandwidthBindsOnlyBeyondTheCaches) {
  Ceilings ceilings(kCache);
  ceilings.learn(result(1, 1000, {}), kPeak);
  ceilings.learn(result(1, 1, 50e6), kTriad);  // 50 MB/s
  ResultRecord r = result(1e-3, 0.5, 40e3);    // intensity 12.5e-6 flop/B: roof 625 flop/s of 1000
  ceilings.apply(r, kGemm, facts(kLarge));
  EXPECT_DOUBLE_EQ(*r.ceiling_bytes_per_s, 50e6);
  EXPECT_DOUBLE_EQ(*r.ceiling_fraction, 500.0 / 625);
  ceilings.apply(r, kGemm, facts(4 * kCache - 1));
  EXPECT_FALSE(r.ceiling_bytes_per_s);
  EXPECT_DOUBLE_EQ(*r.ceiling_fraction, 0.5);
}

TEST(Ceilings, AStreamInACacheIsNoBandwidthCeiling) {
  Ceilings ceilings(kCache);
  ceilings.learn(result(1, 1000, {}), kPeak);
  ceilings.learn(result(1e-6, 1, 3e6), kTriad);
  ResultRecord r = result(1, 500, 10);
  ceilings.apply(r, kGemm, facts(kLarge));
  EXPECT_FALSE(r.ceiling_bytes_per_s);
}

TEST(Ceilings, AStreamIsComparedWithTheBestOther) {
  Ceilings ceilings(kCache);
  ResultRecord triad = result(1, 1, 60e6);
  ceilings.apply(triad, kTriad, facts(kLarge));
  EXPECT_FALSE(triad.ceiling_fraction) << "alone it has nothing to be compared with";
  ceilings.learn(triad, kTriad);
  ResultRecord copy = result(1, 0, 45e6);
  ceilings.apply(copy, kCopy, facts(kLarge));
  EXPECT_DOUBLE_EQ(*copy.ceiling_fraction, 0.75);
  ResultRecord faster = result(1, 0, 90e6);
  ceilings.apply(faster, kCopy, facts(kLarge));
  EXPECT_DOUBLE_EQ(*faster.ceiling_fraction, 1);
  ResultRecord cached = result(1e-6, 0, 1e6);
  ceilings.apply(cached, kCopy, facts(kSmall));
  EXPECT_FALSE(cached.ceiling_fraction);
}

TEST(Ceilings, APeakHasNone) {
  Ceilings ceilings(kCache);
  ceilings.learn(result(1, 400, {}), kPeak);
  ResultRecord peak = result(1, 200, {});
  ceilings.apply(peak, kPeak, facts(0));
  EXPECT_FALSE(peak.ceiling_fraction);
}

TEST(Ceilings, AboveTheCeilingByDoingLessIsFlagged) {
  Ceilings ceilings(kCache);
  ceilings.learn(result(1, 400, {}), kPeak);
  ResultRecord winograd = result(1, 800, 10);
  ceilings.apply(winograd, kGemm, facts(kSmall, HBMARK_ALGORITHM_WINOGRAD));
  EXPECT_DOUBLE_EQ(*winograd.ceiling_fraction, 2);
  EXPECT_THAT(winograd.flags, Contains("algorithmic"));
  ResultRecord direct = result(1, 800, 10);
  ceilings.apply(direct, kGemm, facts(kSmall));
  EXPECT_THAT(direct.flags, Not(Contains("algorithmic")));
  ResultRecord below = result(1, 300, 10);
  ceilings.apply(below, kGemm, facts(kSmall, HBMARK_ALGORITHM_WINOGRAD));
  EXPECT_THAT(below.flags, Not(Contains("algorithmic")));
}

TEST(Ceilings, ABandwidthAppliesToWhateverIsCold) {
  Ceilings ceilings(kCache);
  ceilings.learn(result(1, 400, {}), kPeak);
  ResultRecord large = result(1, {}, static_cast<double>(kLarge));
  large.flags = {"cold"};
  ceilings.learn(large, kTriad);
  ResultRecord small = result(1, 100, 10);
  ceilings.apply(small, kGemm, facts(kSmall));
  EXPECT_FALSE(small.ceiling_bytes_per_s) << "a cache may hold it";
  small.flags = {"noisy", "cold"};
  ceilings.apply(small, kGemm, facts(kSmall));
  EXPECT_DOUBLE_EQ(*small.ceiling_bytes_per_s, static_cast<double>(kLarge));
  ResultRecord copy = result(1, {}, static_cast<double>(kSmall));
  copy.flags = {"cold"};
  ceilings.apply(copy, kCopy, facts(kSmall));
  EXPECT_DOUBLE_EQ(*copy.ceiling_fraction, static_cast<double>(kSmall) / static_cast<double>(kLarge));
}

}  // namespace
}  // namespace hbmark
