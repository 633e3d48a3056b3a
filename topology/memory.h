// The NUMA nodes of a topology: of which kind, which belong together, which is the fast one of a core.
//
// Internal to topology/. Not thread-safe (asks hwloc). Nothing fails: what cannot be known is "unknown" or absent.
#pragma once

#include <string>
#include <vector>

#include "topology/hwloc_tree.h"
#include "topology/node.h"

namespace hbmark::topology {

// Every Xeon Phi x200 has 16 GiB of MCDRAM; every Xeon Max package 64 GiB of HBM2e (Intel's product specifications).
inline constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;
inline constexpr std::uint64_t kMcdramBytes = 16 * kGiB;
inline constexpr std::uint64_t kXeonMaxHbmBytes = 64 * kGiB;

// Fills node.numa (in hwloc's order), node.memory_side_caches and their warnings.
void describe_memory(const Tree& tree, const CpuId& cpu, Node& node);

// Fills node.fast_memory from node.numa; call it after describe_memory.
void find_fast_memory(const Tree& tree, Node& node);

bool is_fast_kind(const std::string& kind);  // mcdram, hbm

// One NUMA node while its kind is sought.
struct MemoryEntry {
  hwloc_obj_t object = nullptr;
  std::string kind;  // "" while undecided
  std::string source;
};

std::vector<MemoryEntry> find_kinds(const Tree& tree, const CpuId& cpu);

}  // namespace hbmark::topology
