// `hbmark run` as a user calls it, on the fake backend: exit codes, messages, what is in the store afterwards.
#include <algorithm>
#include <csignal>

#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using testing::HasSubstr;

class CommandTest : public RunTest {
 protected:
  std::vector<std::string> run_arguments(const std::vector<std::string>& more) const {
    std::vector<std::string> all = {
        "run", "--db", db(), "--backend-path", HBMARK_TEST_BACKENDS, "--budget", "0.3", "--threads", "1", "--timeout", "1"};
    all.insert(all.end(), more.begin(), more.end());
    return all;
  }
  pid_t start_hbmark(const std::vector<std::string>& arguments) const { return start_program(HBMARK_PROGRAM, arguments); }
  int hbmark(const std::vector<std::string>& arguments) const { return wait_for(start_hbmark(arguments)); }
};

TEST_F(CommandTest, AllWellIsZero) {
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--problem", kFirst, "--problem", kSecond})), 0) << output();
  const auto all = results();
  ASSERT_EQ(all.size(), 2U);
  for (const ResultRecord& r : all) EXPECT_EQ(r.outcome, Outcome::kOk) << r.reason;
  EXPECT_THAT(output(), HasSubstr(kFirst));
}

TEST_F(CommandTest, AFailedCaseIsOneAndTheRestIsThere) {
  script({{{"match", kFirst}, {"fault", {{"kind", "segv"}}}}});
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--problem", kFirst, "--problem", kSecond})), 1) << output();
  const auto all = results();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].outcome, Outcome::kCrashed);
  EXPECT_EQ(all[1].outcome, Outcome::kOk);
  EXPECT_THAT(output(), HasSubstr("SIGSEGV"));
}

TEST_F(CommandTest, AWrongResultIsOne) {
  script({{{"match", kFirst}, {"fault", {{"kind", "wrong_element"}}}}});
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--problem", kFirst})), 1) << output();
  EXPECT_EQ(results()[0].outcome, Outcome::kWrongResult);
}

TEST_F(CommandTest, ABackendThatIsNotThereIsThreeAndTheRestRuns) {
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--backend", "nosuch", "--problem", kFirst})), 3) << output();
  const auto all = results();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& r) { return r.outcome == Outcome::kOk; }), 1);
  EXPECT_EQ(std::count_if(all.begin(), all.end(), [](const auto& r) { return r.outcome == Outcome::kUnavailable; }), 1);
}

TEST_F(CommandTest, AFilterThatMatchesNothingIsFourAndNamesTheNearest) {
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--problem", kFirst, "--filter", "gemn"})), 4);
  EXPECT_THAT(output(), HasSubstr(kFirst));
}

TEST_F(CommandTest, InterruptedIsOneThirtyAndResumeCompletes) {
  script({{{"distribution", {{"median", 2e-3}, {"sigma", 0.3}}}, {"sleep", true}}});
  std::vector<std::string> arguments = run_arguments({"--backend", "fake", "--precision", "0.0001"});
  for (int i = 0; i < 8; ++i) {
    arguments.push_back("--problem");
    arguments.push_back("gemm:f32:nn:m" + std::to_string(16 + i) + "n16k16");
  }
  *(std::find(arguments.begin(), arguments.end(), "--budget") + 1) = "2";
  const pid_t program = start_hbmark(arguments);
  ASSERT_TRUE(becomes([&] { return !workers().empty(); })) << output();
  kill(program, SIGINT);
  EXPECT_EQ(wait_for(program), 130) << output();
  EXPECT_EQ(last_run().state, "interrupted");
  EXPECT_THAT(output(), HasSubstr("--resume"));
  EXPECT_EQ(hbmark({"run", "--db", db(), "--resume", "last"}), 0) << output();
  const auto all = results();
  ASSERT_EQ(all.size(), 8U);
  for (const ResultRecord& r : all) EXPECT_EQ(r.outcome, Outcome::kOk) << r.reason;
  EXPECT_EQ(hbmark({"run", "--db", db(), "--resume", "last"}), 4) << "there is nothing left to do";
}

}  // namespace
}  // namespace hbmark::tests
