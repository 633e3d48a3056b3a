#include "topology/node_json.h"

#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace hbmark::topology {
namespace {

using Json = nlohmann::ordered_json;

template <class T>
Json or_null(const std::optional<T>& value) {
  return value ? Json(*value) : Json(nullptr);
}

Json text_or_null(const std::string& text) { return text.empty() ? Json(nullptr) : Json(text); }

Json mode_json(const Mode& mode) { return {{"value", mode.value}, {"source", text_or_null(mode.source)}}; }

template <class T, class F>
Json list(const std::vector<T>& items, F&& each) {
  Json array = Json::array();
  for (const auto& item : items) array.push_back(each(item));
  return array;
}

Json count_or_null(std::size_t count) { return count > 0 ? Json(count) : Json(nullptr); }

// The PUs we may use that have none beside them: "none local".
std::vector<int> without_fast_memory(const Node& node) {
  std::set<int> served;
  for (const auto& fast : node.fast_memory) served.insert(fast.local_cpus.begin(), fast.local_cpus.end());
  std::vector<int> without;
  std::copy_if(node.allowed_pus.begin(), node.allowed_pus.end(), std::back_inserter(without),
               [&](int pu) { return served.count(pu) == 0; });
  return without;
}

Json nominal_json(const std::optional<NominalFigures>& figures) {
  if (!figures) return nullptr;
  Json peaks = Json::object();
  for (const auto& [type, peak] : figures->peak_flop_per_s) peaks[type] = peak;
  return {{"device", figures->device},
          {"peak_flop_per_s", peaks},
          {"fast_bytes_per_s", or_null(figures->fast_bytes_per_s)},
          {"ddr_bytes_per_s", or_null(figures->ddr_bytes_per_s)},
          {"fast_measured_bytes_per_s", or_null(figures->fast_measured_bytes_per_s)},
          {"ddr_measured_bytes_per_s", or_null(figures->ddr_measured_bytes_per_s)},
          {"source", figures->source}};
}

std::string dump(const Json& json) { return json.dump(-1, ' ', false, Json::error_handler_t::replace); }

Json node_json(const Node& node) {
  Json json;
  json["schema"] = "hbmark.node/1";
  json["hostname"] = text_or_null(node.hostname);
  json["identity"] =
      node.identity.fingerprint.empty()
          ? Json(nullptr)
          : Json{{"uuid", node.identity.fingerprint}, {"source", node.identity.source}, {"weak", node.identity.weak}};
  json["cpu_model"] = text_or_null(node.cpu_model);
  json["packages"] = node.packages > 0 ? Json(node.packages) : Json(nullptr);
  json["cores"] = count_or_null(node.cores.size());
  json["pus"] = count_or_null(node.pus.size());
  json["allowed_pus"] = node.allowed_pus;
  json["cpu_quota"] = or_null(node.cpu_quota);
  json["memory_limit_bytes"] = or_null(node.memory_limit_bytes);
  json["cgroup_cpus"] = or_null(node.cgroup_cpus);
  json["cgroup_memory_nodes"] = or_null(node.cgroup_memory_nodes);
  json["memory_mode"] = mode_json(node.memory_mode);
  json["cluster_mode"] = mode_json(node.cluster_mode);
  json["caches"] = list(node.caches, [](const Cache& cache) {
    return Json{{"level", cache.level},
                {"type", cache.type},
                {"size_bytes", cache.size_bytes},
                {"count", cache.count},
                {"shared_by_pus", cache.shared_by_pus}};
  });
  json["numa"] = list(node.numa, [](const NumaNode& numa) {
    return Json{{"os_index", numa.os_index},
                {"kind", numa.kind},
                {"kind_source", text_or_null(numa.kind_source)},
                {"size_bytes", or_null(numa.size_bytes)},
                {"cpus", numa.cpus},
                {"partner", or_null(numa.partner)},
                {"allowed", numa.allowed}};
  });
  json["fast_memory"] = list(node.fast_memory, [](const FastMemory& fast) {
    return Json{{"os_index", fast.os_index}, {"local_cpus", fast.local_cpus}};
  });
  json["cpus_without_fast_memory"] = without_fast_memory(node);
  json["memory_side_caches"] = list(node.memory_side_caches, [](const MemorySideCache& cache) {
    return Json{{"size_bytes", cache.size_bytes}, {"os_index", cache.os_index}};
  });
  json["gpus"] = list(node.gpus, [](const Gpu& gpu) {
    return Json{{"name", gpu.name}, {"pci", gpu.pci}, {"nearest_numa", or_null(gpu.nearest_numa)}};
  });
  json["warnings"] = list(node.warnings, [](const Warning& warning) {
    return Json{{"id", warning.id}, {"text", warning.text}};
  });
  json["this_system"] = node.this_system;
  return json;
}

}  // namespace

std::string node_to_json_line(const Node& node) { return dump(node_json(node)); }

std::string node_to_json_line(const Node& node, const DeviceTable& devices) {
  Json json = node_json(node);
  json["nominal"] = nominal_json(nominal_figures(devices, node));
  for (Json& gpu : json["gpus"]) gpu["nominal"] = nominal_json(nominal_gpu_figures(devices, gpu["name"].get<std::string>()));
  return dump(json);
}

}  // namespace hbmark::topology
