// The program itself, started as a user starts it: exit codes, what goes to which stream, what happens to a closed stdout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

#include "tests/unit/cli/store_fixture.h"

namespace hbmark::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

struct Ran {
  int code = -1;
  std::string text;
};

// `arguments` may redirect; what is left of stdout is captured.
Ran run(const std::string& arguments, const std::string& before = "") {
  const std::string command = before + " LC_ALL=C '" HBMARK_PROGRAM "' " + arguments;
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> block{};
  for (std::size_t got = 0; (got = fread(block.data(), 1, block.size(), pipe)) > 0;) ran.text.append(block.data(), got);
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

TEST(Program, TellsItsVersion) {
  const Ran ran = run("--version");
  EXPECT_EQ(ran.code, 0);
  EXPECT_EQ(ran.text, "hbmark " HBMARK_VERSION "\n");
}

TEST(Program, UsageErrorsGoToStderrWithExitCode2) {
  for (const char* arguments : {"",
                                "runn",
                                "run --budgt 3",
                                "run extra",
                                "show a b",
                                "run --precision nan",
                                "run --precision -1",
                                "run --budget 1e30",
                                "run --budget 0",
                                "run --timeout inf",
                                "run --threads 0",
                                "run --threads -1",
                                "run --threads 99999999999",
                                "run --seed x",
                                "run --label last",
                                "run --resume last --seed 2",
                                "--format xml list",
                                "--color maybe list",
                                "list nothing",
                                "node --format csv",
                                "export --format text",
                                "run --budget",
                                "help no-such-command",
                                "run --precision 2% --precision 3%"}) {
    const Ran quiet = run(std::string(arguments) + " 2>/dev/null");
    EXPECT_EQ(quiet.code, 2) << arguments;
    EXPECT_THAT(quiet.text, IsEmpty()) << arguments;
    const Ran told = run(std::string(arguments) + " 2>&1 >/dev/null");
    EXPECT_THAT(told.text, HasSubstr("hbmark: ")) << arguments;
  }
}

TEST(Program, SuggestsWhatWasMeant) {
  EXPECT_THAT(run("shwo 2>&1").text, HasSubstr("did you mean `hbmark show`?"));
  EXPECT_THAT(run("run --percision 2% 2>&1").text, HasSubstr("did you mean --precision?"));
  EXPECT_THAT(run("list suits 2>&1").text, HasSubstr("did you mean `hbmark list suites`?"));
}

TEST(Program, AStdoutThatTakesNothingIsAnErrorOfTheEnvironment) {
  for (const char* where : {">/dev/full", ">&-"}) {
    const Ran ran = run(std::string("--version 2>&1 ") + where);
    EXPECT_EQ(ran.code, 3) << where;
  }
  EXPECT_THAT(run("help 2>&1 >/dev/full").text, StartsWith("hbmark: cannot write to stdout"));
}

TEST(Program, GlobalOptionsStandBeforeOrAfterTheCommand) {
  const Ran before = run("--format json list kernels");
  const Ran after = run("list kernels --format json");
  EXPECT_EQ(before.code, 0);
  EXPECT_EQ(before.text, after.text);
  EXPECT_THAT(before.text, HasSubstr("\"hbmark.kernel/1\""));
}

TEST(Program, HelpIsTheSameHoweverItIsAskedFor) {
  EXPECT_EQ(run("help run").text, run("run --help").text);
  EXPECT_EQ(run("help").text, run("-h").text);
  EXPECT_EQ(run("run -h").code, 0);
}

TEST(Program, ColourOnlyWhenAsked) {
  EXPECT_THAT(run("node --color always").text, HasSubstr("\x1b["));
  EXPECT_THAT(run("node").text, Not(HasSubstr("\x1b[")));
}

class ProgramStore : public tests::StoreFixture {
 protected:
  std::string db() const { return " --db '" + db_.string() + "' "; }
};

TEST_F(ProgramStore, ShowsListsAndExports) {
  EXPECT_THAT(run("show" + db()).text, HasSubstr("413 GFLOP/s"));
  EXPECT_THAT(run("show 3f2a9c1e --format json" + db()).text, HasSubstr("\"hbmark.result/1\""));
  const Ran list = run("list" + db());
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.text, HasSubstr("before BIOS update"));
  EXPECT_THAT(run("list --format csv" + db()).text, HasSubstr("\"6\",\"2\",\"1\""));
  EXPECT_THAT(run("export --format json" + db()).text, HasSubstr("\"values\":["));
  const std::string file = (folder_ / "out.csv").string();
  const Ran exported = run("export --format csv --output '" + file + "'" + db());
  EXPECT_EQ(exported.code, 0);
  EXPECT_THAT(exported.text, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(ProgramStore, RefusesStoresThatAreNone) {
  for (const std::string& place : {folder_.string(), (folder_ / "missing.db").string(), std::string("/dev/null")}) {
    const Ran ran = run("show --db '" + place + "' 2>&1");
    EXPECT_EQ(ran.code, 3) << place << ran.text;
    EXPECT_THAT(ran.text, StartsWith("hbmark: ")) << place;
  }
  EXPECT_EQ(run("show --db '" + db_.string() + "' no-such-run 2>/dev/null").code, 2);
}

TEST_F(ProgramStore, LooksAtTheOutputBeforeItMeasures) {
  const Ran ran = run("run --output '" + folder_.string() + "'" + db() + "2>&1");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.text, HasSubstr("directory"));
}

}  // namespace
}  // namespace hbmark::cli
