// `hbmark node` and `hbmark doctor` as a user starts them: recorded machines, tables that are broken, backends that warn.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/shared_data.h"
#include "tests/unit/cli/lines.h"
#include "tests/unit/cli/shell.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;
using tests::Ran;
using tests::run_hbmark;

const std::string kData = HBMARK_SOURCE_DIR "/tests/unit/topology/data/";
const std::string kQuarterOfKnl = kData + "knl7250-snc4-flat-cgroup-local.xml";

class NodeAndDoctor : public testing::Test {
 protected:
  void SetUp() override { std::filesystem::create_directories(folder_); }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  static std::vector<json> json_lines(const std::string& text) {
    std::vector<json> lines;
    std::istringstream in(text);
    for (std::string line; std::getline(in, line);) lines.push_back(json::parse(line));
    return lines;
  }

  const std::filesystem::path folder_ = std::filesystem::temp_directory_path() / ("hbmark-node-" + std::to_string(getpid()));
};

TEST_F(NodeAndDoctor, OneMachineInTwoModesHasOneIdentity) {
  HBMARK_NEED_SHARED("data/topologies");
  std::set<std::string> seen;
  for (const char* mode : {"flat", "cache"}) {
    const auto file =
        hbmark::tests::shared_dir() / ("data/topologies/xeonmax9462-2s-" + std::string(mode) + "-snc4-real.xml");
    const json line = json_lines(run_hbmark("node --format json --topology '" + file.string() + "'").text).at(0);
    EXPECT_EQ(line["memory_mode"]["value"], mode);
    seen.insert(line["identity"]["uuid"].get<std::string>());
  }
  EXPECT_EQ(seen.size(), 1U);
}

TEST_F(NodeAndDoctor, TheUsersOwnNameForANodeWins) {
  const auto identity = [](const std::string& name) {
    setenv("HBMARK_NODE_ID", name.c_str(), 1);
    const json line = json_lines(run_hbmark("node --format json").text).at(0);
    unsetenv("HBMARK_NODE_ID");
    return line["identity"];
  };
  EXPECT_EQ(identity("rack 7"), identity("rack 7"));
  EXPECT_NE(identity("rack 7"), identity("rack 8"));
  EXPECT_EQ(identity("rack 7")["source"], "$HBMARK_NODE_ID");
  EXPECT_NE(identity("")["source"], "$HBMARK_NODE_ID") << "empty is unset";
}

TEST_F(NodeAndDoctor, EveryRecordedMachineIsOneLineOfJsonAndAText) {
  HBMARK_NEED_SHARED("data/topologies");
  std::size_t machines = 0;
  for (const auto& entry : std::filesystem::directory_iterator(hbmark::tests::shared_dir() / "data/topologies")) {
    if (entry.path().extension() != ".xml") continue;
    ++machines;
    const std::string file = "--topology '" + entry.path().string() + "'";
    const Ran ran = run_hbmark("node --format json " + file);
    EXPECT_EQ(ran.code, 0) << file;
    const auto lines = json_lines(ran.text);
    ASSERT_EQ(lines.size(), 1U) << file;
    EXPECT_EQ(lines[0]["schema"], "hbmark.node/1");
    EXPECT_TRUE(lines[0].contains("nominal")) << file;
    EXPECT_EQ(lines[0]["this_system"], false);
    for (const json& gpu : lines[0]["gpus"]) EXPECT_TRUE(gpu.contains("nominal")) << file;
    const Ran text = run_hbmark("node " + file);
    EXPECT_EQ(text.code, 0) << file;
    EXPECT_THAT(text.text, testing::AnyOf(HasSubstr("FLOP/s"), HasSubstr("no nominal figure is known"), HasSubstr("B/s"),
                                          HasSubstr("known for a whole")))
        << file;
  }
  EXPECT_GT(machines, 30U);
}

TEST_F(NodeAndDoctor, APartOfAMachineIsNotGivenTheFiguresOfTheWhole) {
  const auto lines = json_lines(run_hbmark("node --format json --topology " + kQuarterOfKnl).text);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_TRUE(lines[0]["nominal"].is_null());
  EXPECT_THAT(run_hbmark("node --topology " + kQuarterOfKnl).text,
              HasSubstr("known for a whole Xeon Phi 7250, of which this is"));
}

TEST_F(NodeAndDoctor, NoLineIsWiderThanTheTerminalSays) {
  for (const char* columns : {"80", "100"}) {
    const Ran ran = run_hbmark("node --color never --topology " + kQuarterOfKnl, std::string("COLUMNS=") + columns);
    EXPECT_EQ(ran.code, 0);
    EXPECT_LE(tests::widest_line(ran.text), 100);
  }
}

TEST_F(NodeAndDoctor, ABrokenDeviceTableIsOneWarningAndTheNodeIsStillShown) {
  // The program finds its data beside itself: a copy has its own.
  std::filesystem::create_directories(folder_ / "bin");
  std::filesystem::create_directories(folder_ / "share/hbmark");
  const auto program = folder_ / "bin/hbmark";
  std::filesystem::copy_file(HBMARK_PROGRAM, program);
  const Ran absent = run_hbmark("node 2>&1", "", program.string());
  EXPECT_EQ(absent.code, 0);
  EXPECT_THAT(absent.text, HasSubstr("cannot read the device table"));
  EXPECT_THAT(absent.text, HasSubstr("PUs"));
  std::ofstream(folder_ / "share/hbmark/devices.csv")
      << "device,also_called,kind,os_devices,peak_fp32_tflops,source\nA,,cpu,1,many,me\n";
  const Ran broken = run_hbmark("node --format json 2>&1 >/dev/null", "", program.string());
  EXPECT_EQ(broken.code, 0);
  EXPECT_THAT(broken.text, HasSubstr("line 2: column peak_fp32_tflops is 'many'"));
  const auto lines = json_lines(run_hbmark("node --format json 2>/dev/null", "", program.string()).text);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_FALSE(lines[0].contains("nominal"));  // not null, which would say that none is known
}

TEST_F(NodeAndDoctor, ARecordedMachineIsJudgedByItsOwnFiles) {
  const std::string knl = " --topology " + kQuarterOfKnl + " --root " + kData + "trees/knl";
  const Ran ran = run_hbmark("doctor --format json" + knl);
  EXPECT_EQ(ran.code, 0);
  std::set<std::string> ids;
  for (const json& line : json_lines(ran.text)) {
    EXPECT_EQ(line["what"], "finding");  // this machine's backends say nothing of that one
    ids.insert(line["id"].get<std::string>());
    if (line["id"] == "knl-hwdata") {
      EXPECT_EQ(line["severity"], "warning");
      EXPECT_THAT(line["advice"].get<std::string>(), HasSubstr("hwloc-dump-hwdata"));
    }
  }
  EXPECT_EQ(ids.count("knl-hwdata"), 1U);
  EXPECT_EQ(ids.count("governor"), 1U);
  const Ran text = run_hbmark("doctor" + knl);
  EXPECT_THAT(text.text, Not(HasSubstr("Backends")));
  EXPECT_THAT(text.text, testing::EndsWith("\nA recorded machine: 5 warnings to see to.\n"));
  EXPECT_LT(text.text.find("\n  warning"), text.text.find("\n  good"));  // the worst first
}

TEST_F(NodeAndDoctor, ATopologyAloneIsNotJudgedByTheFilesOfThisMachine) {
  const Ran ran = run_hbmark("doctor --topology " + kQuarterOfKnl);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, HasSubstr("--root DIR"));
  EXPECT_THAT(ran.text, Not(HasSubstr("other-load")));
  EXPECT_THAT(ran.text, HasSubstr("cpus-hidden"));
}

TEST_F(NodeAndDoctor, ARootWithoutATopologyIsAUsageError) {
  EXPECT_EQ(run_hbmark("doctor --root " + kData + "trees/knl 2>/dev/null").code, 2);
  EXPECT_EQ(run_hbmark("doctor --root /nonexistent --topology " + kQuarterOfKnl + " 2>/dev/null").code, 2);
}

// The fake backend says what its script tells it to.
std::string fake(const std::filesystem::path& script, const std::string& text) {
  std::ofstream(script) << text;
  return "HBMARK_FAKE_SCRIPT='" + script.string() + "'";
}

TEST_F(NodeAndDoctor, WhatABackendWarnsOfIsShownAndCounted) {
  const std::string script = fake(
      folder_ / "script.json",
      R"({"info": {"library": "Fakelib 1.0", "runtime": "none", "isa": "avx9", "warning": "a Xeon Phi without kernels"}})");
  const Ran ran = run_hbmark("doctor --backend-path " HBMARK_TEST_BACKENDS, script);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, HasSubstr("warning: a Xeon Phi without kernels"));
  EXPECT_THAT(ran.text, HasSubstr("Fakelib 1.0 with avx9"));
  EXPECT_THAT(ran.text, HasSubstr("warning"));
  EXPECT_THAT(ran.text, Not(HasSubstr("Ready to measure")));
  bool seen = false;
  for (const json& line : json_lines(run_hbmark("doctor --format json --backend-path " HBMARK_TEST_BACKENDS, script).text)) {
    if (line["id"] != "fake") continue;
    seen = true;
    EXPECT_EQ(line["severity"], "warning");
    EXPECT_EQ(line["warning"], "a Xeon Phi without kernels");
  }
  EXPECT_TRUE(seen);
}

TEST_F(NodeAndDoctor, ABackendThatDiesWhenOpenedIsAWarningNotTheEnd) {
  const std::string script = fake(folder_ / "script.json", R"({"rules": [{"fault": {"kind": "segv", "at": "open"}}]})");
  const Ran ran = run_hbmark("doctor --backend-path " HBMARK_TEST_BACKENDS, script);
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.text, HasSubstr("the plugin crashed (SIGSEGV) when asked to describe itself"));
}

}  // namespace
}  // namespace hbmark::cli
