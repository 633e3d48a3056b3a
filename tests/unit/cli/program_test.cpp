// The program itself, started as a user starts it: exit codes, what goes to which stream, what happens to a closed stdout.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "tests/unit/cli/shell.h"
#include "tests/unit/cli/store_fixture.h"

namespace hbmark::cli {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using tests::Ran;
using tests::run_hbmark;

TEST(Program, TellsItsVersion) {
  const Ran ran = run_hbmark("--version");
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
    const Ran quiet = run_hbmark(std::string(arguments) + " 2>/dev/null");
    EXPECT_EQ(quiet.code, 2) << arguments;
    EXPECT_THAT(quiet.text, IsEmpty()) << arguments;
    const Ran told = run_hbmark(std::string(arguments) + " 2>&1 >/dev/null");
    EXPECT_THAT(told.text, HasSubstr("hbmark: ")) << arguments;
  }
}

TEST(Program, SuggestsWhatWasMeant) {
  EXPECT_THAT(run_hbmark("shwo 2>&1").text, HasSubstr("did you mean `hbmark show`?"));
  EXPECT_THAT(run_hbmark("run --percision 2% 2>&1").text, HasSubstr("did you mean --precision?"));
  EXPECT_THAT(run_hbmark("list suits 2>&1").text, HasSubstr("did you mean `hbmark list suites`?"));
}

TEST(Program, AStdoutThatTakesNothingIsAnErrorOfTheEnvironment) {
  for (const char* where : {">/dev/full", ">&-"}) {
    const Ran ran = run_hbmark(std::string("--version 2>&1 ") + where);
    EXPECT_EQ(ran.code, 3) << where;
  }
  EXPECT_THAT(run_hbmark("help 2>&1 >/dev/full").text, StartsWith("hbmark: cannot write to stdout"));
}

TEST(Program, GlobalOptionsStandBeforeOrAfterTheCommand) {
  const Ran before = run_hbmark("--format json list kernels");
  const Ran after = run_hbmark("list kernels --format json");
  EXPECT_EQ(before.code, 0);
  EXPECT_EQ(before.text, after.text);
  EXPECT_THAT(before.text, HasSubstr("\"hbmark.kernel/1\""));
}

TEST(Program, HelpIsTheSameHoweverItIsAskedFor) {
  EXPECT_EQ(run_hbmark("help run").text, run_hbmark("run --help").text);
  EXPECT_EQ(run_hbmark("help").text, run_hbmark("-h").text);
  EXPECT_EQ(run_hbmark("run -h").code, 0);
}

TEST(Program, ColourOnlyWhenAsked) {
  EXPECT_THAT(run_hbmark("node --color always").text, HasSubstr("\x1b["));
  EXPECT_THAT(run_hbmark("node").text, Not(HasSubstr("\x1b[")));
}

class ProgramStore : public tests::StoreFixture {
 protected:
  std::string db() const { return " --db '" + db_.string() + "' "; }
};

TEST_F(ProgramStore, ShowsListsAndExports) {
  EXPECT_THAT(run_hbmark("show" + db()).text, HasSubstr("413 GFLOP/s"));
  EXPECT_THAT(run_hbmark("show 3f2a9c1e --format json" + db()).text, HasSubstr("\"hbmark.result/1\""));
  const Ran list = run_hbmark("list" + db());
  EXPECT_EQ(list.code, 0);
  EXPECT_THAT(list.text, HasSubstr("before BIOS update"));
  EXPECT_THAT(run_hbmark("list --format csv" + db()).text, HasSubstr("\"6\",\"2\",\"1\""));
  EXPECT_THAT(run_hbmark("export --format json" + db()).text, HasSubstr("\"values\":["));
  const std::string file = (folder_ / "out.csv").string();
  const Ran exported = run_hbmark("export --format csv --output '" + file + "'" + db());
  EXPECT_EQ(exported.code, 0);
  EXPECT_THAT(exported.text, IsEmpty());
  EXPECT_TRUE(std::filesystem::exists(file));
}

TEST_F(ProgramStore, RefusesStoresThatAreNone) {
  for (const std::string& place : {folder_.string(), (folder_ / "missing.db").string(), std::string("/dev/null")}) {
    const Ran ran = run_hbmark("show --db '" + place + "' 2>&1");
    EXPECT_EQ(ran.code, 3) << place << ran.text;
    EXPECT_THAT(ran.text, StartsWith("hbmark: ")) << place;
  }
  EXPECT_EQ(run_hbmark("show --db '" + db_.string() + "' no-such-run 2>/dev/null").code, 2);
}

TEST_F(ProgramStore, LooksAtTheOutputBeforeItMeasures) {
  const Ran ran = run_hbmark("run --output '" + folder_.string() + "'" + db() + "2>&1");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.text, HasSubstr("directory"));
}

}  // namespace
}  // namespace hbmark::cli
