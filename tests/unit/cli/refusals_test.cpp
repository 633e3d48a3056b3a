// Slips of the hand and small limits: said for what they are, before anything is measured or stored.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "bench/cli/canvas.h"
#include "bench/cli/commands.h"
#include "bench/cli/output.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/cli/store_fixture.h"

namespace hbmark::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

using tests::Ran;
using tests::run_hbmark;
using tests::shell;

class Refusals : public tests::StoreFixture {
 protected:
  std::string db() const { return " --db '" + db_.string() + "' "; }
  // In a shell with such a limit. It may be lowered by anybody, and root may raise it again.
  static Ran limited(const std::string& limit, const std::string& arguments) {
    return shell("bash -c \"exec 3>&- 4>&- 5>&- 6>&-; ulimit " + limit + "; LC_ALL=C '" HBMARK_PROGRAM "' " + arguments +
                 " 2>&1\"");
  }
};

TEST_F(Refusals, ASwitchTakesNoValue) {
  for (const char* arguments :
       {"list --quiet=false", "list -q=0", "--verbose=true list", "show --summary=no", "--version=1"}) {
    const Ran ran = run_hbmark(std::string(arguments) + db() + "2>&1");
    EXPECT_EQ(ran.code, 2) << arguments;
    EXPECT_THAT(ran.text, HasSubstr("takes no value")) << arguments;
  }
  EXPECT_EQ(run_hbmark("list --format=json" + db()).code, 0);
}

TEST_F(Refusals, FormatsComeFromTheTable) {
  EXPECT_THAT(run_hbmark("help export").text, HasSubstr("json (JSON Lines), csv or gbench (default: json)"));
  EXPECT_THAT(run_hbmark("help node").text, HasSubstr("text or json (JSON Lines) (default: text)"));
  EXPECT_THAT(run_hbmark("export --format text 2>&1" + db()).text, HasSubstr("use json, csv or gbench"));
  EXPECT_THAT(run_hbmark("node --format csv 2>&1").text, HasSubstr("use text or json"));
  for (const Command& row : commands()) EXPECT_FALSE(formats_of(row.name).empty()) << row.name;
}

TEST_F(Refusals, NoSuchRunIsShort) {
  const Ran ran = run_hbmark("show NOSUCH" + db() + "2>&1");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.text, AllOf(HasSubstr("3f2a9c1e ("), Not(HasSubstr("3f2a9c1e-")), HasSubstr("`hbmark list` shows all")));
}

TEST_F(Refusals, ADeadRunIsNotCalledRunningWhenNothingCanBeAsked) {
  RunRecord run = store_->find_run("last").value();
  run.state = "running";
  ASSERT_TRUE(store_->save_run(run));
  store_.reset();  // so that no log lies beside it: the store takes the last descriptor, and nothing more can be asked
  const Ran ran = limited("-n 4", "list" + db());
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, AllOf(HasSubstr("unknown"), HasSubstr("Too many open files"), HasSubstr("ulimit -n")));
}

TEST_F(Refusals, TheLimitOfOpenFilesIsNamed) {
  // The log of the writer in this process takes one more than there is.
  EXPECT_THAT(limited("-n 4", "list" + db()).text, AllOf(HasSubstr("cannot open the store"), HasSubstr("ulimit -n")));
}

TEST_F(Refusals, WithoutSysTheMessageIsOursAlone) {
  // In a mount namespace of its own, as root may have one.
  if (shell("unshare -m umount -l /sys 2>/dev/null").code != 0) GTEST_SKIP() << "needs the right to unmount /sys";
  const Ran ran = shell("unshare -m sh -c \"umount -l /sys; LC_ALL=C '" HBMARK_PROGRAM "' node\" 2>&1");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, AllOf(HasSubstr("sys-unreadable"), Not(HasSubstr("[hwloc"))));
}

TEST_F(Refusals, TheSummaryOfAnImportHasItsMedian) {
  const std::string file = (folder_ / "their.json").string();
  std::ofstream(file) << R"({"context":{},"benchmarks":[{"name":"a","iterations":7,"real_time":2.0,"time_unit":"us"}]})";
  ASSERT_EQ(run_hbmark("import '" + file + "' --label theirs" + db()).code, 0);
  EXPECT_THAT(run_hbmark("show theirs --summary" + db()).text, HasSubstr("2.000 us"));
  const std::string lines = run_hbmark("show theirs --summary --format json" + db()).text;
  const auto first = nlohmann::json::parse(lines.substr(0, lines.find('\n')));
  EXPECT_EQ(first["best"]["problem"], "a");
  EXPECT_DOUBLE_EQ(first["best"]["time_s"]["median"].get<double>(), 2e-6);
}

TEST_F(Refusals, ASummaryInUtf8HasOneSignForPlusAndMinus) {
  const Ran ran = shell("LC_ALL=C.UTF-8 '" HBMARK_PROGRAM "' show --summary" + db());
  EXPECT_THAT(ran.text, AllOf(HasSubstr("±"), Not(HasSubstr("+-"))));
}

TEST_F(Refusals, ASmallStackIsRaisedOrNamedAndNoCrash) {
  for (const char* arguments : {"list suites", "show --summary", "run --dry-run"}) {
    const Ran ran = limited("-s 32", arguments + db());
    EXPECT_TRUE(ran.code == 0 || ran.code == 3) << arguments << ran.code << ran.text;
  }
}

TEST_F(Refusals, RelativeFoldersOfTheUserAreIgnoredWithAWarning) {
  const Ran ran = run_hbmark("list 2>&1", "cd '" + folder_.string() + "'; env -u HBMARK_DB HOME=here XDG_DATA_HOME=there");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.text, AllOf(HasSubstr("XDG_DATA_HOME is 'there'"), HasSubstr("HOME is 'here'"), HasSubstr("--db")));
  EXPECT_FALSE(default_db(
      [](const char* name) { return std::string(name) == "HOME" ? std::optional<std::string>("here") : std::nullopt; }));
}

TEST_F(Refusals, AnOutputThatCannotBeMadeIsFoundBeforeTheRun) {
  const std::string file = (folder_ / "file").string();
  std::ofstream(file) << "x";
  for (const std::string& place : {std::string("."), std::string(""), file + "/out", (folder_ / "no/out").string(),
                                   (folder_ / std::string(254, 'x')).string(), (folder_ / "new/").string()}) {
    if (place.empty()) continue;
    EXPECT_FALSE(check_output(place)) << place;
  }
  EXPECT_TRUE(check_output((folder_ / "out").string()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out")) << "looking leaves nothing";
}

TEST_F(Refusals, ADryRunTellsOfColdCachesAndEnergy) {
  const std::string arguments =
      "run --dry-run --backend fake --problem stream:triad:f64:1048576 --backend-path '" HBMARK_TEST_BACKENDS "'";
  EXPECT_THAT(run_hbmark(arguments + " --energy" + db()).text,
              AllOf(HasSubstr("2.0 s of energy windows"), HasSubstr("energy ")));
  EXPECT_THAT(run_hbmark(arguments + " --cold-cache" + db()).text, HasSubstr("cold caches"));
  const auto line = nlohmann::json::parse(run_hbmark(arguments + " --energy --format json" + db()).text);
  EXPECT_EQ(line["energy_window_s"], 2.0);
  EXPECT_EQ(line["cold_cache"], false);
}

TEST_F(Refusals, AReaderThatHasGoneIsOneErrorForEveryCommand) {
  for (const std::string& arguments :
       {"list" + db(), "show" + db(), "show --summary" + db(), "export" + db(), std::string("help run"),
        std::string("run --help"), std::string("--version"), std::string("generate man"), std::string("list suites")}) {
    // The reader is gone before the first byte is written.
    const Ran ran =
        shell("bash -c \"(sleep 0.2; '" HBMARK_PROGRAM "' " + arguments + " 2>/dev/null) | true; exit \\${PIPESTATUS[0]}\"");
    EXPECT_EQ(ran.code, 3) << arguments;
  }
}

TEST(Canvas, MarksOfTwoKindsInOnePlaceAreSeen) {
  Canvas canvas(20, 6, {1, 10, "", false}, {1, 10, "", false}, false);
  canvas.mark(2, 2, 'a');
  canvas.mark(2, 2, 'a');
  EXPECT_FALSE(canvas.shared());
  canvas.mark(2, 2, 'b');
  EXPECT_TRUE(canvas.shared());
  EXPECT_THAT(canvas.render(Style{}), HasSubstr("*"));
}

}  // namespace
}  // namespace hbmark::cli
