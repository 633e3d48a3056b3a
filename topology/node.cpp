#include "topology/node.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <tuple>

#include "topology/cgroup.h"
#include "topology/gpus.h"
#include "topology/hwloc_tree.h"
#include "topology/memory.h"
#include "topology/modes.h"
#include "topology/text_files.h"
#if HWLOC_API_VERSION >= 0x00020400
#include <hwloc/cpukinds.h>
#endif

namespace hbmark::topology {
namespace {

void describe_cpu(const CpuId& cpu, Node& node) {
  node.cpu_model = cpu.model;
  node.cpu_vendor = cpu.vendor;
  if (cpu.family >= 0) node.cpu_family = cpu.family;
  if (cpu.number >= 0) node.cpu_model_number = cpu.number;
}

// The ordinary memory next to a PU: DDR where there is some, else what there is.
int home_numa(const Tree& tree, const Node& node, hwloc_obj_t pu) {
  int home = -1;
  bool ddr = false;
  for (hwloc_obj_t object : local_numa_nodes(tree, pu)) {
    const auto numa = std::find_if(node.numa.begin(), node.numa.end(), [&](const NumaNode& each) {
      return each.os_index == static_cast<int>(object->os_index);
    });
    if (numa == node.numa.end() || numa->kind == "gpu" || ddr) continue;
    ddr = numa->kind == "ddr";
    if (home < 0 || ddr) home = numa->os_index;
  }
  return home;
}

std::vector<hwloc_obj_t> pus_below(const Tree& tree, hwloc_obj_t core) {
  std::vector<hwloc_obj_t> found;
  for (hwloc_obj_t pu = nullptr;
       (pu = hwloc_get_next_obj_inside_cpuset_by_type(tree.get(), core->cpuset, HWLOC_OBJ_PU, pu)) != nullptr;) {
    found.push_back(pu);
  }
  return found;
}

void describe_cores(const Tree& tree, Node& node) {
  node.packages = static_cast<int>(tree.objects(HWLOC_OBJ_PACKAGE).size());
  auto cores = tree.objects(HWLOC_OBJ_CORE);
  if (cores.empty()) cores = tree.objects(HWLOC_OBJ_PU);  // some virtual machines tell of no cores
  for (hwloc_obj_t object : cores) {
    Core core;
    const auto pus = pus_below(tree, object);
    if (pus.empty()) continue;
    for (hwloc_obj_t pu : pus) core.pus.push_back(static_cast<int>(pu->os_index));
    const hwloc_obj_t package = hwloc_get_ancestor_obj_by_type(tree.get(), HWLOC_OBJ_PACKAGE, object);
    core.package = package != nullptr ? static_cast<int>(package->logical_index) : 0;
    core.numa = home_numa(tree, node, pus.front());
    const hwloc_obj_t l2 = hwloc_get_ancestor_obj_by_type(tree.get(), HWLOC_OBJ_L2CACHE, object);
    core.tile = l2 != nullptr ? static_cast<int>(l2->logical_index) : -1;
    node.cores.push_back(std::move(core));
  }
  node.pus = indexes(tree.root()->cpuset);
}

void describe_allowed(const Tree& tree, Node& node) {
  Bitmap allowed;
  hwloc_bitmap_and(allowed.get(), tree.root()->cpuset, hwloc_topology_get_allowed_cpuset(tree.get()));
  if (tree.this_system()) {  // on top of the cpuset: taskset, numactl or a launcher's binding
    Bitmap bound;
    if (hwloc_get_cpubind(tree.get(), bound.get(), HWLOC_CPUBIND_THREAD) == 0 && !empty(bound.get())) {
      hwloc_bitmap_and(allowed.get(), allowed.get(), bound.get());
    }
  }
  node.allowed_pus = indexes(allowed.get());
}

void describe_caches(const Tree& tree, Node& node) {
  std::map<std::tuple<int, std::string, std::uint64_t, int>, int> counts;
  for (const auto type : {HWLOC_OBJ_L1CACHE, HWLOC_OBJ_L2CACHE, HWLOC_OBJ_L3CACHE, HWLOC_OBJ_L4CACHE, HWLOC_OBJ_L5CACHE}) {
    for (hwloc_obj_t cache : tree.objects(type)) {
      if (subtype(cache) == "MemorySideCache" || cache->attr->cache.size == 0 || empty(cache->cpuset)) continue;
      const std::string kind = cache->attr->cache.type == HWLOC_OBJ_CACHE_UNIFIED ? "unified" : "data";
      const int shared = std::max(0, hwloc_bitmap_weight(cache->cpuset));
      ++counts[{static_cast<int>(cache->attr->cache.depth), kind, cache->attr->cache.size, shared}];
    }
  }
  for (const auto& [key, count] : counts) {
    node.caches.push_back({std::get<0>(key), std::get<1>(key), std::get<2>(key), count, std::get<3>(key)});
  }
}

std::string this_hostname() {
  std::array<char, 256> name{};
  return gethostname(name.data(), name.size() - 1) == 0 ? name.data() : "";
}

void describe_limits(const std::string& root, Node& node) {
  const CgroupLimits limits = read_cgroup(root);
  node.cpu_quota = limits.cpu_quota;
  node.memory_limit_bytes = limits.memory_limit_bytes;
  node.cgroup_cpus = limits.cpus;
  node.cgroup_memory_nodes = limits.memory_nodes;
  const auto meminfo = read_meminfo(root);
  if (const auto available = meminfo.find("MemAvailable"); available != meminfo.end()) {
    node.memory_available_bytes = available->second;
  }
  if (limits.memory_room_bytes) {
    node.memory_available_bytes =
        std::min(node.memory_available_bytes.value_or(*limits.memory_room_bytes), *limits.memory_room_bytes);
  }
}

// Two kinds of cores that also differ in PUs a core; frequencies alone differ between good and better cores of one kind.
bool is_hybrid([[maybe_unused]] const Tree& tree, const Node& node) {
#if HWLOC_API_VERSION >= 0x00020400
  if (hwloc_cpukinds_get_nr(tree.get(), 0) < 2) return false;
  std::set<std::size_t> widths;
  for (const auto& core : node.cores) widths.insert(core.pus.size());
  return widths.size() > 1;
#else
  return false;
#endif
}

// SNC-4 on 68 cores gives quarters of 18, 18, 16 and 16.
void warn_about_uneven_parts(Node& node) {
  std::map<int, int> parts;  // home node -> cores
  for (const Core& core : node.cores) {
    if (core.numa >= 0) ++parts[core.numa];
  }
  std::vector<int> sizes;
  for (const auto& [numa, cores] : parts) sizes.push_back(cores);
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) == sizes.end()) return;
  node.warnings.push_back(
      {"uneven-parts", fmt::format("the parts of this machine with memory of their own have {} cores: replicas on them are "
                                   "of unequal size",
                                   fmt::join(sizes, ", "))});
}

void warn_about_cores(const Tree& tree, Node& node) {
  if (is_hybrid(tree, node)) {
    node.warnings.push_back({"hybrid-cpu",
                             "this CPU has fast and slow cores: a result over all of them waits for the slow ones; "
                             "choose cores of one kind with `taskset`"});
  }
  if (tree.cut()) {
    node.warnings.push_back(
        {"cpus-hidden", fmt::format("this view holds {} of the machine's {} PUs (a cpuset hides the others): it "
                                    "describes a part, not the machine",
                                    node.pus.size(), hwloc_bitmap_weight(tree.root()->complete_cpuset))});
  }
  if (node.allowed_pus.size() < node.pus.size()) {
    node.warnings.push_back({"cpus-not-allowed", fmt::format("this process may use {} of {} PUs (affinity or cpuset)",
                                                             node.allowed_pus.size(), node.pus.size())});
  }
  warn_about_uneven_parts(node);
  const auto far = std::count_if(node.cores.begin(), node.cores.end(), [](const Core& core) { return core.numa < 0; });
  if (far > 0) {
    node.warnings.push_back(
        {"cores-without-memory", fmt::format("{} of {} cores have no memory of their own: every access of theirs "
                                             "goes to another die",
                                             far, node.cores.size())});
  }
}

void warn_about_sources(const std::string& root, Node& node) {
  if (std::error_code error; std::filesystem::exists(under_root(root, "/sys/devices/system/cpu"), error)) return;
  node.warnings.push_back({"sys-unreadable",
                           "/sys is not there (or not readable): cores and caches are what the CPU itself says, NUMA nodes, "
                           "GPUs and limits are unknown; mount it: `mount -t sysfs sysfs /sys` as root"});
}

void warn_about_memory(Node& node) {
  const auto unsized =
      std::count_if(node.numa.begin(), node.numa.end(), [](const NumaNode& numa) { return !numa.size_bytes; });
  if (unsized > 0) {
    node.warnings.push_back(
        {"numa-sizes-unknown", fmt::format("the size of {} of {} NUMA nodes is unknown", unsized, node.numa.size())});
  }
}

void warn_about_identity(Node& node) {
  if (!node.identity.weak) return;
  node.warnings.push_back({"identity-weak",
                           "nothing here tells this machine from another of its make (as in a container): results of both "
                           "would be taken for one node's; set HBMARK_NODE_ID to a name of your own for each"});
}

}  // namespace

Result<Node> describe_node(const DescribeOptions& options) {
  auto tree = Tree::load(options.xml_file, options.with_io);
  if (!tree) return tl::make_unexpected(tree.error());
  const CpuId cpu = identify_cpu(*tree);
  const bool machine = options.xml_file.empty() && tree->this_system();
  const bool readable = machine || !options.sysfs_root.empty();
  Node node;
  node.this_system = machine && options.sysfs_root.empty();
  node.hostname = node.this_system ? this_hostname() : info(tree->root(), "HostName");
  node.identity = node.this_system ? this_machine() : identify_file(*tree, cpu);
  describe_cpu(cpu, node);
  describe_memory(*tree, cpu, node);
  describe_cores(*tree, node);
  describe_allowed(*tree, node);
  describe_caches(*tree, node);
  find_fast_memory(*tree, node);
  const bool ask_hwdata = readable && cpu.is_knl();
  describe_modes(*tree, cpu, ask_hwdata ? read_knl_hwdata(options.sysfs_root) : std::nullopt, readable, node);
  if (options.with_io) node.gpus = find_gpus(*tree, node);
  if (readable) describe_limits(options.sysfs_root, node);
  if (node.this_system) {
    warn_about_sources(options.sysfs_root, node);
    warn_about_identity(node);
  }
  warn_about_cores(*tree, node);
  warn_about_memory(node);
  return node;
}

}  // namespace hbmark::topology
