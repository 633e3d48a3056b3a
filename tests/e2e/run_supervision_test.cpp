// The parent against workers that do not keep to the protocol, die at once, or are not there: shell scripts in their place.
#include <unistd.h>

#include <cstdlib>
#include <fstream>

#include "bench/run/process.h"
#include "bench/run/protocol.h"
#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using testing::HasSubstr;

std::string event(EventKind kind, std::int64_t case_index, const char* problem = "") {
  Event event;
  event.kind = kind;
  event.case_index = case_index;
  event.text = "prepare";
  event.result.problem = problem;
  event.result.outcome = Outcome::kUnsupported;
  event.result.reason = "says a script";
  return event_to_line(event);
}

class SupervisionTest : public RunTest {
 protected:
  // A worker that says `lines` (each once: a later worker says `later`) and then does `end`.
  std::string worker(const std::string& lines, const std::string& end, const std::string& later = "exit 9") {
    std::ofstream(folder_ / "lines") << lines;
    const std::string file = (folder_ / "worker.sh").string();
    std::ofstream(file) << "#!/bin/sh\nif [ -e " << folder_.string() << "/began ]; then\n"
                        << later << "\nfi\n: > " << folder_.string() << "/began\ncat " << folder_.string() << "/lines\n"
                        << end << "\n";
    std::filesystem::permissions(file, std::filesystem::perms::owner_all);
    return file;
  }
  // Goes on behind the first case as a good worker does.
  std::string good_end() {
    std::ofstream(folder_ / "rest") << event(EventKind::kCase, 1) << event(EventKind::kResult, 1, kSecond)
                                    << event(EventKind::kDone, -1);
    return "cat " + (folder_ / "rest").string() + "; exit 0";
  }
};

struct Nonsense {
  const char* name;
  std::string lines;
  const char* end;
  const char* reason;
};

void PrintTo(const Nonsense& nonsense, std::ostream* out) { *out << nonsense.name; }

class NonsenseTest : public SupervisionTest, public testing::WithParamInterface<Nonsense> {};

TEST_P(NonsenseTest, FailsItsCaseIsNeverTrustedAndTheRunGoesOn) {
  const Nonsense& nonsense = GetParam();
  const auto summary =
      carry_out_here(plan({kFirst, kSecond}), worker(event(EventKind::kCase, 0) + nonsense.lines, nonsense.end, good_end()));
  ASSERT_TRUE(summary) << summary.error().what << ": " << summary.error().why;
  const auto all = results();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].outcome, Outcome::kFailed) << all[0].reason;
  EXPECT_THAT(all[0].reason, HasSubstr(nonsense.reason));
  EXPECT_EQ(all[1].outcome, Outcome::kUnsupported);
  EXPECT_EQ(all[1].reason, "says a script");
}

INSTANTIATE_TEST_SUITE_P(
    Each, NonsenseTest,
    testing::Values(Nonsense{"garbage", "segmentation fault, or is it\n", "sleep 60", "segmentation fault, or is it"},
                    Nonsense{"binary",
                             std::string("\x7f"
                                         "ELF\x00\x01\xff\n",
                                         8),
                             "sleep 60", "not of its protocol"},
                    Nonsense{"cut_off", event(EventKind::kResult, 0, kFirst).substr(0, 200), "exit 0",
                             "in the middle of a line"},
                    Nonsense{"another_case", event(EventKind::kResult, 1, kSecond), "sleep 60", "out of turn"},
                    Nonsense{"another_problem", event(EventKind::kResult, 0, kSecond), "sleep 60", "out of turn"},
                    Nonsense{"two_at_once", event(EventKind::kCase, 1), "sleep 60", "out of turn"},
                    Nonsense{"phase_of_another", event(EventKind::kPhase, 1), "sleep 60", "out of turn"},
                    Nonsense{"done_too_early", event(EventKind::kDone, -1), "sleep 60", "cases left"},
                    Nonsense{"silent_exit", event(EventKind::kPhase, 0), "exit 7", "exit code 7 during prepare"},
                    Nonsense{"endless_line", "", "yes | tr -d '\\n' | head -c 20000000; sleep 60", "more than"},
                    Nonsense{"closed_line", "", "exec 1>&-; sleep 60", "closed its line"}),
    [](const auto& nonsense) { return nonsense.param.name; });

TEST_F(SupervisionTest, AWorkerThatDiesBetweenCasesIsReplacedAndNobodyIsBlamed) {
  std::vector<std::string> warnings;
  RunObserver observer;
  observer.warning = [&](const std::string& text) { warnings.push_back(text); };
  const std::string lines = event(EventKind::kCase, 0) + event(EventKind::kResult, 0, kFirst);
  ASSERT_TRUE(carry_out_here(plan({kFirst, kSecond}), worker(lines, "exit 5", good_end()), observer));
  const auto all = results();
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].reason, "says a script");
  EXPECT_EQ(all[1].reason, "says a script");
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("exit code 5"));
}

TEST_F(SupervisionTest, AWorkerThatGoesDownBadlyAfterItsWorkIsToldOf) {
  std::vector<std::string> warnings;
  RunObserver observer;
  observer.warning = [&](const std::string& text) { warnings.push_back(text); };
  const std::string lines = event(EventKind::kCase, 0) + event(EventKind::kResult, 0, kFirst) + event(EventKind::kDone, -1);
  ASSERT_TRUE(carry_out_here(plan({kFirst}), worker(lines, "kill -SEGV $$"), observer));
  EXPECT_EQ(results().size(), 1U);
  ASSERT_EQ(warnings.size(), 1U);
  EXPECT_THAT(warnings[0], HasSubstr("SIGSEGV"));
}

TEST_F(SupervisionTest, WorkersThatEndBeforeTheirFirstCaseEndTheRun) {
  const auto summary = carry_out_here(
      plan({kFirst}), worker("", "echo cannot load libgomp >&2; exit 127", "echo cannot load libgomp >&2; exit 127"));
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(summary.error().why, HasSubstr("exit code 127"));
  EXPECT_THAT(summary.error().why, HasSubstr("cannot load libgomp"));
  EXPECT_EQ(last_run().state, "interrupted");
  EXPECT_TRUE(results().empty());
}

TEST_F(SupervisionTest, AProgramThatIsNotThereIsAnError) {
  const auto summary = carry_out_here(plan({kFirst}), (folder_ / "nothing").string());
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(summary.error().why, HasSubstr("No such file"));
}

TEST_F(SupervisionTest, TheWorkersSurroundingsAreAsPlanned) {
  setenv("BENCHMARK_FILTER", "nothing", 1);
  setenv("OMP_NUM_THREADS", "77", 1);
  setenv("GOMP_CPU_AFFINITY", "0", 1);
  setenv("OMP_MAX_ACTIVE_LEVELS", "0", 1);  // would leave one thread of every team
  setenv("KMP_HW_SUBSET", "1c", 1);
  const std::string out = (folder_ / "seen").string();
  auto summary = carry_out_here(
      plan({kFirst}),
      worker("", "{ env; echo; readlink /proc/self/fd/0; ls /proc/$$/fd; echo \"$1\"; } > " + out + "; exit 1", "exit 1"));
  unsetenv("BENCHMARK_FILTER");
  unsetenv("OMP_NUM_THREADS");
  unsetenv("GOMP_CPU_AFFINITY");
  unsetenv("OMP_MAX_ACTIVE_LEVELS");
  unsetenv("KMP_HW_SUBSET");
  EXPECT_FALSE(summary);
  std::ifstream file(out);
  const std::string seen((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(seen, HasSubstr("OMP_NUM_THREADS=1\n"));
  EXPECT_THAT(seen, HasSubstr("OMP_PLACES={"));
  EXPECT_THAT(seen, HasSubstr("\n/dev/null\n"));
  EXPECT_THAT(seen, HasSubstr("worker"));
  EXPECT_THAT(seen, testing::Not(HasSubstr("BENCHMARK_")));
  for (const char* name : {"GOMP_CPU_AFFINITY", "OMP_MAX_ACTIVE_LEVELS", "KMP_HW_SUBSET"})
    EXPECT_THAT(seen, testing::Not(HasSubstr(name)));
}

TEST_F(SupervisionTest, NoDescriptorOfTheStoreReachesTheWorker) {
  const std::string out = (folder_ / "seen").string();
  EXPECT_FALSE(carry_out_here(plan({kFirst}), worker("", "ls -l /proc/$$/fd > " + out + "; exit 1", "exit 1")));
  std::ifstream file(out);
  const std::string seen((std::istreambuf_iterator<char>(file)), {});
  EXPECT_THAT(seen, HasSubstr("hbmark-plan"));
  EXPECT_THAT(seen, testing::Not(HasSubstr("results.db")));
}

TEST_F(SupervisionTest, AFileTailIsWholeCharactersWithoutControls) {
  const std::string name = (folder_ / "text").string();
  std::ofstream(name) << "abc\xC3\xA9"
                         "de\x1b[31m\tf\n";
  std::FILE* file = std::fopen(name.c_str(), "r");
  ASSERT_NE(file, nullptr);
  EXPECT_EQ(file_tail(fileno(file), 100),
            "abc\xC3\xA9"
            "de?[31m\tf\n");
  EXPECT_EQ(file_tail(fileno(file), 12),
            "\xC3\xA9"
            "de?[31m\tf\n");
  EXPECT_EQ(file_tail(fileno(file), 11), "de?[31m\tf\n") << "half a character is left out";
  std::fclose(file);
}

}  // namespace
}  // namespace hbmark::tests
