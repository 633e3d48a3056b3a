// Which kind each NUMA node is of. hwloc's subtype says it where the firmware or the kernel does; where they do not, it is
// inferred from what only that machine can be, and a node stays "unknown" rather than be guessed. A node without CPUs is not
// fast for that: POWER9's GPU memory, NVDIMMs and the nodes a cpuset stripped have none either.
#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "topology/memory.h"

namespace hbmark::topology {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
// Every Xeon Phi x200 has 16 GiB of MCDRAM; every Xeon Max package 64 GiB of HBM2e (Intel's product specifications).
constexpr std::uint64_t kMcdramBytes = 16 * kGiB;
constexpr std::uint64_t kXeonMaxHbmBytes = 64 * kGiB;
// skiboot numbers the memory of NVIDIA GPUs on POWER9 from 255 downwards (hw/npu2.c); six GPUs are the most there are.
constexpr unsigned kPower9FirstGpuNode = 240;

struct Entry {
  hwloc_obj_t object;
  std::string kind;  // "" while undecided
};

std::uint64_t size_of(hwloc_obj_t numa) { return numa->attr->numanode.local_memory; }
bool without_cpus(hwloc_obj_t numa) { return empty(numa->cpuset) && empty(numa->complete_cpuset); }
bool specific_purpose(hwloc_obj_t numa) { return subtype(numa) == "SPM" || has_info(numa, "DAXDevice"); }

hwloc_obj_t cache_over(hwloc_obj_t numa) {
  return numa->parent != nullptr && numa->parent->type == HWLOC_OBJ_MEMCACHE ? numa->parent : nullptr;
}

// What hwloc itself says. DAXType is the kernel's word for where the memory came from. "DRAM" is not taken here: newer hwloc
// says it of every node it knows nothing better of, Optane behind a cache and HBM without DIMMs included.
std::string labelled_kind(const CpuId& cpu, hwloc_obj_t numa) {
  const std::string label = subtype(numa);
  if (label == "GPUMemory") return "gpu";
  if (label == "MCDRAM") return "mcdram";
  if (label == "HBM") return cpu.is_knl() ? "mcdram" : "hbm";
  if (label == "NVM" || label == "CXL-NVM" || info(numa, "DAXType") == "NVM") return "nvm";
  if (label.rfind("CXL", 0) == 0) return "unknown";  // DRAM behind a link: neither this nor that
  return "";
}

void infer_cpuless_mcdram(std::vector<Entry>& entries) {
  const auto half = static_cast<std::size_t>(
      std::count_if(entries.begin(), entries.end(), [](const Entry& entry) { return without_cpus(entry.object); }));
  if (half * 2 != entries.size()) return;
  for (auto& entry : entries) {
    if (entry.kind.empty() && without_cpus(entry.object)) entry.kind = "mcdram";
  }
}

// Two nodes with the same CPUs each: the later-numbered and smaller one is MCDRAM, if all of those fit into 16 GiB. (Linux
// numbers nodes with CPUs first; newer kernels and hwloc then give MCDRAM the CPUs of its cluster.)
void infer_paired_mcdram(std::vector<Entry>& entries) {
  std::vector<Entry*> small;
  std::uint64_t total = 0;
  for (auto& entry : entries) {
    std::vector<Entry*> same;
    for (auto& other : entries) {
      if (hwloc_bitmap_isequal(entry.object->cpuset, other.object->cpuset) != 0) same.push_back(&other);
    }
    if (same.size() != 2 || !same[0]->kind.empty() || !same[1]->kind.empty()) return;
    Entry* other = same[0] == &entry ? same[1] : same[0];
    if (entry.object->os_index < other->object->os_index) continue;
    if (size_of(entry.object) >= size_of(other->object)) return;
    small.push_back(&entry);
    total += size_of(entry.object);
  }
  if (total > kMcdramBytes) return;
  for (Entry* entry : small) entry->kind = "mcdram";
}

void infer_knl(std::vector<Entry>& entries) {
  const auto count = entries.size();
  if (count != 2 && count != 4 && count != 8) return;
  infer_cpuless_mcdram(entries);
  const bool found = std::any_of(entries.begin(), entries.end(), [](const Entry& entry) { return entry.kind == "mcdram"; });
  if (!found) infer_paired_mcdram(entries);
}

void infer_xeon_max(const Tree& tree, std::vector<Entry>& entries) {
  bool seen = false;  // HBM shows itself, as nodes or as a cache
  std::uint64_t total = 0;
  for (auto& entry : entries) {
    total += size_of(entry.object);
    if (entry.kind.empty() && specific_purpose(entry.object)) entry.kind = "hbm";
    seen = seen || entry.kind == "hbm" || cache_over(entry.object) != nullptr;
  }
  if (seen) return;
  if (tree.cut()) {  // a part of the machine: sizes prove nothing
    for (auto& entry : entries) entry.kind = entry.kind.empty() ? "unknown" : entry.kind;
    return;
  }
  // No more memory than the packages hold themselves: there are no DIMMs.
  const auto packages = std::max<std::size_t>(1, tree.objects(HWLOC_OBJ_PACKAGE).size());
  if (total == 0 || total > packages * kXeonMaxHbmBytes) return;
  for (auto& entry : entries) entry.kind = entry.kind.empty() ? "hbm" : entry.kind;
}

std::string default_kind(const CpuId& cpu, hwloc_obj_t numa) {
  if (cpu.is_power() && without_cpus(numa) && numa->os_index >= kPower9FirstGpuNode) return "gpu";
  if (cpu.is_mi300a()) return "hbm";  // its 128 GB of HBM3 are all the memory it has (AMD's data sheet)
  if (cache_over(numa) != nullptr && !cpu.is_knl() && !cpu.is_xeon_max()) {
    // A memory-side cache on Cascade, Cooper or Ice Lake is DRAM in front of persistent memory ("memory mode", 2LM).
    return cpu.is_xeon() && (cpu.number == 85 || cpu.number == 106) ? "nvm" : "unknown";
  }
  if (subtype(numa) == "DRAM") return "ddr";
  return without_cpus(numa) || specific_purpose(numa) ? "unknown" : "ddr";
}

// The node of the other kind with the same CPUs, else the one with the fewest that include ours. Never GPU memory.
std::optional<int> find_partner(const std::vector<Entry>& entries, const Entry& entry) {
  if (empty(entry.object->cpuset) || entry.kind == "gpu") return std::nullopt;
  const Entry* best = nullptr;
  for (const auto& other : entries) {
    if (other.kind == entry.kind || other.kind == "gpu" || other.kind == "unknown") continue;
    if (empty(other.object->cpuset) || hwloc_bitmap_isincluded(entry.object->cpuset, other.object->cpuset) == 0) continue;
    const auto rank = [&](const Entry& candidate) {
      const int preferred = candidate.kind == "ddr" || is_fast_kind(candidate.kind) ? 0 : 1;
      return std::pair(preferred, hwloc_bitmap_weight(candidate.object->cpuset));
    };
    if (best == nullptr || rank(other) < rank(*best)) best = &other;
  }
  if (best == nullptr) return std::nullopt;
  return static_cast<int>(best->object->os_index);
}

// MCDRAM that the tree hangs under no core (old hwloc, unpatched kernel): with one DDR node there is one answer; with more,
// the firmware's distances must single one out.
void pair_detached(const Tree& tree, const std::vector<Entry>& entries, Node& node) {
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind != "mcdram" || !empty(entries[i].object->cpuset)) continue;
    std::optional<std::size_t> nearest;
    std::uint64_t least = 0;
    bool unique = true;
    for (std::size_t k = 0; k < entries.size(); ++k) {
      if (entries[k].kind != "ddr" || empty(entries[k].object->cpuset)) continue;
      const auto far = distance(tree, entries[k].object, entries[i].object);
      if (!nearest || (far && *far < least)) {
        unique = !nearest || far.has_value();
        nearest = k;
        least = far.value_or(0);
      } else if (!far || *far == least) {
        unique = false;
      }
    }
    if (!nearest || !unique) continue;
    node.numa[i].partner = static_cast<int>(entries[*nearest].object->os_index);
    node.numa[*nearest].partner = static_cast<int>(entries[i].object->os_index);
  }
}

void add_side_cache(const CpuId& cpu, std::uint64_t size, hwloc_const_bitmap_t nodeset, Node& node) {
  // KNL's L3 object covers the DDR node and the MCDRAM node of its cluster; what it caches is the DDR.
  std::optional<int> behind;
  for (const auto& numa : node.numa) {
    if (hwloc_bitmap_isset(nodeset, static_cast<unsigned>(numa.os_index)) == 0) continue;
    if (!behind || !is_fast_kind(numa.kind)) behind = numa.os_index;
    if (!is_fast_kind(numa.kind)) break;
  }
  if (!behind) return;
  node.memory_side_caches.push_back({size, *behind});
  if (cpu.is_knl() && size < kGiB) {  // the smallest real one: hybrid25 in SNC-4, a quarter of a quarter of 16 GiB
    node.warnings.push_back(
        {"memory-side-cache-implausible",
         fmt::format("hwloc reports a memory-side cache of {} MiB before node {}; a Knights Landing has none "
                     "under 1024 MiB: the firmware's tables are faulty, do not rely on it",
                     size >> 20, *behind)});
  }
}

void describe_side_caches(const Tree& tree, const CpuId& cpu, Node& node) {
  for (hwloc_obj_t cache : tree.objects(HWLOC_OBJ_MEMCACHE)) {
    add_side_cache(cpu, cache->attr->cache.size, cache->nodeset, node);
  }
  for (hwloc_obj_t cache : tree.objects(HWLOC_OBJ_L3CACHE)) {
    if (subtype(cache) == "MemorySideCache") add_side_cache(cpu, cache->attr->cache.size, cache->nodeset, node);
  }
}

}  // namespace

bool is_fast_kind(const std::string& kind) { return kind == "mcdram" || kind == "hbm"; }

void describe_memory(const Tree& tree, const CpuId& cpu, Node& node) {
  std::vector<Entry> entries;
  for (hwloc_obj_t numa : tree.objects(HWLOC_OBJ_NUMANODE)) entries.push_back({numa, labelled_kind(cpu, numa)});
  if (cpu.is_knl()) infer_knl(entries);
  if (cpu.is_xeon_max()) infer_xeon_max(tree, entries);
  for (auto& entry : entries) {
    if (entry.kind.empty()) entry.kind = default_kind(cpu, entry.object);
  }
  const hwloc_const_nodeset_t allowed = hwloc_topology_get_allowed_nodeset(tree.get());
  for (const auto& entry : entries) {
    NumaNode numa;
    numa.os_index = static_cast<int>(entry.object->os_index);
    numa.kind = entry.kind;
    if (size_of(entry.object) > 0) numa.size_bytes = size_of(entry.object);
    numa.cpus = indexes(entry.object->cpuset);
    numa.partner = find_partner(entries, entry);
    numa.allowed = hwloc_bitmap_isset(allowed, entry.object->os_index) != 0;
    node.numa.push_back(std::move(numa));
  }
  if (cpu.is_knl()) pair_detached(tree, entries, node);
  describe_side_caches(tree, cpu, node);
}

}  // namespace hbmark::topology
