// The fast memory of each core, asked PU by PU: a question about a wider set fails as soon as it spans two clusters.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <vector>

#include "topology/memory.h"

namespace hbmark::topology {
namespace {

struct Candidate {
  const NumaNode* numa;
  bool labelled;          // MCDRAM or HBM
  bool specific_purpose;  // memory the firmware set aside, of no known kind
  std::optional<std::uint64_t> bandwidth;
};

const NumaNode* find_numa(const Node& node, unsigned os_index) {
  for (const auto& numa : node.numa) {
    if (numa.os_index == static_cast<int>(os_index)) return &numa;
  }
  return nullptr;
}

// The nodes local to this PU that could be its fast memory at all. Sets `refused` when one is fast and not allowed to us.
std::vector<Candidate> candidates(const Tree& tree, const Node& node, hwloc_obj_t pu, bool& refused) {
  std::vector<Candidate> found;
  for (hwloc_obj_t object : local_numa_nodes(tree, pu)) {
    const NumaNode* numa = find_numa(node, object->os_index);
    if (numa == nullptr || numa->kind == "gpu" || numa->kind == "nvm" || !numa->size_bytes) continue;
    if (!numa->allowed) {
      refused = refused || is_fast_kind(numa->kind);
      continue;
    }
    const bool special = subtype(object) == "SPM" || has_info(object, "DAXDevice");
    found.push_back({numa, is_fast_kind(numa->kind), special, bandwidth(tree, object, pu)});
  }
  return found;
}

// Fast memory that hangs under no core is nobody's local node; its partner's cores are the ones next to it.
const NumaNode* detached(const Node& node, int pu, bool& refused) {
  for (const auto& numa : node.numa) {
    if (!is_fast_kind(numa.kind) || !numa.cpus.empty() || !numa.partner || !numa.size_bytes) continue;
    const NumaNode* partner = find_numa(node, static_cast<unsigned>(*numa.partner));
    if (partner == nullptr || !std::binary_search(partner->cpus.begin(), partner->cpus.end(), pu)) continue;
    if (numa.allowed) return &numa;
    refused = true;
  }
  return nullptr;
}

const NumaNode* quickest(const std::vector<Candidate>& list, bool (*wanted)(const Candidate&)) {
  const Candidate* best = nullptr;
  for (const auto& candidate : list) {
    if (!wanted(candidate)) continue;
    if (best == nullptr || candidate.bandwidth.value_or(0) > best->bandwidth.value_or(0)) best = &candidate;
  }
  return best != nullptr ? best->numa : nullptr;
}

// A node is fast by its figure only against another node of the same core: plain DDR5 and Grace's LPDDR5X both pass any
// absolute threshold that KNL's MCDRAM passes.
const NumaNode* fastest_by_bandwidth(const std::vector<Candidate>& list) {
  std::vector<std::uint64_t> figures;
  for (const auto& candidate : list) {
    if (candidate.bandwidth) figures.push_back(*candidate.bandwidth);
  }
  if (figures.size() < 2) return nullptr;
  const auto [least, most] = std::minmax_element(figures.begin(), figures.end());
  if (*least == *most) return nullptr;
  const auto* best = quickest(list, [](const Candidate& candidate) { return candidate.bandwidth.has_value(); });
  // The narrowest and first has the CPUs (Linux gives a CPU to one node): the default memory beside something slower.
  const auto home = std::min_element(list.begin(), list.end(), [](const Candidate& one, const Candidate& other) {
    return std::pair(one.numa->cpus.size(), one.numa->os_index) < std::pair(other.numa->cpus.size(), other.numa->os_index);
  });
  return best != nullptr && best->kind != "ddr" && best != home->numa ? best : nullptr;
}

const NumaNode* fast_for(const Tree& tree, const Node& node, hwloc_obj_t pu, bool& refused) {
  const auto list = candidates(tree, node, pu, refused);
  if (const auto* numa = quickest(list, [](const Candidate& candidate) { return candidate.labelled; })) return numa;
  if (list.size() > 1) {  // beside ordinary memory; alone it would be the default, not the fast one
    if (const auto* numa = quickest(list, [](const Candidate& candidate) { return candidate.specific_purpose; }))
      return numa;
  }
  if (const auto* numa = fastest_by_bandwidth(list)) return numa;
  return detached(node, static_cast<int>(pu->os_index), refused);
}

}  // namespace

void find_fast_memory(const Tree& tree, Node& node) {
  const hwloc_const_cpuset_t allowed = hwloc_topology_get_allowed_cpuset(tree.get());
  std::map<int, std::vector<int>> cpus;
  bool refused = false;
  for (hwloc_obj_t pu : tree.objects(HWLOC_OBJ_PU)) {
    if (hwloc_bitmap_isset(allowed, pu->os_index) == 0) continue;
    if (const auto* numa = fast_for(tree, node, pu, refused)) cpus[numa->os_index].push_back(static_cast<int>(pu->os_index));
  }
  for (auto& [os_index, local] : cpus) {
    std::sort(local.begin(), local.end());
    node.fast_memory.push_back({os_index, std::move(local)});
  }
  if (refused) {
    node.warnings.push_back(
        {"fast-memory-not-allowed",
         "the cores this process may use have fast memory beside them that its cpuset does not allow: ask the "
         "scheduler for those NUMA nodes (cpuset.mems), or nothing can be placed there"});
  }
}

}  // namespace hbmark::topology
