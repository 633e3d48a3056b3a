// hwloc behind RAII: loading a topology, and the small questions the rest of this folder asks of it.
//
// Internal to topology/ (it shows hwloc's types; nothing outside this folder may include it). A Tree owns its topology and
// every hwloc_obj_t got from it; objects die with it. Not thread-safe. Nothing here throws or prints.
#pragma once

#include <hwloc.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/base/result.h"

namespace hbmark::topology {

class Tree {
 public:
  // xml_file empty: this machine. Disallowed objects are kept, so that a cgroup's part of a chip does not look like a whole
  // one.
  static Result<Tree> load(const std::string& xml_file, bool with_io);

  Tree(Tree&& other) noexcept : topology_(other.topology_) { other.topology_ = nullptr; }
  Tree& operator=(Tree&& other) noexcept;
  Tree(const Tree&) = delete;
  Tree& operator=(const Tree&) = delete;
  ~Tree();

  hwloc_topology_t get() const { return topology_; }
  hwloc_obj_t root() const;
  std::vector<hwloc_obj_t> objects(hwloc_obj_type_t type) const;  // in logical order
  bool this_system() const;
  // True when the topology holds fewer PUs than the machine has: a cpuset cut the rest away.
  bool cut() const;
  // NUMA nodes of the machine that the topology does not hold: cut away by a cpuset, or without any memory.
  std::vector<int> missing_numa_nodes() const;

 private:
  explicit Tree(hwloc_topology_t topology) : topology_(topology) {}
  hwloc_topology_t topology_ = nullptr;
};

class Bitmap {  // owns one hwloc bitmap
 public:
  Bitmap() : bitmap_(hwloc_bitmap_alloc()) {}
  Bitmap(const Bitmap&) = delete;
  Bitmap& operator=(const Bitmap&) = delete;
  ~Bitmap() { hwloc_bitmap_free(bitmap_); }
  hwloc_bitmap_t get() const { return bitmap_; }

 private:
  hwloc_bitmap_t bitmap_;
};

std::vector<int> indexes(hwloc_const_bitmap_t bitmap);   // ascending; null or infinite: empty
bool empty(hwloc_const_bitmap_t bitmap);                 // null counts as empty
std::string info(hwloc_obj_t object, const char* name);  // "" when absent
bool has_info(hwloc_obj_t object, const char* name);
std::string subtype(hwloc_obj_t object);  // "" when absent

// What the CPU says it is. Absent facts are "" and -1 (Arm and POWER have no such numbers).
struct CpuId {
  std::string vendor;  // "GenuineIntel"
  std::string model;   // "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz", trimmed
  int family = -1;
  int number = -1;            // CPUID model, extended
  std::string implementer;    // Arm's MIDR: "0x46"
  std::string part;           // "0x001"
  std::string architecture;   // of the machine: "x86_64", "aarch64"; "" where the file does not say
  bool shows_mcdram = false;  // hwloc shows MCDRAM, its cache or a mode of it: no other machine has those

  // Family 6, models 87 (Knights Landing) and 133 (Knights Mill): Linux arch/x86/include/asm/intel-family.h. Some exports
  // have lost the numbers, or the name with them.
  bool is_knl() const;
  // Sapphire Rapids with HBM shares its model number with the plain one; only the name tells them apart.
  bool is_xeon_max() const;
  bool is_xeon() const;
  // Family 25, models 144 to 159 (Linux drivers/edac/amd64_edac.c): CPU and GPU share the HBM.
  bool is_mi300() const;
  // Fujitsu's only part in arch/arm64/include/asm/cputype.h: 32 GiB of HBM2 and nothing else.
  bool is_a64fx() const;
  bool is_power() const;
  // Nothing tells it from a processor with HBM: no name on x86, or an engineering sample's, and no number that could.
  bool is_nameless() const;
};
CpuId identify_cpu(const Tree& tree);

// NUMA nodes whose locality covers this PU, in hwloc's order.
std::vector<hwloc_obj_t> local_numa_nodes(const Tree& tree, hwloc_obj_t pu);
// hwloc's Bandwidth attribute (MiB/s) of a node as seen from this PU; absent on most machines.
std::optional<std::uint64_t> bandwidth(const Tree& tree, hwloc_obj_t numa, hwloc_obj_t pu);
// The firmware's relative distance (ACPI SLIT) between two NUMA nodes.
std::optional<std::uint64_t> distance(const Tree& tree, hwloc_obj_t from, hwloc_obj_t to);

}  // namespace hbmark::topology
