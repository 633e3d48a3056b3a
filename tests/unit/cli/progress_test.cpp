#include "bench/cli/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <regex>
#include <string>
#include <vector>

namespace hbmark::cli {
namespace {

using testing::HasSubstr;

ResultRecord ok_result(const std::string& problem) {
  ResultRecord result;
  result.problem = problem;
  result.kernel = "gemm";
  result.outcome = Outcome::kOk;
  result.flop = 2e9;
  result.time = TimeSummary{.median = 1e-3,
                            .ci_low = 0.99e-3,
                            .ci_high = 1.01e-3,
                            .min = 0.98e-3,
                            .samples = 20,
                            .calls_per_sample = 1,
                            .interval_method = ""};
  return result;
}

ResultRecord crashed_result(const std::string& problem) {
  ResultRecord result;
  result.problem = problem;
  result.outcome = Outcome::kCrashed;
  result.reason = "signal SIGSEGV";
  return result;
}

// A terminal of paper: what was written, and what a person would see of it.
struct Paper {
  double now_s = 0;
  int columns = 80;
  std::vector<std::string> writes;

  ProgressOptions options(bool redraw) {
    ProgressOptions made;
    made.redraw = redraw;
    made.now_s = [this] { return now_s; };
    made.columns = [this] { return columns; };
    made.write = [this](std::string_view text) { writes.emplace_back(text); };
    return made;
  }
  // The bar's text of one write, without the codes round it.
  static std::string bar(const std::string& write) { return std::regex_replace(write, std::regex("\r|\x1b\\[K"), ""); }
  std::string all() const {
    std::string text;
    for (const std::string& write : writes) text += write;
    return text;
  }
};

TEST(Estimate, WeighsCasesByTheirBudget) {
  Estimate estimate({1, 3});
  estimate.start(0, 0);
  estimate.progress(0.5);
  EXPECT_DOUBLE_EQ(estimate.fraction(), 0.125);
  estimate.finish(1);
  EXPECT_DOUBLE_EQ(estimate.fraction(), 0.25);
  estimate.start(1, 1);
  estimate.finish(2);
  EXPECT_DOUBLE_EQ(estimate.fraction(), 1);
  EXPECT_DOUBLE_EQ(estimate.left_s(2), 0);
}

TEST(Estimate, NeverGoesBack) {
  Estimate estimate({1, 1});
  estimate.start(0, 0);
  estimate.progress(0.9);
  const double before = estimate.fraction();
  estimate.progress(0.2);
  EXPECT_DOUBLE_EQ(estimate.fraction(), before);
  estimate.start(0, 5);  // the same case again, in a new worker
  estimate.progress(0.1);
  EXPECT_DOUBLE_EQ(estimate.fraction(), before);
}

TEST(Estimate, LearnsFromWhatCasesReallyTook) {
  Estimate estimate(std::vector<double>(12, 10.0));
  EXPECT_DOUBLE_EQ(estimate.left_s(0), 120);
  double now_s = 0;
  for (std::size_t i = 0; i < 10; ++i) {
    estimate.start(i, now_s);
    now_s += 1;  // a tenth of the budget: precision was reached early
    estimate.finish(now_s);
  }
  EXPECT_LT(estimate.left_s(now_s), 6);  // 2 cases; a belief in budgets alone would say 20
  EXPECT_GT(estimate.left_s(now_s), 2);
}

TEST(Estimate, TakesAnyBudgetAndNoCaseAtAll) {
  Estimate none({});
  EXPECT_DOUBLE_EQ(none.left_s(0), 0);
  EXPECT_DOUBLE_EQ(none.fraction(), 0);
  Estimate odd({0, -1});
  EXPECT_GT(odd.left_s(0), 0);
  odd.start(7, 0);  // no such case
  odd.finish(1);
  EXPECT_EQ(odd.finished(), 0U);
}

TEST(Progress, WritesALineACaseWithoutATerminal) {
  Paper paper;
  {
    Progress progress({3, 3}, paper.options(false));
    progress.start(0, "gemm:f32:nn:m8n8k8");
    progress.update("sampling", 0.5);
    progress.finish(ok_result("gemm:f32:nn:m8n8k8"));
    progress.start(1, "gemm:f32:nn:m9n9k9");
    progress.finish(crashed_result("gemm:f32:nn:m9n9k9"));
  }
  EXPECT_EQ(paper.all(),
            "[1/2] gemm:f32:nn:m8n8k8 ok 1.000 ms +-1.0 % 2.00 TFLOP/s\n"
            "[2/2] gemm:f32:nn:m9n9k9 crashed: signal SIGSEGV\n");
}

TEST(Progress, RedrawsAtMostTenTimesASecond) {
  Paper paper;
  Progress progress({10}, paper.options(true));
  progress.start(0, "p");
  for (int i = 1; i <= 1000; ++i) {
    paper.now_s = i * 1e-3;
    progress.update("sampling", i * 1e-3);
  }
  EXPECT_LE(paper.writes.size(), 11U);
  EXPECT_GE(paper.writes.size(), 9U);
}

TEST(Progress, FitsEveryWidth) {
  for (const bool utf8 : {false, true}) {
    for (int columns = 1; columns <= 200; ++columns) {
      Paper paper;
      paper.columns = columns;
      ProgressOptions options = paper.options(true);
      options.style.utf8 = utf8;
      Progress progress({3, 3}, options);
      progress.start(0, "conv:bwd_weights:f32:n32c256h56w56k512r3s3sh1sw1ph1pw1");
      ASSERT_EQ(paper.writes.size(), 1U);
      EXPECT_LT(display_width(Paper::bar(paper.writes[0])), columns + (columns == 1 ? 1 : 0)) << columns;
    }
  }
}

TEST(Progress, TellsCountsTimeAndProblem) {
  Paper paper;
  paper.columns = 100;
  Progress progress({5, 5, 5, 5}, paper.options(true));
  progress.start(0, "gemm:f32:nn:m8n8k8");
  paper.now_s = 5;
  progress.update("sampling", 1);
  const std::string bar = Paper::bar(paper.writes.back());
  EXPECT_THAT(bar, HasSubstr("[####...............]"));
  EXPECT_THAT(bar, HasSubstr("0/4  25 %"));
  EXPECT_THAT(bar, HasSubstr("0:05 ~0:15 left"));
  EXPECT_THAT(bar, HasSubstr("gemm:f32:nn:m8n8k8 sampling"));
}

TEST(Progress, LeavesACleanLineAndKeepsFailuresAboveTheBar) {
  Paper paper;
  {
    Progress progress({3, 3}, paper.options(true));
    progress.start(0, "p");
    progress.finish(crashed_result("p"));
    EXPECT_THAT(paper.all(), HasSubstr("\r\x1b[K[1/2] p crashed: signal SIGSEGV\n"));
    progress.message("hbmark: warning: w");
    EXPECT_THAT(paper.all(), HasSubstr("\r\x1b[Khbmark: warning: w\n"));
  }
  EXPECT_EQ(paper.writes.back(), "\r\x1b[K");
}

TEST(Progress, DoesNotCountWhatAnInterruptionLeftUndone) {
  Paper paper;
  Progress progress({3, 3}, paper.options(false));
  ResultRecord undone = crashed_result("p");
  undone.outcome = Outcome::kNotRun;
  progress.finish(undone);
  progress.start(1, "q");
  progress.finish(ok_result("q"));
  EXPECT_THAT(paper.all(), testing::StartsWith("[1/2] q ok"));
}

TEST(Progress, SaysNothingWhenQuiet) {
  Paper paper;
  {
    ProgressOptions options = paper.options(true);
    options.quiet = true;
    Progress progress({3}, options);
    progress.start(0, "p");
    progress.update("sampling", 0.5);
    progress.finish(crashed_result("p"));
  }
  EXPECT_EQ(paper.all(), "");
}

TEST(Progress, TheClockGoesOnWhileNothingIsTold) {
  Paper paper;
  Progress progress({3, 3}, paper.options(true));
  progress.tick();
  EXPECT_TRUE(paper.writes.empty()) << "nothing is shown yet";
  progress.start(0, "gemm:f32:nn:m1n1k1");
  paper.now_s = 7;
  progress.tick();
  EXPECT_THAT(Paper::bar(paper.writes.back()), HasSubstr("0:07"));
  const std::size_t written = paper.writes.size();
  paper.now_s = 7.01;
  progress.tick();
  EXPECT_EQ(paper.writes.size(), written) << "at most ten times a second";
}

TEST(Progress, ATickIsNoLineElsewhere) {
  Paper paper;
  Progress progress({3}, paper.options(false));
  progress.start(0, "gemm:f32:nn:m1n1k1");
  paper.now_s = 7;
  progress.tick();
  EXPECT_EQ(paper.all(), "");
}

}  // namespace
}  // namespace hbmark::cli
