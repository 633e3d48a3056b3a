// The modes of a Knights Landing or Knights Mill: what is stated, against what the topology shows.
//
// Stated modes are often absent, guessed or wrong. Sizes and shapes cannot lie: where they tell, they win over a statement
// they refute; where neither tells, the mode is unknown.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>

#include "topology/memory.h"
#include "topology/modes.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

// Kernels keep up to 0.3 GiB of the MCDRAM for themselves (16,109 MiB seen on a real SNC-4 one), and modes differ by 4.
constexpr std::uint64_t kSlackBytes = kGiB;

constexpr const char* kAskHwdata =
    "run `hwloc-dump-hwdata` once as root after each boot (package hwloc), then hbmark knows the modes";

struct MemoryMode {
  const char* stated;  // hwloc's word
  const char* value;
  std::uint64_t node_bytes;   // of the chip's MCDRAM as memory
  std::uint64_t cache_bytes;  // and as a cache
};
// Intel Xeon Phi Processor High Performance Programming, Knights Landing edition, chapter 3: hybrid gives a quarter or a
// half to the cache.
constexpr MemoryMode kMemoryModes[] = {{"Flat", "flat", 16 * kGiB, 0},
                                       {"Hybrid25", "hybrid25", 12 * kGiB, 4 * kGiB},
                                       {"Hybrid50", "hybrid50", 8 * kGiB, 8 * kGiB},
                                       {"Cache", "cache", 0, 16 * kGiB}};

const MemoryMode* memory_mode_of(const std::string& stated) {
  for (const auto& mode : kMemoryModes) {
    if (stated == mode.stated) return &mode;
  }
  return nullptr;
}

std::string cluster_word(const std::string& stated) {
  static const std::map<std::string, std::string> kWords = {
      {"All2All", "a2a"}, {"Hemisphere", "hemisphere"}, {"Quadrant", "quadrant"}, {"SNC2", "snc2"}, {"SNC4", "snc4"}};
  const auto found = kWords.find(stated);
  return found != kWords.end() ? found->second : "";
}

// What the topology itself shows, beside anybody's words.
struct Shown {
  std::size_t clusters = 0;
  std::size_t mcdram_nodes = 0;
  std::uint64_t mcdram_bytes = 0;
  std::uint64_t largest_mcdram_bytes = 0;
  std::uint64_t cache_bytes = 0;
  bool unknown_nodes = false;
  bool cut = false;           // a cpuset hides cores
  bool nodes_hidden = false;  // or memory
};

Shown look(const Tree& tree, const Node& node) {
  Shown shown;
  shown.clusters = count_clusters(node);
  shown.cut = tree.cut();
  shown.nodes_hidden = !tree.missing_numa_nodes().empty();
  for (const auto& numa : node.numa) {
    shown.unknown_nodes = shown.unknown_nodes || numa.kind == "unknown";
    if (numa.kind != "mcdram") continue;
    ++shown.mcdram_nodes;
    shown.mcdram_bytes += numa.size_bytes.value_or(0);
    shown.largest_mcdram_bytes = std::max(shown.largest_mcdram_bytes, numa.size_bytes.value_or(0));
  }
  for (const auto& cache : node.memory_side_caches) shown.cache_bytes += cache.size_bytes;
  return shown;
}

struct Stated {
  std::optional<std::string> memory;  // as stated, possibly nonsense; nullopt: nobody says
  std::optional<std::string> cluster;
  bool from_hwdata = false;
  bool perhaps_guessed = false;
  std::string memory_source;
  std::string cluster_source;
};

Stated listen(const Tree& tree, const std::optional<KnlHwdata>& hwdata, bool live) {
  Stated stated;
  if (hwdata && (!hwdata->memory_mode.empty() || !hwdata->cluster_mode.empty())) {  // version 1 had no modes in it
    if (!hwdata->memory_mode.empty()) stated.memory = hwdata->memory_mode;
    if (!hwdata->cluster_mode.empty()) stated.cluster = hwdata->cluster_mode;
    stated.from_hwdata = true;
    stated.memory_source = stated.cluster_source = "hwloc-dump-hwdata: " + hwdata->file;
    return stated;
  }
  if (has_info(tree.root(), "MemoryMode")) stated.memory = info(tree.root(), "MemoryMode");
  if (has_info(tree.root(), "ClusterMode")) stated.cluster = info(tree.root(), "ClusterMode");
  // Without the firmware's data hwloc guesses from the number of nodes, and never guesses these (hwloc topology-linux.c).
  stated.perhaps_guessed = stated.cluster != "All2All" && stated.cluster != "Hemisphere" && stated.memory != "Hybrid25" &&
                           stated.memory != "Hybrid50";
  const std::string how = !stated.perhaps_guessed ? ""
                          : live                  ? " (a guess from the number of NUMA nodes)"
                                                  : " (perhaps a guess from the number of NUMA nodes)";
  stated.memory_source = "hwloc info MemoryMode" + how;
  stated.cluster_source = "hwloc info ClusterMode" + how;
  return stated;
}

void warn(Node& node, const std::string& id, const std::string& text) {
  const bool said = std::any_of(node.warnings.begin(), node.warnings.end(),
                                [&](const Warning& warning) { return warning.id == id && warning.text == text; });
  if (!said) node.warnings.push_back({id, text});
}

std::string gib(std::uint64_t bytes) {
  return fmt::format("{:.1f}", static_cast<double>(bytes) / static_cast<double>(kGiB));
}

// The MCDRAM of the whole chip as far as it is addressable; scaled up by the cluster mode when only a part is in sight.
std::uint64_t whole_mcdram(const Shown& shown, const std::string& cluster) {
  if (!shown.cut) return shown.mcdram_bytes;
  const std::uint64_t parts = cluster == "snc4" ? 4 : cluster == "snc2" ? 2 : 1;
  return shown.largest_mcdram_bytes * parts;
}

// What sizes alone prove. All of the MCDRAM as memory is flat; a cache of firmware's size that makes up the rest is hybrid.
Mode proved_memory_mode(const Shown& shown) {
  if (shown.cut || shown.nodes_hidden) return {};
  for (const auto& mode : kMemoryModes) {
    if (shown.cache_bytes != mode.cache_bytes || shown.mcdram_bytes > mode.node_bytes) continue;
    if ((shown.mcdram_nodes > 0) != (mode.node_bytes > 0) || shown.mcdram_bytes + kSlackBytes < mode.node_bytes) continue;
    return {mode.value, shown.cache_bytes == 0
                            ? "all of the MCDRAM is addressable memory"
                            : fmt::format("of the MCDRAM {} GiB are addressable memory and {} GiB a cache",
                                          gib(shown.mcdram_bytes), gib(shown.cache_bytes))};
  }
  return {};
}

// Why the topology refutes the stated mode; "" when it does not.
std::string refuted(const MemoryMode& mode, const Shown& shown, const std::string& cluster) {
  const bool whole = !shown.cut && !shown.nodes_hidden;
  if (mode.node_bytes == 0 && shown.mcdram_nodes > 0) return "MCDRAM is addressable memory";
  if (mode.node_bytes > 0 && shown.mcdram_nodes == 0 && whole) return "no MCDRAM is addressable";
  if (whole_mcdram(shown, cluster) > mode.node_bytes) {
    return fmt::format("{} GiB of MCDRAM are addressable", gib(whole_mcdram(shown, cluster)));
  }
  if (mode.cache_bytes == 0 && shown.cache_bytes > 0) return "there is a memory-side cache";
  if (whole && shown.cache_bytes > 0 && shown.cache_bytes != mode.cache_bytes) {
    return fmt::format("the memory-side caches measure {} GiB", gib(shown.cache_bytes));
  }
  return "";
}

// The mode where a statement fails: what sizes prove, else unknown. Either way somebody is told.
Mode fall_back(Node& node, const Shown& shown, const std::string& id, const std::string& why) {
  Mode proved = proved_memory_mode(shown);
  if (proved.value != "unknown") {
    warn(node, id, fmt::format("{}: taken to be {}, because {}", why, proved.value, proved.source));
    proved.source += fmt::format(" ({})", why);
    return proved;
  }
  warn(node, id, fmt::format("the memory mode is unknown: {}; {}", why, kAskHwdata));
  return {"unknown", why};
}

// The stated mode where the topology does not refute it.
Mode check_memory_mode(const Stated& stated, const Shown& shown, Node& node) {
  const MemoryMode* mode = memory_mode_of(*stated.memory);
  if (mode == nullptr) {
    return fall_back(node, shown, "knl-modes-invalid",
                     fmt::format("{} is \"{}\", which is no mode", stated.memory_source, *stated.memory));
  }
  if (mode->node_bytes > 0 && shown.mcdram_nodes == 0 && shown.unknown_nodes) {
    return fall_back(
        node, shown, "knl-modes-unknown",
        fmt::format("{} says {}, yet which of the nodes is MCDRAM is not known", stated.memory_source, *stated.memory));
  }
  const std::string cluster = cluster_word(stated.cluster.value_or(""));
  if (const std::string why = refuted(*mode, shown, cluster); !why.empty()) {
    return fall_back(node, shown, "knl-modes-contradictory",
                     fmt::format("{} says {}, yet {}", stated.memory_source, *stated.memory, why));
  }
  const std::uint64_t whole = whole_mcdram(shown, cluster);
  if (shown.mcdram_nodes > 0 && whole + kSlackBytes < mode->node_bytes) {
    const std::string why =
        fmt::format("{} says {}, yet only {} of {} GiB of MCDRAM are addressable ({}offlined memory)", stated.memory_source,
                    *stated.memory, gib(whole), mode->node_bytes / kGiB, mode->cache_bytes == 0 ? "hybrid, or " : "");
    // Hybrid is never guessed, and the firmware's own word stands: memory can be offlined.
    if (!stated.from_hwdata && mode->cache_bytes == 0) return fall_back(node, shown, "knl-mcdram-incomplete", why);
    warn(node, "knl-mcdram-incomplete", why);
  }
  if (mode->node_bytes == 0 && stated.perhaps_guessed) {
    warn(node, "knl-modes-guessed",
         fmt::format("the memory mode may be another one with the MCDRAM offlined ({}); {}", stated.memory_source,
                     kAskHwdata));
  }
  return {mode->value, stated.memory_source};
}

Mode find_memory_mode(const Stated& stated, const Shown& shown, Node& node) {
  if (stated.memory) return check_memory_mode(stated, shown, node);
  Mode proved = proved_memory_mode(shown);
  if (proved.value != "unknown") {
    proved.source += " (no mode is stated)";
    return proved;
  }
  return fall_back(node, shown, "knl-modes-unknown",
                   shown.mcdram_nodes > 0 ? "no mode is stated and only a part of the MCDRAM is in sight"
                   : shown.unknown_nodes  ? "no mode is stated and which of the nodes is MCDRAM is not known"
                                          : "no mode is stated and no MCDRAM is in sight: it may be a cache, or offlined");
}

// 4 groups of cores with memory of their own are SNC-4, and so are 3 (a node can be offlined); 2 are SNC-2.
std::string proved_cluster_mode(const Shown& shown) {
  if (shown.cut) return "";
  return shown.clusters == 3 || shown.clusters == 4 ? "snc4" : shown.clusters == 2 ? "snc2" : "";
}

Mode untold_cluster_mode(const Stated& stated, const Shown& shown, Node& node) {
  const std::string why =
      shown.cut ? "a cpuset hides a part of the chip" : "all-to-all, hemisphere and quadrant look the same from here";
  const bool said = std::any_of(node.warnings.begin(), node.warnings.end(),
                                [](const Warning& warning) { return warning.id == "knl-modes-unknown"; });
  if (!said) warn(node, "knl-modes-unknown", fmt::format("the cluster mode is unknown: {}; {}", why, kAskHwdata));
  return {"unknown", stated.cluster
                         ? fmt::format("{} is \"{}\", which is no mode; {}", stated.cluster_source, *stated.cluster, why)
                         : why};
}

Mode find_cluster_mode(const Stated& stated, const Shown& shown, Node& node) {
  const std::string proved = proved_cluster_mode(shown);
  const std::string value = stated.cluster ? cluster_word(*stated.cluster) : "";
  const std::string shape = fmt::format("the cores form {} clusters with memory of their own", shown.clusters);
  if (value.empty()) {
    if (stated.cluster) {
      warn(node, "knl-modes-invalid", fmt::format("{} is \"{}\", which is no mode", stated.cluster_source, *stated.cluster));
    }
    return proved.empty() ? untold_cluster_mode(stated, shown, node) : Mode{proved, shape};
  }
  const bool one_part = value != "snc4" && value != "snc2";
  if (shown.cut || value == proved || (one_part && shown.clusters <= 1)) {
    if (value == "quadrant" && stated.perhaps_guessed) {
      warn(node, "knl-modes-guessed",
           fmt::format("the cluster mode may be all-to-all or hemisphere as well as quadrant ({}); {}",
                       stated.cluster_source, kAskHwdata));
    }
    return {value, stated.cluster_source};
  }
  const std::string why =
      fmt::format("{} says {}, yet the cores form {} cluster(s)", stated.cluster_source, *stated.cluster, shown.clusters);
  // Two of SNC-4's four may be offlined: then two clusters prove nothing against it.
  if (!proved.empty() && !(value == "snc4" && proved == "snc2")) {
    warn(node, "knl-modes-contradictory", fmt::format("{}: taken to be {}", why, proved));
    return {proved, fmt::format("{} ({})", shape, why)};
  }
  warn(node, "knl-modes-contradictory", "the cluster mode is unknown: " + why);
  return {"unknown", why};
}

void warn_about_hidden_memory(const Tree& tree, Node& node) {
  std::size_t with_fast = 0;
  for (const auto& fast : node.fast_memory) with_fast += fast.local_cpus.size();
  const bool refused = std::any_of(node.warnings.begin(), node.warnings.end(),
                                   [](const Warning& warning) { return warning.id == "fast-memory-not-allowed"; });
  if (refused || tree.missing_numa_nodes().empty() || with_fast >= node.pus.size()) return;
  warn(
      node, "fast-memory-not-allowed",
      "a cpuset hides some NUMA nodes of this machine, and cores in sight have no MCDRAM beside them: ask the scheduler for "
      "those nodes (cpuset.mems), or nothing can be placed there");
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

void describe_knl_modes(const Tree& tree, const std::optional<KnlHwdata>& hwdata, bool live, Node& node) {
  const Shown shown = look(tree, node);
  const Stated stated = listen(tree, hwdata, live);
  node.memory_mode = find_memory_mode(stated, shown, node);
  node.cluster_mode = find_cluster_mode(stated, shown, node);
  warn_about_hidden_memory(tree, node);
}

}  // namespace hbmark::topology
