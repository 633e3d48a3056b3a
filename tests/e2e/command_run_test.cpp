// `hbmark run` as a user calls it, on the fake backend: exit codes, messages, what is in the store afterwards.
#include <algorithm>
#include <csignal>
#include <fstream>

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
  // `prefix`: shell words before the program; `suffix`: redirections behind its arguments.
  int hbmark_in_shell(const std::string& prefix, const std::vector<std::string>& arguments,
                      const std::string& suffix) const {
    std::vector<std::string> all = {"-c", prefix + " \"$0\" \"$@\" " + suffix, HBMARK_PROGRAM};
    all.insert(all.end(), arguments.begin(), arguments.end());
    return wait_for(start_program("/bin/sh", all));
  }
  // A run that takes its time: cases of 0.3 s and more, really slept.
  std::vector<std::string> slow_run(int cases) const {
    script({{{"distribution", {{"median", 2e-3}, {"sigma", 0.3}}}, {"sleep", true}}});
    std::vector<std::string> arguments = run_arguments({"--backend", "fake", "--precision", "0.0001"});
    for (int i = 0; i < cases; ++i) {
      arguments.push_back("--problem");
      arguments.push_back("gemm:f32:nn:m" + std::to_string(16 + i) + "n16k16");
    }
    *(std::find(arguments.begin(), arguments.end(), "--budget") + 1) = std::to_string(cases);
    return arguments;
  }
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

TEST_F(CommandTest, ABackendThatNoPluginIsIsRefusedBeforeAnythingIsStored) {
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--backend", "fakee", "--problem", kFirst})), 2) << output();
  EXPECT_THAT(output(), HasSubstr("did you mean --backend fake?"));
  EXPECT_FALSE(std::filesystem::exists(db()));
}

TEST_F(CommandTest, ABackendThatIsKnownButNotThereIsThreeAndTheRestRuns) {
  std::filesystem::create_directory(folder_ / "more");
  std::ofstream(folder_ / "more" / "hbmark_broken.so") << "no plugin";
  EXPECT_EQ(hbmark(run_arguments({"--backend-path", (folder_ / "more").string(), "--backend", "fake", "--backend", "broken",
                                  "--problem", kFirst})),
            3)
      << output();
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

TEST_F(CommandTest, ARunThatIsBeingCarriedOutIsNotResumed) {
  const pid_t program = start_hbmark(slow_run(3));
  ASSERT_TRUE(becomes([&] { return !workers().empty(); })) << output();
  EXPECT_EQ(hbmark({"run", "--db", db(), "--resume", "last"}), 3) << output();
  EXPECT_THAT(output(), HasSubstr("another hbmark is carrying it out"));
  EXPECT_EQ(wait_for(program), 0) << output();
  const auto all = results();
  ASSERT_EQ(all.size(), 3U);
  for (const ResultRecord& r : all) EXPECT_EQ(r.outcome, Outcome::kOk) << r.reason;
}

TEST_F(CommandTest, AWorkerThatSomebodyTellsToEndIsNoFaultOfThePlugin) {
  const pid_t program = start_hbmark(slow_run(3));
  std::vector<pid_t> all_workers;
  ASSERT_TRUE(becomes([&] {
    const std::string text = output();
    return text.find("[1/3]") != std::string::npos && !(all_workers = workers()).empty();
  })) << output();
  kill(all_workers.front(), SIGTERM);
  EXPECT_EQ(wait_for(program), 1) << output();
  EXPECT_THAT(output(), HasSubstr("somebody told the worker alone to end"));
  EXPECT_EQ(results().size(), 3U);
}

TEST_F(CommandTest, TheStoreIsNotReplacedByATable) {
  const std::vector<std::string> small = {"--backend", "fake", "--problem", kFirst};
  EXPECT_EQ(hbmark(run_arguments(small)), 0) << output();
  const std::string link = (folder_ / "link").string();
  std::filesystem::create_symlink(db(), link);
  for (const std::string& place : {db(), link, db() + "-wal", link + "-wal", db() + "-journal"}) {
    EXPECT_EQ(hbmark({"show", "--db", db(), "--output", place}), 2) << output();
    EXPECT_EQ(hbmark({"export", "--db", db(), "--output", place}), 2) << output();
    std::vector<std::string> again = run_arguments(small);
    again.insert(again.end(), {"--output", place});
    EXPECT_EQ(hbmark(again), 2) << output();
  }
  EXPECT_EQ(results().size(), 1U);
}

TEST_F(CommandTest, AFolderThatIsNotTrustedIsTold) {
  const std::filesystem::path open_to_all = folder_ / "open";
  std::filesystem::create_directory(open_to_all);
  std::filesystem::permissions(open_to_all, std::filesystem::perms::all);
  EXPECT_EQ(
      hbmark({"run", "--db", db(), "--backend-path", open_to_all.string(), "--backend", "nosuch", "--problem", kFirst}), 3);
  EXPECT_THAT(output(), HasSubstr("not looked for in " + open_to_all.string()));
}

TEST_F(CommandTest, ClosedStandardStreamsDoNotMatter) {
  const std::string file = (folder_ / "table.txt").string();
  const auto arguments = run_arguments({"--backend", "fake", "--problem", kFirst, "--output", file});
  EXPECT_EQ(hbmark_in_shell("exec", arguments, "<&- >&- 2>&-"), 0);
  ASSERT_EQ(results().size(), 1U);
  EXPECT_EQ(results()[0].outcome, Outcome::kOk) << results()[0].reason;
}

TEST_F(CommandTest, AnEmptyEnvironmentAndAStoreAreEnough) {
  EXPECT_EQ(hbmark_in_shell("exec env -i", run_arguments({"--backend", "fake", "--problem", kFirst}), ""), 0) << output();
  EXPECT_EQ(hbmark_in_shell("exec env -i", {"node"}, ""), 0) << output();
  EXPECT_EQ(hbmark_in_shell("exec env -i", {"list"}, ""), 3) << output();
  EXPECT_THAT(output(), HasSubstr("cannot tell where the store is"));
}

TEST_F(CommandTest, AFileSizeLimitIsAnErrorAndNoDeath) {
  const auto arguments = run_arguments({"--backend", "fake", "--problem", kFirst});
  EXPECT_EQ(hbmark_in_shell("ulimit -f 10; exec", arguments, ""), 3) << output();
  EXPECT_THAT(output(), HasSubstr("ulimit -f"));
}

TEST_F(CommandTest, LittleStackIsEnoughForUs) {
  const auto arguments = run_arguments({"--backend", "fake", "--problem", kFirst});
  EXPECT_EQ(hbmark_in_shell("ulimit -s 64; exec", arguments, ""), 0) << output();
  EXPECT_EQ(hbmark_in_shell("ulimit -S -s 64; exec", arguments, ""), 0) << output();
}

TEST_F(CommandTest, ACrashUnderLittleStackNamesTheLimit) {
  script({{{"fault", {{"kind", "segv"}}}}});
  const auto arguments = run_arguments({"--backend", "fake", "--problem", kFirst});
  EXPECT_EQ(hbmark_in_shell("ulimit -s 1024; exec", arguments, ""), 1) << output();
  EXPECT_THAT(results()[0].reason, HasSubstr("the stack is limited to 1024 KiB"));
}

TEST_F(CommandTest, ACrashUnderLittleMemoryNamesTheLimit) {
  script({{{"fault", {{"kind", "segv"}}}}});
  const auto arguments = run_arguments({"--backend", "fake", "--problem", kFirst});
  EXPECT_EQ(hbmark_in_shell("ulimit -v 8000000; exec", arguments, ""), 1) << output();
  EXPECT_THAT(results()[0].reason, HasSubstr("limited to 8000000 KiB"));
  EXPECT_THAT(results()[0].reason, HasSubstr("ulimit -v"));
}

TEST_F(CommandTest, WithoutDevNullTheMessageNamesIt) {
  // In a mount namespace of its own, as root may have one.
  const std::string hidden = folder_.string() + "/dev";
  std::filesystem::create_directory(hidden);
  if (wait_for(start_program("/usr/bin/unshare", {"-m", "mount", "--bind", hidden, "/dev"})) != 0)
    GTEST_SKIP() << "needs the right to mount";
  std::vector<std::string> all = {"-m", "sh", "-c", "mount --bind '" + hidden + "' /dev && exec \"$0\" \"$@\"",
                                  HBMARK_PROGRAM};
  for (const std::string& one : run_arguments({"--backend", "fake", "--problem", kFirst})) all.push_back(one);
  EXPECT_EQ(wait_for(start_program("/usr/bin/unshare", all)), 3) << output();
  EXPECT_THAT(output(), HasSubstr("lacks /dev/null"));
}

TEST_F(CommandTest, AColdRunIsShownAsSuch) {
  script({{{"times", json::array({1e-4})}}});
  const auto arguments = run_arguments({"--backend", "fake", "--problem", kFirst, "--cold-cache", "--energy"});
  EXPECT_EQ(hbmark(arguments), 0) << output();
  EXPECT_THAT(output(), HasSubstr("cold caches: before each call"));
  EXPECT_THAT(output(), testing::ContainsRegex("\\[1/1\\] .* cold\n"));
  EXPECT_THAT(results()[0].flags, testing::Contains("cold"));
  EXPECT_TRUE(json::parse(last_run().plan).at("cold_cache").get<bool>());
  const auto environment = open_store().environment(last_run().environment_uuid);
  ASSERT_TRUE(environment);
  EXPECT_THAT(environment->values.at("cold_cache"), HasSubstr("outside its time"));
  EXPECT_THAT(environment->values.at("energy"), HasSubstr("energy"));
  EXPECT_EQ(hbmark({"run", "--db", db(), "--resume", "last", "--cold-cache"}), 2) << "a plan is kept";
}

TEST_F(CommandTest, ThePlanNamesThePluginsThatWorkersNeed) {
  EXPECT_EQ(hbmark(run_arguments({"--backend", "fake", "--problem", kFirst})), 0) << output();
  const json plan = json::parse(last_run().plan);
  ASSERT_EQ(plan.at("backend_files").size(), 1U);
  EXPECT_THAT(plan.at("backend_files").at(0).get<std::string>(), testing::EndsWith("hbmark_fake.so"));
}

}  // namespace
}  // namespace hbmark::tests
