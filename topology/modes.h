// Memory mode and cluster mode, each with how it is known, or why it is not.
//
// Internal to topology/. Not thread-safe (asks hwloc). A mode is never guessed: where facts
// contradict each other, what sizes and shapes prove, else "unknown".
#pragma once

#include <optional>
#include <string>

#include "topology/hwloc_tree.h"
#include "topology/node.h"

namespace hbmark::topology {

// What hwloc-dump-hwdata wrote (as root, from SMBIOS) to /run/hwloc/knl_memoryside_cache: the only place of the true modes.
struct KnlHwdata {
  std::string file;          // where it was found
  std::string memory_mode;   // the file's words: "Cache"
  std::string cluster_mode;  // "Quadrant"
};
std::optional<KnlHwdata> read_knl_hwdata(const std::string& root);

// Fills node.memory_mode, node.cluster_mode and their warnings; node.numa and node.memory_side_caches must be there.
// hwdata: of the described machine; nullopt when it has none or is only a file. live: the machine itself could be asked.
void describe_modes(const Tree& tree, const CpuId& cpu, const std::optional<KnlHwdata>& hwdata, bool live, Node& node);

// The part of it for Knights Landing and Knights Mill.
void describe_knl_modes(const Tree& tree, const std::optional<KnlHwdata>& hwdata, bool live, Node& node);

// Groups of CPUs with memory of their own.
std::size_t count_clusters(const Node& node);

}  // namespace hbmark::topology
