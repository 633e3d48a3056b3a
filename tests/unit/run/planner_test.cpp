#include "bench/run/planner.h"

#include <gmock/gmock.h>

#include <limits>

#include "bench/kernels/kernel.h"

namespace hbmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

BackendFacts backend(std::string name, std::vector<std::string> capabilities, std::string unavailable = "") {
  BackendFacts facts;
  facts.name = std::move(name);
  facts.capabilities = std::move(capabilities);
  facts.unavailable = std::move(unavailable);
  if (facts.unavailable.empty()) facts.devices = {{"cpu", "a processor"}, {"cpu2", "another"}};
  return facts;
}

const std::string kGemm = "hbmark.gemm/1", kConv = "hbmark.conv/1", kStream = "hbmark.stream/1", kPeak = "hbmark.peak/1";
const char* const kGemmProblem = "gemm:f32:nn:m64n64k64";
const char* const kConvProblem = "conv:fwd:f32:n1c3h8w8k4r3s3sh1sw1ph1pw1";
const char* const kStreamProblem = "stream:triad:f64:1048576";
const char* const kPeakProblem = "peak:fma:f32";

PlanRequest request_for(const std::vector<std::string>& problems) {
  PlanRequest request;
  request.suite.name = "s";
  for (const std::string& text : problems) {
    auto problem = parse_problem(text);
    EXPECT_TRUE(problem) << text;
    request.suite.cases.push_back({*problem, 2, ""});
  }
  request.known = {backend("cpu", {kStream, kPeak}), backend("fast", {kGemm, kConv}),
                   backend("reference", {kGemm, kConv, kStream, kPeak})};
  return request;
}

std::vector<std::string> lines(const Plan& plan) {
  std::vector<std::string> all;
  for (const PlannedCase& c : plan.cases) all.push_back(c.backend + " " + c.problem);
  return all;
}

TEST(Planner, CeilingsComeFirstAndTheOracleOnlyWhenNamed) {
  const auto plan = make_plan(request_for({kGemmProblem, kStreamProblem, kConvProblem, kPeakProblem}));
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("cpu ") + kPeakProblem, std::string("cpu ") + kStreamProblem,
                                        std::string("fast ") + kGemmProblem, std::string("fast ") + kConvProblem));
  for (std::size_t i = 0; i < plan->cases.size(); ++i) {
    EXPECT_EQ(plan->cases[i].index, static_cast<std::int64_t>(i));
    EXPECT_EQ(plan->cases[i].device, "cpu");
    EXPECT_EQ(plan->cases[i].occurrences, 2);
    EXPECT_FALSE(plan->cases[i].decided);
  }
}

TEST(Planner, EveryPlacementRunsEveryCaseInARowOfItsOwn) {
  auto request = request_for({kGemmProblem, kPeakProblem});
  request.placements = {{"ddr", 0}, {"fast", 0}};
  request.refused_placements = {"", "no fast memory here"};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("cpu ") + kPeakProblem, std::string("fast ") + kGemmProblem,
                                        std::string("cpu ") + kPeakProblem, std::string("fast ") + kGemmProblem));
  EXPECT_EQ(plan->placements, request.placements);
  for (std::size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(plan->cases[i].index, static_cast<std::int64_t>(i));
    EXPECT_EQ(plan->cases[i].placement, i / 2);
  }
  EXPECT_FALSE(plan->cases[1].decided);
  EXPECT_EQ(plan->cases[3].decided, Outcome::kUnavailable);
  EXPECT_EQ(plan->cases[3].decided_reason, "no fast memory here");
}

TEST(Planner, EveryAvailableBackendRunsACaseInARowOfItsOwn) {
  auto request = request_for({kGemmProblem, kConvProblem});
  request.known.push_back(backend("zeta", {kGemm, kConv}));
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("fast ") + kGemmProblem, std::string("fast ") + kConvProblem,
                                        std::string("zeta ") + kGemmProblem, std::string("zeta ") + kConvProblem));
}

TEST(Planner, NamedBackendsDoWhatTheyCan) {
  auto request = request_for({kGemmProblem, kStreamProblem});
  request.backends = {"cpu", "fast"};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("cpu ") + kStreamProblem, std::string("fast ") + kGemmProblem));
}

TEST(Planner, TheOracleRunsWhenNamed) {
  auto request = request_for({kGemmProblem});
  request.backends = {"reference"};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("reference ") + kGemmProblem));
}

TEST(Planner, ANamedBackendWithoutTheKernelIsUnsupported) {
  auto request = request_for({kGemmProblem, kStreamProblem});
  request.backends = {"fast"};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->cases.size(), 2U);
  EXPECT_EQ(plan->cases[0].decided, Outcome::kUnsupported);
  EXPECT_THAT(plan->cases[0].decided_reason, HasSubstr("stream"));
  EXPECT_FALSE(plan->cases[1].decided);
}

TEST(Planner, ANamedBackendThatIsNotThereIsUnavailableAndTheRestRuns) {
  auto request = request_for({kGemmProblem});
  request.backends = {"cudnn", "fast", "lost"};
  request.rejected = {{"/lib/hbmark_lost.so", "not ELF"}};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->cases.size(), 3U);
  EXPECT_EQ(plan->cases[0].decided, Outcome::kUnavailable);
  EXPECT_THAT(plan->cases[0].decided_reason, HasSubstr("cpu, fast, reference"));
  EXPECT_FALSE(plan->cases[1].decided);
  EXPECT_EQ(plan->cases[2].decided, Outcome::kUnavailable);
  EXPECT_THAT(plan->cases[2].decided_reason, HasSubstr("/lib/hbmark_lost.so: not ELF"));
}

TEST(Planner, ABackendWithoutADeviceIsLeftOutUnlessItIsTheOnlyOne) {
  auto request = request_for({kGemmProblem});
  request.known.push_back(backend("gpu", {kGemm}, "no driver"));
  auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("fast ") + kGemmProblem));

  request.known = {backend("gpu", {kGemm}, "no driver")};
  plan = make_plan(request);
  ASSERT_TRUE(plan);
  ASSERT_EQ(plan->cases.size(), 1U);
  EXPECT_EQ(plan->cases[0].decided, Outcome::kUnavailable);
  EXPECT_THAT(plan->cases[0].decided_reason, HasSubstr("no driver"));

  request.backends = {"gpu"};
  plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->cases[0].decided_reason, "no driver");
}

TEST(Planner, TheBudgetIsSharedByTheCasesThatAreMeasured) {
  auto request = request_for({kGemmProblem, kConvProblem, kStreamProblem});
  request.backends = {"fast", "lost"};
  request.budget_s = 10;
  auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  for (const PlannedCase& c : plan->cases) {
    if (!c.decided) {
      EXPECT_DOUBLE_EQ(c.budget_s, 5);
    }
  }
  request.budget_s = 0;
  request.suite.budget_s = 4;
  plan = make_plan(request);
  EXPECT_DOUBLE_EQ(plan->cases.back().budget_s, 2);
  request.suite.budget_s = 0;
  plan = make_plan(request);
  EXPECT_DOUBLE_EQ(plan->cases.back().budget_s, 3);
}

TEST(Planner, PrecisionIsTheUsersElseTheSuites) {
  auto request = request_for({kGemmProblem});
  request.suite.precision = 0.07;
  EXPECT_DOUBLE_EQ(make_plan(request)->precision, 0.07);
  request.precision = 0.01;
  EXPECT_DOUBLE_EQ(make_plan(request)->precision, 0.01);
}

TEST(Planner, OptionsOutOfRangeAreUsageErrors) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  for (const double budget_s : {-1.0, nan, 1e30, std::numeric_limits<double>::infinity()}) {
    auto request = request_for({kGemmProblem});
    request.budget_s = budget_s;
    const auto plan = make_plan(request);
    ASSERT_FALSE(plan) << budget_s;
    EXPECT_EQ(plan.error().kind, ErrorKind::kUsage);
  }
  for (const double timeout_s : {-1.0, 0.0, nan}) {
    auto request = request_for({kGemmProblem});
    request.timeout_s = timeout_s;
    EXPECT_FALSE(make_plan(request)) << timeout_s;
  }
  for (const double precision : {-0.1, 2.0, nan}) {
    auto request = request_for({kGemmProblem});
    request.precision = precision;
    EXPECT_FALSE(make_plan(request)) << precision;
  }
}

TEST(Planner, FiltersKeepWhatAnyOfThemMatches) {
  auto request = request_for({kGemmProblem, kConvProblem, kPeakProblem});
  request.filters = {"gemm", "peak:*:f32"};
  const auto plan = make_plan(request);
  ASSERT_TRUE(plan);
  EXPECT_THAT(lines(*plan), ElementsAre(std::string("cpu ") + kPeakProblem, std::string("fast ") + kGemmProblem));
}

TEST(Planner, AFilterThatMatchesNothingNamesTheNearest) {
  auto request = request_for({kGemmProblem, kConvProblem, kPeakProblem, kStreamProblem});
  request.filters = {"gemn:f32"};
  const auto plan = make_plan(request);
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::kNothingRan);
  EXPECT_THAT(plan.error().why, HasSubstr("gemn:f32"));
  EXPECT_THAT(plan.error().next, HasSubstr(std::string("the nearest are: ") + kGemmProblem));
}

TEST(Planner, AnEmptySuiteRunsNothing) {
  const auto plan = make_plan(request_for({}));
  ASSERT_FALSE(plan);
  EXPECT_EQ(plan.error().kind, ErrorKind::kNothingRan);
}

TEST(Filter, IsAPieceOrAGlobOverTheWhole) {
  const std::string problem = "conv:fwd:f32:n32c64";
  EXPECT_TRUE(filter_matches("fwd", problem));
  EXPECT_TRUE(filter_matches("", problem));
  EXPECT_TRUE(filter_matches("conv*c64", problem));
  EXPECT_TRUE(filter_matches("*n[13]2*", problem));
  EXPECT_TRUE(filter_matches("conv:???:f32:*", problem));
  EXPECT_FALSE(filter_matches("fwd*", problem));
  EXPECT_FALSE(filter_matches("bwd", problem));
}

TEST(LastLevelCache, IsAllOfTheNodesTogether) {
  topology::Node node;
  EXPECT_EQ(last_level_cache_bytes(node), 0U);
  node.caches = {{1, "data", 32768, 4, 1}, {3, "unified", 1 << 20, 2, 2}, {2, "unified", 1 << 18, 4, 1}};
  EXPECT_EQ(last_level_cache_bytes(node), std::uint64_t{2} << 20);
}

}  // namespace
}  // namespace hbmark
