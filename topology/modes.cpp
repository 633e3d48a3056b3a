// The modes of every machine that is no Knights Landing: HBM as memory, as a cache, or as all there is; and how packages are
// divided.
#include "topology/modes.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "topology/memory.h"

namespace hbmark::topology {
namespace {

void warn(Node& node, const std::string& id, const std::string& text) { node.warnings.push_back({id, text}); }

struct Kinds {
  bool hbm = false;
  bool ddr = false;
  bool other = false;        // anything but HBM
  std::vector<int> unknown;  // nodes of which even that is not known
  std::uint64_t hbm_bytes = 0;
  std::uint64_t cache_bytes = 0;
};

Kinds look(const Tree& tree, const Node& node) {
  Kinds kinds;
  for (const auto& numa : node.numa) {
    kinds.hbm = kinds.hbm || numa.kind == "hbm";
    kinds.ddr = kinds.ddr || numa.kind == "ddr";
    kinds.other = kinds.other || (numa.kind != "hbm" && numa.kind != "gpu");
    if (numa.kind == "hbm") kinds.hbm_bytes += numa.size_bytes.value_or(0);
  }
  for (hwloc_obj_t object : tree.objects(HWLOC_OBJ_NUMANODE)) {
    const auto numa = std::find_if(node.numa.begin(), node.numa.end(), [&](const NumaNode& each) {
      return each.os_index == static_cast<int>(object->os_index);
    });
    const bool link = subtype(object).rfind("CXL", 0) == 0;  // no kind of ours, and no HBM for certain
    if (numa != node.numa.end() && numa->kind == "unknown" && !link) kinds.unknown.push_back(numa->os_index);
  }
  for (const auto& cache : node.memory_side_caches) kinds.cache_bytes += cache.size_bytes;
  return kinds;
}

Mode xeon_max_mode(const Tree& tree, const Kinds& kinds, Node& node) {
  const std::uint64_t all = std::max<std::size_t>(1, tree.objects(HWLOC_OBJ_PACKAGE).size()) * kXeonMaxHbmBytes;
  if (kinds.cache_bytes > 0 && (kinds.hbm || kinds.cache_bytes > all)) {
    const std::string why = kinds.hbm ? "HBM is both addressable memory and a memory-side cache"
                                      : "the memory-side caches are larger than the HBM of the packages";
    warn(node, "hbm-modes-contradictory", why + ", which no mode of a Xeon Max gives: the firmware's tables are faulty");
    return {"unknown", why};
  }
  if (kinds.cache_bytes > 0) return {"cache", "a memory-side cache before each node, which on a Xeon Max is HBM"};
  if (kinds.hbm && !tree.cut() && kinds.hbm_bytes < all - all / 16) {
    warn(node, "hbm-incomplete",
         fmt::format(
             "only {:.1f} of the {} GiB of HBM are in sight: the rest is not made memory (`daxctl list`), or is hidden "
             "from us",
             static_cast<double>(kinds.hbm_bytes) / static_cast<double>(kGiB), all / kGiB));
  }
  if (kinds.hbm && kinds.ddr) return {"flat", "HBM and DDR are NUMA nodes of their own"};
  if (kinds.hbm && kinds.other) return {"flat", "HBM is a NUMA node of its own"};
  if (kinds.hbm && tree.cut()) return {"unknown", "HBM is memory, and a cpuset hides whether there is DDR as well"};
  if (kinds.hbm) return {"hbm-only", "there is no more memory than the packages' own HBM"};
  warn(node, "hbm-not-visible",
       "this Xeon Max has 64 GiB of HBM a package, and none is in sight: in cache mode the firmware may hide it, in flat "
       "mode "
       "it must be made memory first (`daxctl reconfigure-device -m system-ram all`)");
  return {"unknown", "no HBM is in sight, as memory or as a cache"};
}

Mode hbm_memory_mode(const Tree& tree, const CpuId& cpu, Node& node) {
  const Kinds kinds = look(tree, node);
  if (cpu.is_xeon_max()) return xeon_max_mode(tree, kinds, node);
  if (kinds.hbm && kinds.ddr) return {"flat", "HBM and DDR are NUMA nodes of their own"};
  if (kinds.hbm && kinds.other) return {"flat", "HBM is a NUMA node of its own"};
  if (kinds.hbm) return {"hbm-only", "all memory is HBM"};
  if (node.numa.empty()) return {"unknown", "no NUMA node is described"};
  if (!kinds.unknown.empty()) {
    return {"unknown", fmt::format("what the memory of node(s) {} is, is not known", fmt::join(kinds.unknown, ", "))};
  }
  if (cpu.is_nameless()) return {"unknown", "the CPU does not say what it is: its memory may be of any kind"};
  if (kinds.cache_bytes > 0) {
    warn(
        node, "dram-memory-side-cache",
        "the memory is behind a DRAM cache (persistent memory in memory mode, 2LM): working sets near and above the cache's "
        "size run much slower, and vary from launch to launch");
    return {"none", "no MCDRAM or HBM; the memory-side caches are DRAM before slower memory"};
  }
  return {"none", "no MCDRAM or HBM was found"};
}

Mode package_division(const Tree& tree, const CpuId& cpu, const Node& node) {
  const auto packages = tree.objects(HWLOC_OBJ_PACKAGE).size();
  const auto clusters = count_clusters(node);
  const bool even = packages > 0 && clusters > packages && clusters % packages == 0;
  if (cpu.is_nameless() || (cpu.model.empty() && cpu.vendor == "GenuineIntel")) {
    return {"unknown", "the CPU does not say what it is"};
  }
  if (!cpu.is_xeon()) {
    if (even && cpu.vendor == "AuthenticAMD") {
      return {"none", fmt::format("this CPU has no cluster modes (NPS{}: {} NUMA nodes a package)", clusters / packages,
                                  clusters / packages)};
    }
    return {"none", "this CPU has no cluster modes"};
  }
  if (tree.cut()) return {"unknown", "a cpuset hides a part of the machine"};
  if (even && clusters == 4 * packages) return {"snc4", "4 NUMA nodes with cores a package"};
  if (even && clusters == 2 * packages) return {"snc2", "2 NUMA nodes with cores a package"};
  if (packages > 0 && clusters > packages) {
    return {"unknown", fmt::format("{} NUMA nodes with cores on {} package(s)", clusters, packages)};
  }
  if (cpu.is_xeon_max()) return {"unknown", "all-to-all, hemisphere and quadrant look the same from here"};
  return {"none", "the packages are not divided"};
}

}  // namespace

void describe_modes(const Tree& tree, const CpuId& cpu, const std::optional<KnlHwdata>& hwdata, bool live, Node& node) {
  if (cpu.is_knl()) return describe_knl_modes(tree, hwdata, live, node);
  node.memory_mode = hbm_memory_mode(tree, cpu, node);
  node.cluster_mode = package_division(tree, cpu, node);
}

}  // namespace hbmark::topology
