// Files a user names: what is no file is refused at once, and said to be what it is.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "results/base/input_file.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/cli/store_fixture.h"

namespace hbmark::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;

using tests::Ran;
using tests::run_hbmark;

constexpr const char* kBenchmark =
    R"({"context":{"date":"2026-11-30T20:41:11+01:00"},"benchmarks":[{"name":"a","run_type":"iteration",)"
    R"("iterations":7,"real_time":2.0,"time_unit":"us","threads":1}]})";

class InputFiles : public tests::StoreFixture {
 protected:
  std::string db() const { return " --db '" + db_.string() + "' "; }
  std::string pipe() const {
    const std::string name = (folder_ / "pipe").string();
    mkfifo(name.c_str(), 0600);
    return name;
  }
  std::string file(const std::string& text) const {
    const std::string name = (folder_ / "given.json").string();
    std::ofstream(name) << text;
    return name;
  }
  // 124: it would have waited for ever.
  static Ran hurried(const std::string& arguments) { return run_hbmark(arguments + " 2>&1", "timeout 20 env"); }
};

TEST_F(InputFiles, APipeIsRefusedWhereverAFileIsRead) {
  const std::string name = pipe();
  std::filesystem::create_directories(folder_ / "root/proc");
  std::vector<std::string> all = {"import '" + name + "'" + db(), "node --topology '" + name + "'",
                                  "doctor --topology '" + name + "'", "run --dry-run --problems '" + name + "'"};
  const std::string suite = (folder_ / "pipe.toml").string();
  mkfifo(suite.c_str(), 0600);
  all.push_back("run --dry-run --suite '" + suite + "'");
  for (const std::string& arguments : all) {
    const Ran ran = hurried(arguments);
    EXPECT_EQ(ran.code, 2) << arguments << ran.text;
    EXPECT_THAT(ran.text, AllOf(HasSubstr("hbmark: cannot "), HasSubstr("it is a pipe"), HasSubstr("\n  "))) << arguments;
  }
}

TEST_F(InputFiles, APipeAmongTheRecordedFilesOfAMachineIsNoReasonToWait) {
  const std::string xml = (folder_ / "machine.xml").string();
  std::ofstream(xml) << R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc2.dtd">
<topology version="2.0"><object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1"
 nodeset="0x1" complete_nodeset="0x1" allowed_nodeset="0x1" gp_index="1">
<object type="NUMANode" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="3"
 local_memory="1073741824"/>
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" nodeset="0x1" complete_nodeset="0x1" gp_index="2"/>
</object></topology>)";
  const auto root = folder_ / "root";
  std::filesystem::create_directories(root / "proc/self");
  for (const char* name : {"proc/meminfo", "proc/stat", "proc/cpuinfo", "proc/self/cgroup", "proc/self/mountinfo"}) {
    mkfifo((root / name).c_str(), 0600);
  }
  EXPECT_NE(hurried("doctor --topology '" + xml + "' --root '" + root.string() + "'").code, 124);
}

TEST_F(InputFiles, DevicesSocketsAndFoldersAreCalledWhatTheyAre) {
  EXPECT_THAT(hurried("import /dev/zero" + db()).text, HasSubstr("it is a device, not a file"));
  EXPECT_THAT(hurried("import '" + folder_.string() + "'" + db()).text, HasSubstr("it is a folder"));
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = (folder_ / "socket").string();
  ASSERT_LT(name.size(), sizeof address.sun_path);
  std::copy(name.begin(), name.end(), address.sun_path);
  const int made = socket(AF_UNIX, SOCK_STREAM, 0);
  ASSERT_EQ(bind(made, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  const auto read = read_input_file(name, "cannot read it", 1U << 20U);
  close(made);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
  EXPECT_EQ(read.error().why, "it is a socket, not a file");
}

TEST_F(InputFiles, AnAbsentFileIsAUsageErrorEverywhere) {
  for (const std::string& arguments :
       {"import /no/such/file" + db(), std::string("node --topology /no/such/file"),
        std::string("doctor --topology /no/such/file"), std::string("doctor --root /no/such/folder"),
        std::string("run --dry-run --problems /no/such/file"), std::string("run --dry-run --suite /no/such/file.toml")}) {
    EXPECT_EQ(hurried(arguments).code, 2) << arguments;
  }
}

TEST_F(InputFiles, StandardInputIsImported) {
  const std::string name = file(kBenchmark);
  for (const std::string from : {"import -", "import /dev/stdin"}) {
    const Ran ran = tests::shell("cat '" + name + "' | '" HBMARK_PROGRAM "' " + from + db() + "2>&1");
    EXPECT_EQ(ran.code, 0) << from << ran.text;
    EXPECT_THAT(ran.text, HasSubstr(from == "import -" ? "1 case imported" : "holds this file already")) << from;
  }
  EXPECT_THAT(run_hbmark("list" + db()).text, HasSubstr("stdin"));
}

TEST(InputFile, ReadsWholeUpToItsBound) {
  const std::string name = testing::TempDir() + "hbmark-input-" + std::to_string(getpid());
  std::ofstream(name) << std::string(1U << 20U, 'x');
  const auto whole = read_input_file(name, "cannot read it", 1U << 20U);
  std::ofstream(name, std::ios::app) << 'x';
  const auto larger = read_input_file(name, "cannot read it", 1U << 20U);
  std::filesystem::remove(name);
  ASSERT_TRUE(whole);
  EXPECT_EQ(whole->size(), 1U << 20U);
  ASSERT_FALSE(larger);
  EXPECT_EQ(larger.error().why, "it is larger than 1 MiB");
}

TEST_F(InputFiles, AnImportedRunHasNothingToResume) {
  ASSERT_EQ(run_hbmark("import '" + file(kBenchmark) + "' --label theirs" + db()).code, 0);
  EXPECT_THAT(run_hbmark("list" + db()).text, testing::Not(HasSubstr("running")));
  const Ran ran = run_hbmark("run --resume theirs" + db() + "2>&1");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.text, HasSubstr("that run was imported"));
}

}  // namespace
}  // namespace hbmark::cli
