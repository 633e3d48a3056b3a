// What the topology tests share: describing a shared file, finding a warning, and where the recorded trees are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "tests/shared_data.h"
#include "topology/node.h"

namespace hbmark::topology::tests {

inline std::string tree(const std::string& name) { return std::string(HBMARK_TOPOLOGY_DATA) + "/trees/" + name; }

inline std::string shared_xml(const std::string& name) {
  return (hbmark::tests::shared_dir() / "data/topologies" / (name + ".xml")).string();
}

// An error fails the test at the caller's next use: the node is empty then.
inline Node describe_xml(const std::string& file, const std::string& root = "") {
  DescribeOptions options;
  options.xml_file = file;
  options.sysfs_root = root;
  auto node = describe_node(options);
  if (!node) {
    ADD_FAILURE() << node.error().what << ": " << node.error().why;
    return {};
  }
  return *node;
}

inline Node describe_shared(const std::string& name, const std::string& root = "") {
  return describe_xml(shared_xml(name), root);
}

inline bool warned(const Node& node, const std::string& id) {
  return std::any_of(node.warnings.begin(), node.warnings.end(), [&](const Warning& warning) { return warning.id == id; });
}

inline const NumaNode& numa(const Node& node, int os_index) {
  for (const auto& each : node.numa) {
    if (each.os_index == os_index) return each;
  }
  static const NumaNode kNone;
  ADD_FAILURE() << "no NUMA node " << os_index;
  return kNone;
}

// Whatever the machine: what belongs together agrees.
inline void expect_consistent(const Node& node) {
  const std::set<int> pus(node.pus.begin(), node.pus.end());
  std::set<int> in_cores;
  for (const auto& core : node.cores) {
    for (int pu : core.pus) EXPECT_TRUE(in_cores.insert(pu).second) << "PU " << pu << " is in two cores";
    if (core.numa >= 0) {
      const auto& home = numa(node, core.numa).cpus;
      EXPECT_TRUE(std::binary_search(home.begin(), home.end(), core.pus.front()));
    }
  }
  EXPECT_EQ(in_cores, pus);
  for (int pu : node.allowed_pus) EXPECT_EQ(pus.count(pu), 1U);
  for (const auto& each : node.numa) {
    EXPECT_FALSE(each.kind_source.empty()) << each.os_index;
    EXPECT_NE(each.size_bytes, std::uint64_t{0}) << "unknown is absent";
    const bool half = each.partner && (numa(node, *each.partner).kind == "ddr") == (each.kind == "ddr");
    EXPECT_FALSE(half) << "one of two partners is DDR: " << each.os_index;
  }
  std::set<int> with_fast;
  for (const auto& fast : node.fast_memory) {
    EXPECT_TRUE(numa(node, fast.os_index).allowed);
    EXPECT_FALSE(fast.local_cpus.empty());
    for (int pu : fast.local_cpus) EXPECT_TRUE(with_fast.insert(pu).second) << "PU " << pu << " has two fast nodes";
  }
  for (const auto& cache : node.memory_side_caches) EXPECT_GE(numa(node, cache.os_index).os_index, 0);
  EXPECT_FALSE(node.memory_mode.source.empty());
  EXPECT_FALSE(node.cluster_mode.source.empty());
}

}  // namespace hbmark::topology::tests
