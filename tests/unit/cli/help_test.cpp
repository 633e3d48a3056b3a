#include "bench/cli/help.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "bench/cli/parser.h"
#include "bench/cli/report.h"
#include "tests/unit/cli/golden.h"

namespace hbmark::cli {
namespace {

using testing::HasSubstr;
using testing::Not;

class Help : public testing::Test {
 protected:
  Globals globals_;
  std::vector<Action> actions_;
  std::unique_ptr<CLI::App> app_ = make_parser(globals_, actions_);

  std::string of(const std::string& name) {
    const auto found = app_->get_subcommands([&](CLI::App* command) { return command->get_name() == name; });
    return found.empty() ? "" : command_help(*found.front(), *app_);
  }
};

TEST_F(Help, Overview) { tests::expect_golden("help.txt", overview_help(*app_)); }
TEST_F(Help, Run) { tests::expect_golden("help_run.txt", of("run")); }
TEST_F(Help, Show) { tests::expect_golden("help_show.txt", of("show")); }
TEST_F(Help, Compare) { tests::expect_golden("help_compare.txt", of("compare")); }
TEST_F(Help, Export) { tests::expect_golden("help_export.txt", of("export")); }

TEST_F(Help, EveryCommandExplainsItselfIn80Columns) {
  for (const Command& row : commands()) {
    const std::string text = of(std::string(row.name));
    ASSERT_FALSE(text.empty()) << row.name;
    if (!row.hidden) {
      EXPECT_THAT(text, HasSubstr("Examples:\n")) << row.name;
      EXPECT_THAT(overview_help(*app_), HasSubstr("  " + std::string(row.name) + " ")) << row.name;
    }
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) EXPECT_LE(display_width(line), 80) << line;
  }
  EXPECT_THAT(overview_help(*app_), Not(HasSubstr("worker")));
}

TEST_F(Help, CommandNamesAreUnique) {
  std::set<std::string_view> names;
  for (const Command& row : commands()) EXPECT_TRUE(names.insert(row.name).second) << row.name;
  EXPECT_EQ(actions_.size(), names.size());
}

// What the examples of the help show has to be understood by the parser.
TEST_F(Help, ExamplesParse) {
  for (const Command& row : commands()) {
    std::istringstream lines{std::string(row.examples)};
    for (std::string line; std::getline(lines, line);) {
      Globals globals;
      std::vector<Action> actions;
      const auto app = make_parser(globals, actions);
      const std::string arguments = line.substr(0, line.find(" | ")).substr(std::string("hbmark ").size());
      EXPECT_NO_THROW(app->parse(arguments)) << line;
      EXPECT_THAT(app->remaining(true), testing::IsEmpty()) << line;
      ASSERT_EQ(app->get_subcommands().size(), 1U) << line;
      EXPECT_EQ(app->get_subcommands().front()->get_name(), row.name);
    }
  }
}

TEST(Report, TellsWhatWhyAndNext) {
  const Error error{ErrorKind::kEnvironment, "cannot open the store x.db", "it is a directory", "give a file name"};
  EXPECT_EQ(error_text(error, Style{}), "hbmark: cannot open the store x.db: it is a directory\n  give a file name\n");
  const Error bug{ErrorKind::kInternal, "plan", "no action", ""};
  EXPECT_THAT(error_text(bug, Style{}), HasSubstr("please report it"));
  EXPECT_EQ(error_text({ErrorKind::kUsage, "a\x1b[2J", "", ""}, Style{}), "hbmark: a?[2J\n");
}

TEST(Report, ExitCodesAreThoseOfTheDesign) {
  EXPECT_EQ(exit_code(ErrorKind::kUsage), 2);
  EXPECT_EQ(exit_code(ErrorKind::kEnvironment), 3);
  EXPECT_EQ(exit_code(ErrorKind::kNothingRan), 4);
  EXPECT_EQ(exit_code(ErrorKind::kInterrupted), 130);
  EXPECT_EQ(exit_code(ErrorKind::kInternal), 3);
}

}  // namespace
}  // namespace hbmark::cli
