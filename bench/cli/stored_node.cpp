#include "bench/cli/stored_node.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <tuple>

namespace hbmark::cli {
namespace {

using nlohmann::json;

// Beyond what any machine has: a count larger than this is a damaged line.
constexpr std::int64_t kMaxCount = 1 << 20;

std::int64_t whole(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_number_integer()) return 0;
  return std::max<std::int64_t>(0, found->get<std::int64_t>());
}

std::size_t count(const json& object, const char* name) {
  return static_cast<std::size_t>(std::min(kMaxCount, whole(object, name)));
}

std::string text(const json& object, const char* name) {
  const auto found = object.find(name);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

const json& list(const json& object, const char* name) {
  static const json none = json::array();
  const auto found = object.find(name);
  return found != object.end() && found->is_array() ? *found : none;
}

void read_memory(const json& line, topology::Node& node) {
  for (const json& each : list(line, "caches")) {
    if (!each.is_object()) continue;
    node.caches.push_back({static_cast<int>(count(each, "level")), text(each, "type"),
                           static_cast<std::uint64_t>(whole(each, "size_bytes")), static_cast<int>(count(each, "count")),
                           static_cast<int>(count(each, "shared_by_pus"))});
  }
  for (const json& each : list(line, "numa")) {
    if (!each.is_object()) continue;
    topology::NumaNode numa;
    numa.os_index = static_cast<int>(count(each, "os_index"));
    numa.kind = text(each, "kind");
    if (whole(each, "size_bytes") > 0) numa.size_bytes = static_cast<std::uint64_t>(whole(each, "size_bytes"));
    node.numa.push_back(std::move(numa));
  }
  for (const json& each : list(line, "memory_side_caches")) {
    if (!each.is_object()) continue;
    node.memory_side_caches.push_back(
        {static_cast<std::uint64_t>(whole(each, "size_bytes")), static_cast<int>(count(each, "os_index"))});
  }
  for (const json& each : list(line, "fast_memory")) {
    if (each.is_object()) node.fast_memory.push_back({static_cast<int>(count(each, "os_index")), {}});
  }
}

topology::Mode mode(const json& object, const char* name) {
  const auto found = object.find(name);
  if (found == object.end() || !found->is_object() || text(*found, "value").empty()) return {};
  return {text(*found, "value"), text(*found, "source")};
}

}  // namespace

topology::Node stored_node(const NodeRecord& record) {
  topology::Node node;
  node.hostname = record.hostname;
  const json line = json::parse(record.description, nullptr, false);
  if (!line.is_object()) return node;
  node.cpu_model = text(line, "cpu_model");
  node.packages = static_cast<int>(count(line, "packages"));
  node.cores.resize(count(line, "cores"));
  node.pus.resize(count(line, "pus"));
  node.memory_mode = mode(line, "memory_mode");
  node.cluster_mode = mode(line, "cluster_mode");
  read_memory(line, node);
  return node;
}

std::string mode_change(const topology::Node& then, const topology::Node& now) {
  for (const auto& [name, before, after] : {std::tuple("memory", then.memory_mode, now.memory_mode),
                                            std::tuple("cluster", then.cluster_mode, now.cluster_mode)}) {
    if (before.source.empty() || before.value == after.value) continue;  // without a source nobody looked
    return fmt::format("the node's {} mode was {} then, and is {} now", name, before.value, after.value);
  }
  return "";
}

}  // namespace hbmark::cli
