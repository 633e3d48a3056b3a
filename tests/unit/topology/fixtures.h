// What the topology tests share: describing a shared file, finding a warning, and where the recorded trees are.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
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

}  // namespace hbmark::topology::tests
