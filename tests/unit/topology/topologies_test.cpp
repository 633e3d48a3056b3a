// Every shared topology against the facts of its README, and against what the machine truly is where hwloc does not say it.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <set>

#include "tests/unit/topology/fixtures.h"

namespace hbmark::topology::tests {
namespace {

struct Facts {
  const char* file;
  int packages;
  std::size_t cores;
  std::size_t pus;
  std::size_t numa_nodes;
  std::size_t side_caches;
  std::size_t gpus;
  const char* kinds;  // "kind x count" in alphabetical order
  const char* memory_mode;
  const char* cluster_mode;
  std::size_t fast_nodes;
};

std::ostream& operator<<(std::ostream& out, const Facts& facts) { return out << facts.file; }

const Facts kFacts[] = {
    {"knl7250-quad-flat-real", 1, 68, 272, 2, 0, 0, "ddr x1 mcdram x1", "flat", "unknown", 1},
    {"knl7250-snc4-flat-real", 1, 68, 272, 8, 0, 0, "ddr x4 mcdram x4", "flat", "snc4", 4},
    {"knl7250-quad-cache-real", 1, 68, 272, 1, 0, 0, "ddr x1", "unknown", "unknown", 0},
    {"knl7250f-quad-cache-hwdata-real", 1, 68, 272, 1, 1, 0, "ddr x1", "cache", "quadrant", 0},
    {"knl-es64-flat-nosubtype-real", 1, 64, 256, 2, 0, 0, "ddr x1 mcdram x1", "flat", "unknown", 1},
    {"knl7250-flat-bogusmodes-real", 1, 68, 272, 2, 1, 0, "ddr x1 mcdram x1", "unknown", "unknown", 1},
    {"knl-es64-snc4-flat-nosubtype-real", 1, 64, 256, 8, 0, 0, "ddr x4 mcdram x4", "flat", "snc4", 4},
    {"fakeknl-a2a-cache", 1, 16, 64, 1, 1, 0, "ddr x1", "cache", "a2a", 0},
    {"fakeknl-snc4-hybrid50", 1, 16, 64, 8, 4, 0, "ddr x4 mcdram x4", "hybrid50", "snc4", 4},
    {"fakeknl-a2a-hybrid50-rootnumas", 0, 4, 8, 2, 1, 0, "ddr x1 mcdram x1", "hybrid50", "a2a", 1},
    {"knl7250-hemisphere-flat", 1, 68, 272, 2, 0, 0, "ddr x1 mcdram x1", "flat", "hemisphere", 1},
    {"knl7230-snc2-flat", 1, 64, 256, 4, 0, 0, "ddr x2 mcdram x2", "flat", "snc2", 2},
    {"knl7230-snc2-cache", 1, 64, 256, 2, 2, 0, "ddr x2", "cache", "snc2", 0},
    {"knl7250-snc4-hybrid50-memcache", 1, 68, 272, 8, 4, 0, "ddr x4 mcdram x4", "hybrid50", "snc4", 4},
    {"knl7290-quad-hybrid50-misreported", 1, 72, 288, 2, 0, 0, "ddr x1 mcdram x1", "unknown", "quadrant", 1},
    {"knm7295-quad-flat", 1, 72, 288, 2, 0, 0, "ddr x1 mcdram x1", "flat", "quadrant", 1},
    {"knl7250-snc4-flat-cgroup-local", 1, 18, 72, 2, 0, 0, "ddr x1 mcdram x1", "flat", "snc4", 1},
    {"knl7250-snc4-flat-cgroup-disallowed", 1, 68, 272, 8, 0, 0, "ddr x4 mcdram x4", "flat", "snc4", 0},
    {"xeonmax9462-2s-flat-snc4-real", 2, 64, 128, 16, 0, 0, "ddr x8 hbm x8", "flat", "snc4", 8},
    {"xeonmax9462-2s-cache-snc4-real", 2, 64, 128, 8, 8, 0, "ddr x8", "cache", "snc4", 0},
    {"xeonmax9470-2s-flat-quad-hmat", 2, 104, 208, 4, 0, 0, "ddr x2 hbm x2", "flat", "unknown", 2},
    {"xeonmax9470-2s-flat-quad-nohmat", 2, 104, 208, 4, 0, 0, "ddr x2 hbm x2", "flat", "unknown", 2},
    {"xeonmax9480-2s-hbmonly-quad", 2, 112, 224, 2, 0, 0, "hbm x2", "hbm-only", "unknown", 2},
    {"gh200-real", 1, 72, 72, 1, 0, 0, "ddr x1", "none", "none", 0},
    {"gh200-gpunode", 1, 72, 72, 2, 0, 1, "ddr x1 gpu x1", "none", "none", 0},
    // The README counts PCI devices with a GPU's ids; here the ids are zero and the memory nodes name the six devices.
    {"power9-6xv100-gpunodes", 2, 8, 32, 8, 0, 6, "ddr x2 gpu x6", "none", "none", 0},
    {"power9-4xv100-sierra-v1-real", 2, 44, 176, 6, 0, 4, "ddr x2 gpu x4", "none", "none", 0},
    {"spr-4xh100-nvlink-real", 2, 112, 224, 8, 0, 4, "ddr x8", "none", "snc4", 0},
    {"dgx2-16xv100-nvswitch-real", 2, 4, 4, 2, 0, 16, "ddr x2", "none", "none", 0},
    {"epyc7742-4xa100-real", 2, 128, 256, 8, 0, 4, "ddr x8", "none", "none", 0},
    {"mi300a-4apu-real", 4, 96, 192, 4, 0, 4, "hbm x4", "hbm-only", "none", 4},
    {"threadripper-mixed-gpus-real", 1, 32, 64, 2, 0, 2, "ddr x2", "none", "none", 0},
    {"fakeheteromemtiers", 1, 6, 6, 7, 0, 0, "ddr x2 hbm x2 nvm x3", "flat", "none", 2},
    {"cascadelake-2lm-optane", 2, 40, 80, 4, 4, 0, "nvm x4", "none", "snc2", 0},
    {"cascadelake-nvdimm-gi", 2, 8, 8, 6, 0, 0, "ddr x4 nvm x2", "none", "snc2", 0},
    {"raptorlake-hybrid", 1, 14, 20, 1, 0, 0, "ddr x1", "none", "none", 0},
    {"opteron-cgroup2-restricted-real", 3, 6, 6, 6, 0, 0, "ddr x6", "none", "none", 0},
    {"skylake-2s-plain-real", 2, 48, 96, 2, 0, 0, "ddr x2", "none", "none", 0},
    {"epyc7451-x86only-nomem", 2, 48, 96, 8, 0, 0, "ddr x8", "none", "none", 0},
    {"vm-2vcpu", 2, 2, 2, 1, 0, 0, "ddr x1", "none", "none", 0},
};

std::string kinds_of(const Node& node) {
  std::map<std::string, int> counts;
  for (const auto& each : node.numa) ++counts[each.kind];
  std::string text;
  for (const auto& [kind, count] : counts) text += fmt::format("{}{} x{}", text.empty() ? "" : " ", kind, count);
  return text;
}

class SharedTopology : public testing::TestWithParam<Facts> {};

TEST_P(SharedTopology, IsDescribedAsItIs) {
  HBMARK_NEED_SHARED("data/topologies");
  const Facts& facts = GetParam();
  const Node node = describe_shared(facts.file);
  EXPECT_EQ(node.packages, facts.packages);
  EXPECT_EQ(node.cores.size(), facts.cores);
  EXPECT_EQ(node.pus.size(), facts.pus);
  EXPECT_EQ(node.numa.size(), facts.numa_nodes);
  EXPECT_EQ(node.memory_side_caches.size(), facts.side_caches);
  EXPECT_EQ(node.gpus.size(), facts.gpus);
  EXPECT_EQ(kinds_of(node), facts.kinds);
  EXPECT_EQ(node.memory_mode.value, facts.memory_mode) << node.memory_mode.source;
  EXPECT_EQ(node.cluster_mode.value, facts.cluster_mode) << node.cluster_mode.source;
  EXPECT_EQ(node.fast_memory.size(), facts.fast_nodes);
  EXPECT_FALSE(node.memory_mode.source.empty());
  EXPECT_FALSE(node.cluster_mode.source.empty());
  EXPECT_FALSE(node.this_system);
  EXPECT_FALSE(node.cpu_quota || node.memory_limit_bytes || node.memory_available_bytes)
      << "facts of this machine, not of the file";
}

// Whatever the machine: what belongs together agrees.
TEST_P(SharedTopology, IsConsistent) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared(GetParam().file);
  const std::set<int> pus(node.pus.begin(), node.pus.end());
  std::set<int> in_cores;
  for (const auto& core : node.cores) {
    for (int pu : core.pus) EXPECT_TRUE(in_cores.insert(pu).second) << "PU " << pu << " is in two cores";
    if (core.numa >= 0) {
      EXPECT_THAT(numa(node, core.numa).cpus, testing::Contains(core.pus.front()));
    }
  }
  EXPECT_EQ(in_cores, pus);
  for (int pu : node.allowed_pus) EXPECT_EQ(pus.count(pu), 1U);
  for (const auto& each : node.numa) {
    if (each.size_bytes) {
      EXPECT_GT(*each.size_bytes, 0U);
    }
    if (each.partner) {
      EXPECT_NE(numa(node, *each.partner).kind, each.kind);
    }
  }
  std::set<int> with_fast;
  for (const auto& fast : node.fast_memory) {
    EXPECT_TRUE(numa(node, fast.os_index).allowed);
    EXPECT_FALSE(fast.local_cpus.empty());
    for (int pu : fast.local_cpus) EXPECT_TRUE(with_fast.insert(pu).second) << "PU " << pu << " has two fast nodes";
  }
  for (const auto& cache : node.memory_side_caches) EXPECT_GE(numa(node, cache.os_index).os_index, 0);
}

INSTANTIATE_TEST_SUITE_P(All, SharedTopology, testing::ValuesIn(kFacts), [](const auto& test) {
  std::string name = test.param.file;
  for (char& letter : name) letter = letter == '-' ? '_' : letter;
  return name;
});

TEST(SharedTopologies, AreAllInTheTable) {
  HBMARK_NEED_SHARED("data/topologies");
  std::set<std::string> listed;
  for (const auto& facts : kFacts) listed.insert(facts.file);
  std::set<std::string> there;
  for (const auto& entry : std::filesystem::directory_iterator(hbmark::tests::shared_dir() / "data/topologies")) {
    if (entry.path().extension() == ".xml") there.insert(entry.path().stem().string());
  }
  EXPECT_EQ(there, listed);
}

}  // namespace
}  // namespace hbmark::topology::tests
