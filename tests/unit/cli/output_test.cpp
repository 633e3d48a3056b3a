#include "bench/cli/output.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>

#include "bench/cli/commands.h"
#include "bench/cli/terminal.h"

namespace hbmark::cli {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class Output : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "hbmark_output_XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override {
    std::error_code ignored;
    fs::remove_all(folder_, ignored);
  }
  static std::string read(const fs::path& file) {
    std::ostringstream text;
    text << std::ifstream(file).rdbuf();
    return text.str();
  }
  fs::path folder_;
};

TEST_F(Output, ReplacesAFileWholeAndKeepsItsRights) {
  const fs::path file = folder_ / "out.txt";
  std::ofstream(file) << "a longer text that was there before";
  ASSERT_EQ(chmod(file.c_str(), 0640), 0);
  ASSERT_TRUE(write_output(file.string(), "new\n"));
  EXPECT_EQ(read(file), "new\n");
  struct stat status {};
  ASSERT_EQ(stat(file.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0640U);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file is left";
}

TEST_F(Output, KeepsALinkAndReplacesWhatIsBehindIt) {
  std::ofstream(folder_ / "real.txt") << "old";
  fs::create_symlink("real.txt", folder_ / "link.txt");
  ASSERT_TRUE(write_output((folder_ / "link.txt").string(), "new"));
  EXPECT_TRUE(fs::is_symlink(folder_ / "link.txt"));
  EXPECT_EQ(read(folder_ / "real.txt"), "new");
}

TEST_F(Output, SaysWhyItCannotBeWritten) {
  for (const bool before : {true, false}) {
    const auto status = [&](const std::string& place) { return before ? check_output(place) : write_output(place, "x"); };
    const auto is_folder = status(folder_.string());
    ASSERT_FALSE(is_folder);
    EXPECT_EQ(is_folder.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(is_folder.error().why, HasSubstr("directory"));
    ASSERT_FALSE(status((folder_ / "missing" / "out.txt").string()));
  }
  EXPECT_TRUE(check_output((folder_ / "new.txt").string()));
  EXPECT_FALSE(fs::exists(folder_ / "new.txt")) << "looking writes nothing";
}

TEST_F(Output, AFullDeviceIsAnError) {
  const auto written = write_output("/dev/full", "x");
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(written.error().next, HasSubstr("space"));
  EXPECT_TRUE(write_output("/dev/null", "x"));
}

TEST_F(Output, WriteAllReportsAClosedPipe) {
  int ends[2];
  ASSERT_EQ(pipe2(ends, O_CLOEXEC), 0);
  close(ends[0]);
  const auto before = signal(SIGPIPE, SIG_IGN);
  EXPECT_EQ(write_all(ends[1], "x"), EPIPE);
  signal(SIGPIPE, before);
  close(ends[1]);
}

Environment variables(std::map<std::string, std::string> values) {
  return [values = std::move(values)](const char* name) -> std::optional<std::string> {
    const auto found = values.find(name);
    return found == values.end() ? std::nullopt : std::optional<std::string>(found->second);
  };
}

TEST(Terminal, Utf8FollowsTheFirstLocaleThatIsSet) {
  EXPECT_TRUE(wants_utf8(variables({{"LANG", "de_DE.UTF-8"}})));
  EXPECT_TRUE(wants_utf8(variables({{"LC_ALL", ""}, {"LC_CTYPE", "C.utf8"}})));
  EXPECT_FALSE(wants_utf8(variables({{"LC_ALL", "C"}, {"LANG", "de_DE.UTF-8"}})));
  EXPECT_FALSE(wants_utf8(variables({})));
}

TEST(Terminal, ColourFollowsTheUserThenTheEnvironment) {
  const Environment xterm = variables({{"TERM", "xterm-256color"}});
  EXPECT_TRUE(wants_color(ColorWish::kAuto, true, xterm));
  EXPECT_FALSE(wants_color(ColorWish::kAuto, false, xterm));
  EXPECT_FALSE(wants_color(ColorWish::kAuto, true, variables({{"TERM", "dumb"}})));
  EXPECT_FALSE(wants_color(ColorWish::kAuto, true, variables({})));
  const Environment no_color = variables({{"TERM", "xterm"}, {"NO_COLOR", "1"}});
  EXPECT_FALSE(wants_color(ColorWish::kAuto, true, no_color));
  EXPECT_TRUE(wants_color(ColorWish::kAlways, false, no_color));
  EXPECT_FALSE(wants_color(ColorWish::kNever, true, xterm));
  EXPECT_TRUE(wants_color(ColorWish::kAuto, true, variables({{"TERM", "xterm"}, {"NO_COLOR", ""}})));
}

TEST(Terminal, ARealOneTellsItsWidth) {
  int parent = -1;
  int terminal = -1;
  winsize size{};
  size.ws_col = 72;
  size.ws_row = 20;
  ASSERT_EQ(openpty(&parent, &terminal, nullptr, nullptr, &size), 0);
  EXPECT_EQ(terminal_columns(terminal), 72);
  EXPECT_TRUE(can_redraw(terminal, variables({{"TERM", "xterm"}})));
  EXPECT_FALSE(can_redraw(terminal, variables({{"TERM", "dumb"}})));
  const Style style = style_for(terminal, ColorWish::kAuto, variables({{"TERM", "xterm"}, {"LANG", "C.UTF-8"}}));
  EXPECT_EQ(style.width, 72);
  EXPECT_TRUE(style.color);
  EXPECT_TRUE(style.utf8);
  close(terminal);
  close(parent);
}

TEST(DefaultStore, FollowsXdg) {
  EXPECT_EQ(default_db(variables({{"HBMARK_DB", "a.db"}, {"HOME", "/h"}})).value(), "a.db");
  EXPECT_EQ(default_db(variables({{"XDG_DATA_HOME", "/data"}, {"HOME", "/h"}})).value(), "/data/hbmark/results.db");
  EXPECT_EQ(default_db(variables({{"XDG_DATA_HOME", "relative"}, {"HOME", "/h"}})).value(),
            "/h/.local/share/hbmark/results.db");
  EXPECT_EQ(default_db(variables({{"HOME", "/h"}})).value(), "/h/.local/share/hbmark/results.db");
  EXPECT_FALSE(default_db(variables({})));
}

}  // namespace
}  // namespace hbmark::cli
