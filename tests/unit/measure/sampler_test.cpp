// Sampling against scripted clocks: what it decides, what it spends, what it says.
#include "bench/measure/sampler.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <limits>
#include <random>
#include <thread>

namespace hbmark {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

// A device whose clock is a script: seconds of call number i.
struct ScriptedDevice {
  std::function<double(std::int64_t call)> call_s;
  std::int64_t calls = 0;
  std::vector<std::int64_t> asked = {};
  double total_s = 0;

  Result<double> run(std::int64_t count) {
    asked.push_back(count);
    double sum = 0;
    for (std::int64_t i = 0; i < count; ++i) sum += call_s(calls++);
    total_s += sum;
    return sum;
  }
};

SamplingOptions device_options() {
  SamplingOptions options;
  options.device_clock = true;
  return options;
}

Result<Measurement> sample_device(ScriptedDevice& device, const SamplingOptions& options) {
  return sample([&](std::int64_t calls) { return device.run(calls); }, options, nullptr);
}

std::function<double(std::int64_t)> noisy(double call_s, double level) {
  return [=, random = std::mt19937_64(4), normal = std::normal_distribution<double>()](std::int64_t) mutable {
    return call_s * std::max(0.01, 1 + level * normal(random));
  };
}

TEST(Sampler, QuietCallsStopAtTenSamples) {
  ScriptedDevice device{noisy(5e-3, 0.002)};
  const auto measured = sample_device(device, device_options());
  ASSERT_TRUE(measured) << measured.error().why;
  EXPECT_EQ(measured->samples.size(), 10u);
  EXPECT_EQ(measured->summary.samples, 10);
  EXPECT_EQ(measured->summary.calls_per_sample, 1);
  EXPECT_EQ(measured->stopped_by, "precision");
  EXPECT_THAT(measured->flags, IsEmpty());
  EXPECT_NEAR(measured->summary.median, 5e-3, 5e-5);
  EXPECT_LE(*measured->summary.ci_low, measured->summary.median);
  EXPECT_GE(*measured->summary.ci_high, measured->summary.median);
  EXPECT_EQ(measured->summary.min, *std::min_element(measured->samples.begin(), measured->samples.end()));
  EXPECT_NEAR(measured->timed_s, device.total_s, 1e-12) << "warm-up counts as timed";
}

TEST(Sampler, ShortCallsAreGatheredIntoLongEnoughSamples) {
  ScriptedDevice device{noisy(1e-6, 0.01)};
  SamplingOptions options = device_options();
  const auto measured = sample_device(device, options);
  ASSERT_TRUE(measured);
  const double sample_s = 1e-6 * static_cast<double>(measured->summary.calls_per_sample);
  EXPECT_GE(sample_s, 0.99 * options.min_sample_s);
  EXPECT_LE(sample_s, 1.1 * options.min_sample_s);
  EXPECT_NEAR(measured->summary.median, 1e-6, 1e-8) << "samples are seconds a call";
  EXPECT_EQ(device.asked.back(), measured->summary.calls_per_sample);
}

TEST(Sampler, ASlowFirstCallDoesNotDecideTheSampleLength) {
  ScriptedDevice device{[](std::int64_t call) { return call == 0 ? 1.0 : 1e-5; }};
  const auto measured = sample_device(device, device_options());
  ASSERT_TRUE(measured);
  EXPECT_NEAR(static_cast<double>(measured->summary.calls_per_sample), 200, 20);
  EXPECT_NEAR(measured->summary.median, 1e-5, 1e-8);
}

TEST(Sampler, WarmUpGoesOnWhileTimesFall) {
  // Each call takes a tenth off the way down to 1 ms: the steep part of the fall must not be in the samples.
  ScriptedDevice device{[](std::int64_t call) { return 1e-3 * (1 + 9 * std::pow(0.9, static_cast<double>(call))); }};
  const auto measured = sample_device(device, device_options());
  ASSERT_TRUE(measured);
  EXPECT_LT(*std::max_element(measured->samples.begin(), measured->samples.end()), 1.6e-3);
}

TEST(Sampler, NoisyCallsGoOnAtDoublingsUntilPrecise) {
  ScriptedDevice device{noisy(2.1e-3, 0.05)};
  const auto measured = sample_device(device, device_options());
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stopped_by, "precision");
  EXPECT_THAT(measured->samples.size(), testing::AnyOf(40u, 80u, 160u));
  EXPECT_LE((*measured->summary.ci_high - *measured->summary.ci_low) / 2 / measured->summary.median, 0.02);
}

TEST(Sampler, TheBudgetIsKeptAndSaid) {
  ScriptedDevice device{noisy(2.1e-3, 0.5)};
  SamplingOptions options = device_options();
  options.budget_s = 0.5;
  const auto measured = sample_device(device, options);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->stopped_by, "budget");
  EXPECT_LE(device.total_s, 0.5 + 2.1e-3 * 3) << "one sample at most beyond it";
  EXPECT_GE(device.total_s, 0.45) << "and what there is, is used";
  EXPECT_THAT(measured->flags, Contains("noisy"));
  EXPECT_THAT(measured->flags, Not(Contains("over_budget")));
}

TEST(Sampler, CallsThatBecomeSlowerDoNotRunAway) {
  ScriptedDevice device{[](std::int64_t call) { return call < 30 ? 3e-3 * (1 + 0.3 * (call % 5)) : 0.2; }};
  SamplingOptions options = device_options();
  options.budget_s = 1;
  const auto measured = sample_device(device, options);
  ASSERT_TRUE(measured);
  EXPECT_LE(device.total_s, 1.0 + 0.2);
}

TEST(Sampler, TheNumberOfSamplesIsBounded) {
  ScriptedDevice device{noisy(3e-3, 0.5)};
  SamplingOptions options = device_options();
  options.budget_s = 1000;
  options.max_samples = 50;
  const auto measured = sample_device(device, options);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->samples.size(), 50u);
  EXPECT_EQ(measured->stopped_by, "budget");
}

TEST(Sampler, SlowCallsUseTheBudgetForSamples) {
  ScriptedDevice device{noisy(0.4, 0.001)};
  SamplingOptions options = device_options();  // 3 s: 7 calls, one of them the warm-up
  const auto measured = sample_device(device, options);
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->samples.size(), 6u);
  EXPECT_EQ(device.calls, 7);
  EXPECT_TRUE(measured->summary.ci_low.has_value());
  EXPECT_EQ(measured->stopped_by, "budget");
}

TEST(Sampler, TooFewForAnIntervalSaysSo) {
  ScriptedDevice device{noisy(0.7, 0.001)};
  const auto measured = sample_device(device, device_options());
  ASSERT_TRUE(measured);
  EXPECT_EQ(measured->samples.size(), 3u);
  EXPECT_FALSE(measured->summary.ci_low.has_value());
  EXPECT_EQ(measured->summary.interval_method, "no interval: 3 samples, 6 needed; no more fit the budget of 3 s");
  EXPECT_THAT(measured->flags, Contains("few_samples"));
}

TEST(Sampler, OneCallLongerThanTheBudgetIsTheOneSample) {
  ScriptedDevice device{[](std::int64_t) { return 10.0; }};
  const auto measured = sample_device(device, device_options());
  ASSERT_TRUE(measured);
  EXPECT_EQ(device.calls, 1);
  EXPECT_THAT(measured->samples, testing::ElementsAre(10.0));
  EXPECT_EQ(measured->summary.calls_per_sample, 1);
  EXPECT_THAT(measured->summary.interval_method, HasSubstr("no interval: 1 sample, 6 needed; it is the first call"));
  EXPECT_THAT(measured->flags, Contains("over_budget"));
  EXPECT_EQ(measured->stopped_by, "budget");
}

TEST(Sampler, ATinyBudgetShortensSamplesRatherThanTakingNone) {
  // The budget runs on the host's clock, and a busy machine can eat all of it between two samples: one try of ten must do.
  std::size_t most = 0;
  for (int attempt = 0; attempt < 10 && most < 6; ++attempt) {
    ScriptedDevice device{noisy(1e-5, 0.001)};
    SamplingOptions options = device_options();
    options.budget_s = 0.01;
    const auto measured = sample_device(device, options);
    ASSERT_TRUE(measured);
    EXPECT_LE(measured->timed_s, 0.012);
    most = std::max(most, measured->samples.size());
  }
  EXPECT_GE(most, 6u);
}

TEST(Sampler, WhatGoesBeforeASampleIsNotTimedButCosts) {
  using Clock = std::chrono::steady_clock;
  int before = 0;
  int calls = 0;
  SamplingOptions options;  // the host's clock
  options.budget_s = 0.3;
  options.precision = 1e-9;
  options.before_sample = [&] {
    EXPECT_EQ(before++, calls) << "once before each call";
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  };
  const auto start = Clock::now();
  const auto measured = sample(
      [&](std::int64_t count) -> Result<double> {
        EXPECT_EQ(count, 1) << "a second call would be warm";
        ++calls;
        for (const auto begin = Clock::now(); Clock::now() - begin < std::chrono::microseconds(20);) {
        }
        return 0;
      },
      options, nullptr);
  ASSERT_TRUE(measured) << measured.error().why;
  EXPECT_EQ(measured->summary.calls_per_sample, 1);
  EXPECT_EQ(before, calls);
  EXPECT_LE(calls, 60) << "the sleeps are in the budget";
  EXPECT_LE(measured->timed_s, std::chrono::duration<double>(Clock::now() - start).count() - 5e-3 * calls)
      << "and not in the time";
}

TEST(Sampler, AnErrorEndsItAtOnceAndIsReturned) {
  for (const int failing : {1, 2, 5, 12}) {
    int runs = 0;
    const auto measured = sample(
        [&](std::int64_t) -> Result<double> {
          if (++runs == failing) return environment_error("cannot run", "the device is gone", "reboot");
          return 5e-3 * (1 + 0.5 * (runs % 3));
        },
        device_options(), nullptr);
    ASSERT_FALSE(measured) << failing;
    EXPECT_EQ(measured.error().why, "the device is gone");
    EXPECT_EQ(runs, failing) << "not called again";
  }
}

TEST(Sampler, AClockThatDoesNotAdvanceIsAnError) {
  for (const double seconds : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    for (const int from : {1, 8}) {
      int runs = 0;
      const auto measured =
          sample([&](std::int64_t) -> Result<double> { return ++runs < from ? 5e-3 : seconds; }, device_options(), nullptr);
      ASSERT_FALSE(measured) << seconds;
      EXPECT_THAT(measured.error().why, HasSubstr("the device's clock says"));
      EXPECT_EQ(runs, from);
    }
  }
}

TEST(Sampler, SenselessOptionsAreRefused) {
  const auto with = [](auto change) {
    SamplingOptions options = device_options();
    change(options);
    ScriptedDevice device{noisy(1e-3, 0)};
    const auto measured = sample_device(device, options);
    return !measured && measured.error().kind == ErrorKind::kUsage && device.calls == 0;
  };
  EXPECT_TRUE(with([](SamplingOptions& o) { o.budget_s = 0; }));
  EXPECT_TRUE(with([](SamplingOptions& o) { o.budget_s = std::nan(""); }));
  EXPECT_TRUE(with([](SamplingOptions& o) { o.precision = -0.1; }));
  EXPECT_TRUE(with([](SamplingOptions& o) { o.max_samples = 0; }));
}

TEST(Sampler, ProgressNeverGoesBackAndEndsAtOne) {
  for (const double level : {0.001, 0.05, 0.5}) {
    ScriptedDevice device{noisy(2.1e-3, level)};
    std::vector<double> seen;
    const auto measured = sample([&](std::int64_t calls) { return device.run(calls); }, device_options(),
                                 [&](double fraction) { seen.push_back(fraction); });
    ASSERT_TRUE(measured);
    ASSERT_GE(seen.size(), 3u);
    EXPECT_TRUE(std::is_sorted(seen.begin(), seen.end()));
    EXPECT_EQ(seen.front(), 0);
    EXPECT_EQ(seen.back(), 1);
    EXPECT_EQ(std::count(seen.begin(), seen.end(), 1.0), 1);
  }
}

TEST(Sampler, TheHostClockIgnoresWhatTheCallReturns) {
  SamplingOptions options;
  options.budget_s = 0.3;
  const auto measured = sample(
      [](std::int64_t calls) -> Result<double> {
        std::this_thread::sleep_for(std::chrono::milliseconds(3 * calls));
        return -1;
      },
      options, nullptr);
  ASSERT_TRUE(measured) << measured.error().why;
  EXPECT_GE(measured->summary.min, 3e-3) << "a sleep never ends early";
  EXPECT_EQ(measured->summary.calls_per_sample, 1);
}

TEST(Sampler, ManyMeasurementsInOneProcessPrintNothing) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  for (int i = 0; i < 50; ++i) {
    ScriptedDevice device{noisy(5e-3, 0.01)};
    ASSERT_TRUE(sample_device(device, device_options()));
  }
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

// The library reads BENCHMARK_* when it is loaded, so this needs a process of its own: the first tests above, run again.
TEST(Sampler, BenchmarkEnvironmentHasNoEffect) {
  const std::string self = std::filesystem::read_symlink("/proc/self/exe").string();
  const std::string command =
      "BENCHMARK_LIST_TESTS=true BENCHMARK_FILTER=nothing BENCHMARK_REPETITIONS=7 BENCHMARK_MIN_WARMUP_TIME=1 "
      "BENCHMARK_REPORT_AGGREGATES_ONLY=true BENCHMARK_ENABLE_RANDOM_INTERLEAVING=true BENCHMARK_FORMAT=nonsense "
      "BENCHMARK_TIME_UNIT=weeks BENCHMARK_OUT=" HBMARK_TEST_DIR "/must_not_appear.json BENCHMARK_DRY_RUN=true '" +
      self + "' --gtest_filter='Sampler.QuietCalls*:Sampler.ManyMeasurements*:Sampler.ShortCalls*' 2>&1";
  std::FILE* child = ::popen(command.c_str(), "r");
  ASSERT_NE(child, nullptr);
  std::string output;
  for (int c = std::fgetc(child); c != EOF; c = std::fgetc(child)) output.push_back(static_cast<char>(c));
  EXPECT_EQ(::pclose(child), 0) << output;
  EXPECT_THAT(output, HasSubstr("PASSED  ] 3 tests"));
  EXPECT_FALSE(std::filesystem::exists(HBMARK_TEST_DIR "/must_not_appear.json"));
}

}  // namespace
}  // namespace hbmark
