// This machine, limits read from recorded trees, errors, and the JSON line.
#include "topology/node.h"

#include <gmock/gmock.h>
#include <sched.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <thread>

#include "tests/unit/topology/fixtures.h"
#include "topology/node_json.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;

Node this_machine() {
  auto node = describe_node({});
  if (!node) ADD_FAILURE() << node.error().what << ": " << node.error().why;
  return node.value_or(Node{});
}

TEST(ThisMachine, IsDescribed) {
  const Node node = this_machine();
  EXPECT_TRUE(node.this_system);
  EXPECT_EQ(node.pus.size(), static_cast<std::size_t>(sysconf(_SC_NPROCESSORS_ONLN)));
  EXPECT_FALSE(node.allowed_pus.empty());
  EXPECT_FALSE(node.cores.empty());
  EXPECT_FALSE(node.numa.empty());
  EXPECT_FALSE(node.hostname.empty());
  ASSERT_TRUE(node.memory_available_bytes);
  EXPECT_GT(*node.memory_available_bytes, std::uint64_t{1} << 20);
}

TEST(ThisMachine, AllowedPusFollowTheAffinityOfTheCallingThread) {
  const Node all = this_machine();
  ASSERT_FALSE(all.allowed_pus.empty());
  const int only = all.allowed_pus.back();
  Node bound;
  std::thread([&] {
    cpu_set_t set;
    CPU_ZERO(&set);
    CPU_SET(static_cast<std::size_t>(only), &set);
    ASSERT_EQ(sched_setaffinity(0, sizeof set, &set), 0);
    bound = this_machine();
  }).join();
  EXPECT_EQ(bound.allowed_pus, std::vector<int>{only});
  EXPECT_EQ(bound.pus, all.pus);
}

Node with_root(const std::string& name) {
  return describe_xml(std::string(HBMARK_TOPOLOGY_DATA) + "/knl7250-snc4-flat-cgroup-local.xml", tree(name));
}

TEST(Limits, CgroupVersion1InAContainer) {
  const Node node = with_root("container-v1");
  EXPECT_EQ(node.cpu_quota, 1.5);  // of the level above ours, which has none
  EXPECT_EQ(node.memory_limit_bytes, std::uint64_t{2} << 30);
  EXPECT_EQ(node.memory_available_bytes, (std::uint64_t{2} << 30) - (std::uint64_t{1} << 30) + (std::uint64_t{512} << 20));
}

TEST(Limits, CgroupVersion2TakesTheTightestLevel) {
  const Node node = with_root("container-v2");
  EXPECT_EQ(node.cpu_quota, 0.5);
  EXPECT_EQ(node.memory_limit_bytes, std::uint64_t{8} << 30);
  EXPECT_EQ(node.memory_available_bytes, (std::uint64_t{8} << 30) - 1000000000U);
}

TEST(Limits, NoLimitIsAbsentNotHuge) {
  for (const char* name : {"hpc", "knl"}) {
    const Node node = with_root(name);
    EXPECT_FALSE(node.cpu_quota) << name;
    EXPECT_FALSE(node.memory_limit_bytes) << name;
  }
  EXPECT_EQ(with_root("hpc").memory_available_bytes, std::uint64_t{190000000} * 1024);
}

TEST(Limits, AnEmptyRootKnowsNothing) {
  const Node node = with_root("there-is-no-such-tree");
  EXPECT_FALSE(node.cpu_quota || node.memory_limit_bytes || node.memory_available_bytes);
}

struct BadFile : testing::Test {
  std::filesystem::path folder = std::filesystem::temp_directory_path() / ("hbmark-topology-" + std::to_string(getpid()));
  void SetUp() override { std::filesystem::create_directories(folder); }
  void TearDown() override { std::filesystem::remove_all(folder); }
  Error error_of(const std::filesystem::path& file) {
    DescribeOptions options;
    options.xml_file = file.string();
    auto node = describe_node(options);
    if (node) {
      ADD_FAILURE() << "accepted " << file;
      return {};
    }
    return node.error();
  }
};

TEST_F(BadFile, Absent) {
  const Error error = error_of(folder / "absent.xml");
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  EXPECT_THAT(error.why, HasSubstr("no such file"));
  EXPECT_FALSE(error.next.empty());
}

TEST_F(BadFile, Directory) { EXPECT_THAT(error_of(folder).why, HasSubstr("folder")); }

TEST_F(BadFile, NotHwlocsXml) {
  for (const char* text :
       {"", "hello", "<?xml version=\"1.0\"?><html/>", "<?xml version=\"1.0\"?><topology version=\"2.0\"><object"}) {
    const auto file = folder / "bad.xml";
    std::ofstream(file) << text;
    EXPECT_THAT(error_of(file).why, HasSubstr("hwloc does not take it")) << text;
  }
}

TEST(NodeJson, HasEveryMemberAndNullForAbsent) {
  const Node node = describe_xml(std::string(HBMARK_TOPOLOGY_DATA) + "/knl7250-snc4-flat-cgroup-local.xml");
  const std::string line = node_to_json_line(node);
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto json = nlohmann::json::parse(line);
  EXPECT_EQ(json["schema"], "hbmark.node/1");
  EXPECT_EQ(json["packages"], 1);
  EXPECT_EQ(json["cores"], 18);
  EXPECT_EQ(json["pus"], 72);
  EXPECT_EQ(json["memory_mode"]["value"], "flat");
  EXPECT_THAT(json["cluster_mode"]["source"].get<std::string>(), HasSubstr("ClusterMode"));
  ASSERT_EQ(json["numa"].size(), 2U);
  EXPECT_EQ(json["numa"][0]["kind"], "ddr");
  EXPECT_EQ(json["numa"][0]["partner"], 5);
  EXPECT_EQ(json["numa"][0]["size_bytes"], std::uint64_t{24} << 30);
  EXPECT_EQ(json["numa"][0]["cpus"].size(), 72U);
  EXPECT_EQ(json["fast_memory"][0]["os_index"], 5);
  EXPECT_EQ(json["fast_memory"][0]["local_cpus"].size(), 72U);
  EXPECT_TRUE(json["memory_side_caches"].is_array());
  EXPECT_TRUE(json["gpus"].is_array());
  EXPECT_EQ(json["warnings"][0]["id"], node.warnings[0].id);
  EXPECT_TRUE(json["cpu_quota"].is_null());
  EXPECT_TRUE(json["memory_limit_bytes"].is_null());
  EXPECT_EQ(json["this_system"], false);
}

TEST(NodeJson, AnEmptyNodeIsNullsNotZeros) {
  const auto json = nlohmann::json::parse(node_to_json_line(Node{}));
  for (const char* name : {"cpu_model", "packages", "cores", "pus", "hostname"}) EXPECT_TRUE(json[name].is_null()) << name;
  EXPECT_EQ(json["memory_mode"]["value"], "unknown");
}

TEST(NodeJson, BytesThatAreNoUtf8DoNotBreakIt) {
  Node node;
  node.cpu_model = "bad \xff model";
  node.gpus.push_back({"gpu", "0000:01:00.0", std::nullopt});
  const auto json = nlohmann::json::parse(node_to_json_line(node));
  EXPECT_THAT(json["cpu_model"].get<std::string>(), HasSubstr("model"));
  EXPECT_TRUE(json["gpus"][0]["nearest_numa"].is_null());
}

}  // namespace
}  // namespace hbmark::topology::tests
