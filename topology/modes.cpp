#include "topology/modes.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/memory.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
// All 16 GiB of a Knights Landing's MCDRAM are addressable: flat. Kernels keep up to 0.3 GiB of it for themselves (16,109
// MiB seen on a real SNC-4 one); the nearest other mode, hybrid25, leaves 12 GiB.
constexpr std::uint64_t kWholeMcdramBytes = 15 * kGiB;

constexpr const char* kAskHwdata =
    "run `hwloc-dump-hwdata` once as root after each boot (package hwloc), then hbmark knows the modes";

std::string memory_word(const std::string& stated) {
  static const std::map<std::string, std::string> kWords = {
      {"Cache", "cache"}, {"Flat", "flat"}, {"Hybrid25", "hybrid25"}, {"Hybrid50", "hybrid50"}};
  const auto found = kWords.find(stated);
  return found != kWords.end() ? found->second : "";
}

std::string cluster_word(const std::string& stated) {
  static const std::map<std::string, std::string> kWords = {
      {"All2All", "a2a"}, {"Hemisphere", "hemisphere"}, {"Quadrant", "quadrant"}, {"SNC2", "snc2"}, {"SNC4", "snc4"}};
  const auto found = kWords.find(stated);
  return found != kWords.end() ? found->second : "";
}

// What the topology itself shows, beside anybody's words.
struct Shown {
  std::size_t clusters = 0;  // groups of CPUs with memory of their own
  std::size_t mcdram_nodes = 0;
  std::uint64_t mcdram_bytes = 0;
  std::uint64_t largest_mcdram_bytes = 0;
  bool cut = false;  // a cpuset hides a part of the machine
};

std::size_t count_clusters(const Node& node) {
  std::set<std::vector<int>> sets;
  for (const auto& numa : node.numa) {
    if (!numa.cpus.empty() && numa.kind != "gpu") sets.insert(numa.cpus);
  }
  std::size_t clusters = 0;
  for (const auto& set : sets) {  // a node of a whole package over the nodes of its parts is no cluster of its own
    const bool wider = std::any_of(sets.begin(), sets.end(), [&](const auto& other) {
      return other.size() < set.size() && std::includes(set.begin(), set.end(), other.begin(), other.end());
    });
    if (!wider) ++clusters;
  }
  return clusters;
}

Shown look(const Tree& tree, const Node& node) {
  Shown shown;
  shown.clusters = count_clusters(node);
  shown.cut = tree.cut();
  for (const auto& numa : node.numa) {
    if (numa.kind != "mcdram") continue;
    ++shown.mcdram_nodes;
    shown.mcdram_bytes += numa.size_bytes.value_or(0);
    shown.largest_mcdram_bytes = std::max(shown.largest_mcdram_bytes, numa.size_bytes.value_or(0));
  }
  return shown;
}

struct Stated {
  std::optional<std::string> memory;  // as stated, possibly nonsense; nullopt: nobody says
  std::optional<std::string> cluster;
  bool from_hwdata = false;
  std::string memory_source;
  std::string cluster_source;
};

Stated listen(const Tree& tree, const std::optional<KnlHwdata>& hwdata, bool live) {
  Stated stated;
  if (hwdata) {
    stated.memory = hwdata->memory_mode;
    stated.cluster = hwdata->cluster_mode;
    stated.from_hwdata = true;
    stated.memory_source = stated.cluster_source = "hwloc-dump-hwdata: " + hwdata->file;
    return stated;
  }
  if (has_info(tree.root(), "MemoryMode")) stated.memory = info(tree.root(), "MemoryMode");
  if (has_info(tree.root(), "ClusterMode")) stated.cluster = info(tree.root(), "ClusterMode");
  // Without the firmware's data hwloc guesses from the number of nodes, and never guesses these (hwloc topology-linux.c).
  const bool certain = stated.cluster == "All2All" || stated.cluster == "Hemisphere" || stated.memory == "Hybrid25" ||
                       stated.memory == "Hybrid50";
  const std::string how = certain ? ""
                          : live  ? " (a guess from the number of NUMA nodes)"
                                  : " (perhaps a guess from the number of NUMA nodes)";
  stated.memory_source = "hwloc info MemoryMode" + how;
  stated.cluster_source = "hwloc info ClusterMode" + how;
  return stated;
}

void warn(Node& node, const std::string& id, const std::string& text) { node.warnings.push_back({id, text}); }

// The MCDRAM of the whole chip as far as it is addressable; scaled up by the cluster mode when only a part is in sight.
std::uint64_t whole_mcdram(const Shown& shown, const std::string& cluster) {
  if (!shown.cut) return shown.mcdram_bytes;
  const std::uint64_t parts = cluster == "snc4" ? 4 : cluster == "snc2" ? 2 : 1;
  return shown.largest_mcdram_bytes * parts;
}

Mode unknown_memory_mode(Node& node, const std::string& id, const std::string& why) {
  warn(node, id, fmt::format("the memory mode is unknown: {}; {}", why, kAskHwdata));
  return {"unknown", why};
}

// The stated mode where the topology does not refute it.
Mode check_memory_mode(const Stated& stated, const Shown& shown, Node& node) {
  const std::string value = memory_word(*stated.memory);
  if (value.empty()) {
    return unknown_memory_mode(node, "knl-modes-invalid",
                               fmt::format("{} is \"{}\", which is no mode", stated.memory_source, *stated.memory));
  }
  if (value == "cache" && shown.mcdram_nodes > 0) {
    return unknown_memory_mode(node, "knl-modes-contradictory",
                               fmt::format("{} says Cache, yet MCDRAM is addressable memory", stated.memory_source));
  }
  if (value != "cache" && shown.mcdram_nodes == 0 && !shown.cut) {
    return unknown_memory_mode(
        node, "knl-modes-contradictory",
        fmt::format("{} says {}, yet no MCDRAM is addressable", stated.memory_source, *stated.memory));
  }
  if (value == "flat" && shown.mcdram_nodes > 0) {
    const std::uint64_t whole = whole_mcdram(shown, cluster_word(stated.cluster.value_or("")));
    const bool cached = !node.memory_side_caches.empty();
    if (whole < kWholeMcdramBytes || cached) {
      const std::string why =
          cached
              ? fmt::format("{} says Flat, yet there is a memory-side cache", stated.memory_source)
              : fmt::format("{} says Flat, yet only {:.1f} of 16 GiB of MCDRAM are addressable (hybrid, or offlined memory)",
                            stated.memory_source, static_cast<double>(whole) / static_cast<double>(kGiB));
      if (!stated.from_hwdata) return unknown_memory_mode(node, "knl-mcdram-incomplete", why);
      warn(node, "knl-mcdram-incomplete", why);  // the firmware's word stands; memory can be offlined
    }
  }
  return {value, stated.memory_source};
}

Mode knl_memory_mode(const Stated& stated, const Shown& shown, Node& node) {
  if (stated.memory) return check_memory_mode(stated, shown, node);
  if (!shown.cut && shown.mcdram_bytes >= kWholeMcdramBytes) {
    return {"flat", "all of the MCDRAM is addressable memory (no mode is stated)"};
  }
  return unknown_memory_mode(node, "knl-modes-unknown",
                             shown.mcdram_nodes == 0
                                 ? "no mode is stated and no MCDRAM is in sight: it may be a cache, or offlined"
                                 : "no mode is stated and only a part of the MCDRAM is in sight");
}

Mode knl_cluster_mode(const Stated& stated, const Shown& shown, Node& node) {
  const std::string value = stated.cluster ? cluster_word(*stated.cluster) : "";
  if (!value.empty()) {
    const std::size_t wanted = value == "snc4" ? 4 : value == "snc2" ? 2 : 1;
    if (shown.cut || shown.clusters == wanted) {
      if (value == "quadrant" && stated.cluster_source.find("guess") != std::string::npos) {
        warn(node, "knl-modes-guessed",
             fmt::format("the cluster mode may be all-to-all or hemisphere as well as quadrant ({}); {}",
                         stated.cluster_source, kAskHwdata));
      }
      return {value, stated.cluster_source};
    }
    const std::string why =
        fmt::format("{} says {}, yet the cores form {} cluster(s)", stated.cluster_source, *stated.cluster, shown.clusters);
    warn(node, "knl-modes-contradictory", "the cluster mode is unknown: " + why);
    return {"unknown", why};
  }
  if (!shown.cut && shown.clusters == 4) return {"snc4", "the cores form 4 clusters with memory of their own"};
  if (!shown.cut && shown.clusters == 2) return {"snc2", "the cores form 2 clusters with memory of their own"};
  const std::string why = stated.cluster
                              ? fmt::format("{} is \"{}\", which is no mode", stated.cluster_source, *stated.cluster)
                          : shown.cut ? "a cpuset hides a part of the chip"
                                      : "all-to-all, hemisphere and quadrant look the same from here";
  const bool said = std::any_of(node.warnings.begin(), node.warnings.end(),
                                [](const Warning& warning) { return warning.id.rfind("knl-modes", 0) == 0; });
  if (!said) warn(node, "knl-modes-unknown", fmt::format("the cluster mode is unknown: {}; {}", why, kAskHwdata));
  return {"unknown", why};
}

bool has_kind(const Node& node, const std::string& kind) {
  return std::any_of(node.numa.begin(), node.numa.end(), [&](const NumaNode& numa) { return numa.kind == kind; });
}

Mode hbm_memory_mode(const CpuId& cpu, Node& node) {
  const bool hbm = has_kind(node, "hbm");
  const bool cached = !node.memory_side_caches.empty();
  if (cpu.is_xeon_max() && hbm && cached) return {"unknown", "HBM is both addressable memory and a memory-side cache"};
  if (cpu.is_xeon_max() && cached) return {"cache", "a memory-side cache before each node, which on a Xeon Max is HBM"};
  if (hbm && has_kind(node, "ddr")) return {"flat", "HBM and DDR are NUMA nodes of their own"};
  if (hbm && std::all_of(node.numa.begin(), node.numa.end(), [](const NumaNode& numa) { return numa.kind == "hbm"; })) {
    return {"hbm-only", cpu.is_xeon_max() ? "there is no more memory than the packages' own HBM" : "all memory is HBM"};
  }
  if (hbm) return {"flat", "HBM is a NUMA node of its own"};
  if (cpu.is_xeon_max()) {
    warn(node, "hbm-not-visible",
         "this Xeon Max has 64 GiB of HBM a package, and none is in sight: in cache mode the firmware may hide it, in flat "
         "mode "
         "it must be made memory first (`daxctl reconfigure-device -m system-ram all`)");
    return {"unknown", "no HBM is in sight, as memory or as a cache"};
  }
  if (cached) {
    warn(node, "dram-memory-side-cache",
         "the memory is behind a DRAM cache (persistent memory in memory mode, 2LM): working sets near and above the "
         "cache's size "
         "run much slower, and vary from launch to launch");
    return {"none", "no MCDRAM or HBM; the memory-side caches are DRAM before slower memory"};
  }
  return {"none", "no MCDRAM or HBM was found"};
}

Mode xeon_cluster_mode(const Tree& tree, const CpuId& cpu, const Shown& shown) {
  if (!cpu.is_xeon()) return {"none", "this CPU has no cluster modes"};
  if (shown.cut) return {"unknown", "a cpuset hides a part of the machine"};
  const auto packages = tree.objects(HWLOC_OBJ_PACKAGE).size();
  if (packages > 0 && shown.clusters == 4 * packages) return {"snc4", "4 NUMA nodes with cores a package"};
  if (packages > 0 && shown.clusters == 2 * packages) return {"snc2", "2 NUMA nodes with cores a package"};
  if (cpu.is_xeon_max()) return {"unknown", "all-to-all, hemisphere and quadrant look the same from here"};
  return {"none", "the packages are not divided"};
}

}  // namespace

std::optional<KnlHwdata> read_knl_hwdata(const std::string& root) {
  // hwloc's own two places (its default is below the run folder it was configured with; Debian's is /run).
  for (const char* file : {"/run/hwloc/knl_memoryside_cache", "/var/run/hwloc/knl_memoryside_cache"}) {
    const auto read = read_text(root, file);
    if (!read.ok) continue;
    KnlHwdata hwdata;
    hwdata.file = file;
    for (const auto& line : lines(read.text)) {
      const auto parts = words(line);
      if (parts.size() == 2 && parts[0] == "memory_mode:") hwdata.memory_mode = parts[1];
      if (parts.size() == 2 && parts[0] == "cluster_mode:") hwdata.cluster_mode = parts[1];
    }
    return hwdata;
  }
  return std::nullopt;
}

void describe_modes(const Tree& tree, const CpuId& cpu, const std::optional<KnlHwdata>& hwdata, bool live, Node& node) {
  const Shown shown = look(tree, node);
  // Some exports have lost the CPU's model; MCDRAM and hwloc's modes exist on no other machine.
  const bool knl = cpu.is_knl() || shown.mcdram_nodes > 0 || has_info(tree.root(), "MemoryMode");
  if (!knl) {
    node.memory_mode = hbm_memory_mode(cpu, node);
    node.cluster_mode = xeon_cluster_mode(tree, cpu, shown);
    return;
  }
  const Stated stated = listen(tree, hwdata, live);
  node.memory_mode = knl_memory_mode(stated, shown, node);
  node.cluster_mode = knl_cluster_mode(stated, shown, node);
}

}  // namespace hbmark::topology
