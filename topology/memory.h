// The NUMA nodes of a topology: of which kind, which belong together, which is the fast one of a core.
//
// Internal to topology/. Not thread-safe (asks hwloc). Nothing fails: what cannot be known is "unknown" or absent.
#pragma once

#include "topology/hwloc_tree.h"
#include "topology/node.h"

namespace hbmark::topology {

// Fills node.numa (in hwloc's order), node.memory_side_caches and their warnings.
void describe_memory(const Tree& tree, const CpuId& cpu, Node& node);

// Fills node.fast_memory from node.numa; call it after describe_memory.
void find_fast_memory(const Tree& tree, Node& node);

bool is_fast_kind(const std::string& kind);  // mcdram, hbm

}  // namespace hbmark::topology
