// The NUMA nodes as a user sees them: kinds, partners, and the memory-side caches before them.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "topology/memory.h"

namespace hbmark::topology {
namespace {

using Entries = std::vector<MemoryEntry>;

// The DDR node with the same CPUs, else the one with the fewest that include ours; of a DDR node the fast one, else NVM.
std::optional<int> find_partner(const Entries& entries, const MemoryEntry& entry) {
  if (empty(entry.object->cpuset) || entry.kind == "gpu" || entry.kind == "unknown") return std::nullopt;
  const MemoryEntry* best = nullptr;
  const auto rank = [](const MemoryEntry& candidate) {
    return std::pair(!is_fast_kind(candidate.kind), hwloc_bitmap_weight(candidate.object->cpuset));
  };
  for (const auto& other : entries) {
    if (other.kind == "gpu" || other.kind == "unknown" || (other.kind == "ddr") == (entry.kind == "ddr")) continue;
    if (empty(other.object->cpuset) || hwloc_bitmap_isincluded(entry.object->cpuset, other.object->cpuset) == 0) continue;
    if (best == nullptr || rank(other) < rank(*best)) best = &other;
  }
  if (best == nullptr) return std::nullopt;
  return static_cast<int>(best->object->os_index);
}

// The one DDR node that is nearest to `fast` by the firmware's distances; with a single one there is no question.
std::optional<std::size_t> nearest_ddr(const Tree& tree, const Entries& entries, const MemoryEntry& fast) {
  std::optional<std::size_t> nearest;
  std::uint64_t least = 0;
  bool unique = true;
  for (std::size_t k = 0; k < entries.size(); ++k) {
    if (entries[k].kind != "ddr" || empty(entries[k].object->cpuset)) continue;
    const auto far = distance(tree, entries[k].object, fast.object);
    if (!nearest || (far && *far < least)) {
      unique = !nearest || far.has_value();
      nearest = k;
      least = far.value_or(0);
    } else if (!far || *far == least) {
      unique = false;
    }
  }
  return unique ? nearest : std::nullopt;
}

// Fast memory that the tree hangs under no core (old hwloc, unpatched kernel).
void pair_detached(const Tree& tree, const Entries& entries, Node& node) {
  std::vector<int> found;
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (!is_fast_kind(entries[i].kind) || !empty(entries[i].object->cpuset)) continue;
    const auto ddr = nearest_ddr(tree, entries, entries[i]);
    if (!ddr) continue;
    node.numa[i].partner = static_cast<int>(entries[*ddr].object->os_index);
    node.numa[*ddr].partner = static_cast<int>(entries[i].object->os_index);
    found.push_back(static_cast<int>(entries[i].object->os_index));
  }
  if (found.empty()) return;
  node.warnings.push_back(
      {"mcdram-without-cpus",
       fmt::format("the topology ties the fast memory of node(s) {} to no core: it is taken as local to the cores of its "
                   "nearest DDR node, by the firmware's distances",
                   fmt::join(found, ", "))});
}

struct SideCache {
  std::uint64_t size = 0;
  const NumaNode* behind = nullptr;
};

// KNL's L3 object covers the DDR node and the MCDRAM node of its cluster; what it caches is the DDR.
const NumaNode* memory_behind(hwloc_const_bitmap_t nodeset, const Node& node) {
  const NumaNode* behind = nullptr;
  for (const auto& numa : node.numa) {
    if (hwloc_bitmap_isset(nodeset, static_cast<unsigned>(numa.os_index)) == 0) continue;
    if (behind == nullptr || (is_fast_kind(behind->kind) && !is_fast_kind(numa.kind))) behind = &numa;
  }
  return behind;
}

// Why there cannot be such a cache; "" when there can.
std::string nonsense(const CpuId& cpu, const SideCache& cache) {
  if (cache.size == 0) return "a cache without a size is none";
  if (!cpu.is_knl()) return "";
  if (is_fast_kind(cache.behind->kind)) return "MCDRAM is the cache and never behind one";
  // The smallest real one: hybrid25 in SNC-4, a quarter of a quarter of 16 GiB.
  return cache.size < kGiB ? "a Knights Landing has none under 1024 MiB" : "";
}

void describe_side_caches(const Tree& tree, const CpuId& cpu, Node& node) {
  std::vector<SideCache> caches;
  for (const auto type : {HWLOC_OBJ_MEMCACHE, HWLOC_OBJ_L3CACHE}) {
    for (hwloc_obj_t object : tree.objects(type)) {
      if (type == HWLOC_OBJ_L3CACHE && subtype(object) != "MemorySideCache") continue;
      const NumaNode* behind = memory_behind(object->nodeset, node);
      if (behind != nullptr) caches.push_back({object->attr->cache.size, behind});
    }
  }
  std::vector<int> small;  // nodes smaller than the cache before them
  std::set<std::string> said;
  for (const auto& cache : caches) {
    const std::string why = nonsense(cpu, cache);
    if (why.empty()) {
      node.memory_side_caches.push_back({cache.size, cache.behind->os_index});
      if (cache.behind->size_bytes && *cache.behind->size_bytes < cache.size) small.push_back(cache.behind->os_index);
    } else if (said.insert(why).second) {
      node.warnings.push_back(
          {"memory-side-cache-implausible",
           fmt::format("hwloc reports a memory-side cache of {} bytes before node {}, yet {}: the firmware's tables are "
                       "faulty, the cache is left out",
                       cache.size, cache.behind->os_index, why)});
    }
  }
  std::sort(node.memory_side_caches.begin(), node.memory_side_caches.end(),
            [](const auto& one, const auto& other) { return one.os_index < other.os_index; });
  if (small.empty()) return;
  node.warnings.push_back(
      {"memory-side-cache-larger-than-memory",
       fmt::format("the memory-side cache before node(s) {} is larger than their memory: every working set fits into it",
                   fmt::join(small, ", "))});
}

void warn_about_unknown_kinds(const CpuId& cpu, Node& node) {
  std::vector<int> unknown;
  for (const auto& numa : node.numa) {
    if (numa.kind == "unknown") unknown.push_back(numa.os_index);
  }
  if (unknown.empty()) return;
  node.warnings.push_back(
      {"memory-kind-unknown",
       fmt::format("the kind of NUMA node(s) {} is unknown{}: name such a node by its number to use it",
                   fmt::join(unknown, ", "), cpu.is_knl() || cpu.is_xeon_max() ? ", it may be the fast memory" : "")});
}

void find_partners(const Tree& tree, const Entries& entries, Node& node) {
  for (std::size_t i = 0; i < entries.size(); ++i) node.numa[i].partner = find_partner(entries, entries[i]);
  pair_detached(tree, entries, node);
}

}  // namespace

void describe_memory(const Tree& tree, const CpuId& cpu, Node& node) {
  const auto entries = find_kinds(tree, cpu);
  const hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(tree.get());
  for (const auto& entry : entries) {
    NumaNode numa;
    numa.os_index = static_cast<int>(entry.object->os_index);
    numa.kind = entry.kind;
    numa.kind_source = entry.source;
    const std::uint64_t size = entry.object->attr->numanode.local_memory;
    if (size > 0) numa.size_bytes = size;
    numa.cpus = indexes(entry.object->cpuset);
    numa.allowed = hwloc_bitmap_isset(allowed, entry.object->os_index) != 0;
    node.numa.push_back(std::move(numa));
  }
  find_partners(tree, entries, node);
  describe_side_caches(tree, cpu, node);
  warn_about_unknown_kinds(cpu, node);
}

}  // namespace hbmark::topology
