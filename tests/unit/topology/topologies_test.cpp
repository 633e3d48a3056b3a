// Every shared topology against what the machine is: expected_topologies.json, written by hand before the program was asked.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/unit/topology/fixtures.h"
#include "tests/unit/topology/machine_xml.h"
#include "topology/node_json.h"

namespace hbmark::topology::tests {
namespace {

using Json = nlohmann::json;

const Json& expected_table() {
  static const Json table = [] {
    std::ifstream file(HBMARK_TOPOLOGY_DATA "/../expected_topologies.json");
    return Json::parse(file);
  }();
  return table;
}

std::vector<std::string> expected_files() {
  std::vector<std::string> files;
  for (const Json& each : expected_table()) files.push_back(each["file"]);
  return files;
}

const Json& expected(const std::string& file) {
  for (const Json& each : expected_table()) {
    if (each["file"] == file) return each;
  }
  static const Json none;
  ADD_FAILURE() << "no " << file;
  return none;
}

// "0-2,7" of a list of numbers, as the table writes them.
std::string ranges_of(const Json& numbers) {
  std::string text;
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    const int first = numbers[i];
    while (i + 1 < numbers.size() && numbers[i + 1].get<int>() == numbers[i].get<int>() + 1) ++i;
    text += fmt::format("{}{}", text.empty() ? "" : ",", first);
    if (numbers[i].get<int>() > first) text += fmt::format("-{}", numbers[i].get<int>());
  }
  return text;
}

// How a mode is known, in the table's words: somebody states it, perhaps guessing; the topology shows it; nothing tells.
std::string how_known(const Json& mode) {
  const std::string source = mode["source"];
  if (mode["value"] == "unknown") return "untold";
  if (source.rfind("hwloc info", 0) != 0) return "shown";
  return source.find("guess") == std::string::npos ? "stated" : "guess";
}

Json by_index(std::vector<Json> items, const char* key) {
  std::sort(items.begin(), items.end(), [&](const Json& one, const Json& other) { return one[key] < other[key]; });
  return items;
}

// What the program says, in the table's form. Names of GPUs that the table leaves open are not looked at.
Json said(const std::string& file) {
  const Json line = Json::parse(node_to_json_line(describe_shared(file)));
  Json out;
  for (const char* name : {"packages", "cores", "pus"}) out[name] = line[name];
  for (const char* name : {"memory_mode", "cluster_mode"}) {
    out[name] = {{"value", line[name]["value"]}, {"how", how_known(line[name])}};
  }
  std::vector<Json> numa;
  for (Json each : line["numa"]) {
    each["cpus"] = ranges_of(each["cpus"]);
    EXPECT_TRUE(each["kind_source"].is_string()) << each;
    each.erase("kind_source");
    numa.push_back(std::move(each));
  }
  out["numa"] = by_index(std::move(numa), "os_index");
  out["fast_memory"] = Json::array();
  for (Json each : line["fast_memory"]) {
    each["local_cpus"] = ranges_of(each["local_cpus"]);
    out["fast_memory"].push_back(std::move(each));
  }
  out["cpus_without_fast_memory"] = ranges_of(line["cpus_without_fast_memory"]);
  out["memory_side_caches"] = line["memory_side_caches"];
  out["gpus"] = by_index(line["gpus"], "pci");
  std::set<std::string> warnings;
  for (const Json& each : line["warnings"]) warnings.insert(each["id"].get<std::string>());
  out["warnings"] = warnings;
  return out;
}

std::string read_file(const std::string& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

struct Lost {
  std::vector<std::string> infos;  // names in quotes
  bool subtypes = false;           // of the NUMA nodes
};

std::vector<std::string> operator+(std::vector<std::string> one, const std::vector<std::string>& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

std::string without(const std::string& xml, const Lost& lost) {
  std::istringstream in(xml);
  std::string out;
  for (std::string line; std::getline(in, line);) {
    const bool gone = line.find("<info name=") != std::string::npos &&
                      std::any_of(lost.infos.begin(), lost.infos.end(),
                                  [&](const std::string& name) { return line.find(name) != std::string::npos; });
    if (gone) continue;
    const auto subtype = line.find(" subtype=\"");
    if (lost.subtypes && line.find("\"NUMANode\"") != std::string::npos && subtype != std::string::npos) {
      line.erase(subtype, line.find('"', subtype + 10) + 1 - subtype);
    }
    out += line + '\n';
  }
  return out;
}

void expect_unknown_or(const std::string& got, const std::string& truth) {
  EXPECT_THAT(got, testing::AnyOf("unknown", truth));
}

class SharedTopology : public testing::TestWithParam<std::string> {};

TEST_P(SharedTopology, IsDescribedAsItIs) {
  HBMARK_NEED_SHARED("data/topologies");
  Json wanted = expected(GetParam());
  Json got = said(GetParam());
  ASSERT_EQ(got["gpus"].size(), wanted["gpus"].size());
  for (std::size_t i = 0; i < wanted["gpus"].size(); ++i) {
    if (wanted["gpus"][i]["name"].is_null()) wanted["gpus"][i]["name"] = got["gpus"][i]["name"];
  }
  for (const auto& [name, value] : got.items()) EXPECT_EQ(value, wanted[name]) << name << " of " << wanted["machine"];
}

TEST_P(SharedTopology, KnowsNothingOfThisMachine) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared(GetParam());
  EXPECT_FALSE(node.this_system);
  EXPECT_FALSE(node.cpu_quota || node.memory_limit_bytes || node.memory_available_bytes)
      << "facts of this machine, not of the file";
}

// Whatever the machine: what belongs together agrees.
TEST_P(SharedTopology, IsConsistent) {
  HBMARK_NEED_SHARED("data/topologies");
  expect_consistent(describe_shared(GetParam()));
}

// The same files with facts taken away, as other exporters and older versions lose them. A mode or kind may become unknown,
// never another one.
TEST_P(SharedTopology, WithFactsLostIsUnknownRatherThanWrong) {
  HBMARK_NEED_SHARED("data/topologies");
  const Json& wanted = expected(GetParam());
  const std::vector<std::string> modes = {"\"MemoryMode\"", "\"ClusterMode\""};
  const std::vector<std::string> dax = {"\"DAXDevice\"", "\"DAXType\"", "\"DAXParent\""};
  const std::vector<std::string> numbers = {"\"CPUVendor\"", "\"CPUFamilyNumber\"", "\"CPUModelNumber\""};
  const std::vector<std::string> name = {"\"CPUModel\""};
  // A QEMU without subtypes and DAX infos shows its HBM as the only memory of two CPUs: nobody could tell.
  const bool emulated = GetParam() == "fakeheteromemtiers";
  for (const auto& lost : std::vector<Lost>{{modes, false},
                                            {{}, !emulated},
                                            {dax, false},
                                            {modes + dax, !emulated},
                                            {numbers, false},
                                            {name, false},
                                            {numbers + name, false},
                                            {modes + dax + numbers, !emulated},
                                            {modes + dax + name, !emulated}}) {
    SCOPED_TRACE(fmt::format("without {}{}", fmt::join(lost.infos, " "), lost.subtypes ? " and subtypes" : ""));
    const Node node = describe_text(without(read_file(shared_xml(GetParam())), lost));
    expect_consistent(node);
    expect_unknown_or(node.memory_mode.value, wanted["truth"]["memory_mode"]);
    expect_unknown_or(node.cluster_mode.value, wanted["truth"]["cluster_mode"]);
    std::set<int> fast;
    for (const Json& each : wanted["fast_memory"]) fast.insert(each["os_index"].get<int>());
    for (const auto& each : node.fast_memory) EXPECT_EQ(fast.count(each.os_index), 1U) << each.os_index;
    for (const Json& each : wanted["numa"]) {
      const NumaNode& got = numa(node, each["os_index"]);
      expect_unknown_or(got.kind, each["kind"]);
      if (got.partner) {
        EXPECT_EQ(Json(*got.partner), each["partner"]) << got.os_index;
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SharedTopology, testing::ValuesIn(expected_files()), [](const auto& test) {
  std::string name = test.param;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

TEST(SharedTopologies, AreAllInTheTable) {
  HBMARK_NEED_SHARED("data/topologies");
  const auto files = expected_files();
  const std::set<std::string> listed(files.begin(), files.end());
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(hbmark::tests::shared_dir() / "data/topologies")) {
    if (entry.path().extension() == ".xml") there.insert(entry.path().stem().string());
  }
  EXPECT_EQ(there, listed);
}

}  // namespace
}  // namespace hbmark::topology::tests
