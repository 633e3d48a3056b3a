// What this machine is: packages, cores, PUs, caches, NUMA nodes with their kind, modes and how each fact is known.
//
// hwloc stays behind this header. Describing never measures and never changes the machine. Not thread-safe: call from one
// thread. Every size in bytes. Unknown is nullopt or the word "unknown", never 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/base/result.h"
#include "topology/identity.h"

namespace hbmark::topology {

struct Cache {
  int level = 0;
  std::string type;  // "data", "unified"
  std::uint64_t size_bytes = 0;
  int count = 0;  // caches of this level and size on the node
  int shared_by_pus = 0;
};

struct NumaNode {
  int os_index = 0;
  std::string kind;  // ddr mcdram hbm nvm gpu unknown
  std::optional<std::uint64_t> size_bytes;
  std::vector<int> cpus;  // PU os indexes local to it; empty: CPU-less
  // The DDR node of the same cores; of a DDR node the fast one there, else the NVM.
  std::optional<int> partner;
  bool allowed = true;
  std::string kind_source = {};  // how the kind is known, or why it is not
};

struct MemorySideCache {
  std::uint64_t size_bytes = 0;
  int os_index = 0;  // of the NUMA node behind it
};

struct Gpu {
  std::string name;
  std::string pci;  // "0000:3b:00.0"
  std::optional<int> nearest_numa;
};

struct Mode {
  std::string value = "unknown";  // see DESIGN.md section 2
  std::string source;             // how it is known, or why it is not
};

struct Warning {
  std::string id;    // stable word: "knl-modes-unknown"
  std::string text;  // for a person
};

struct FastMemory {
  int os_index = 0;
  std::vector<int> local_cpus;
};

struct Core {
  std::vector<int> pus;  // os indexes, in hwloc's order
  int package = 0;
  int numa = -1;  // nearest node with CPUs, -1 when unknown
  int tile = -1;  // cores that share an L2 have the same; -1 when unknown
};

struct Node {
  std::string hostname;
  Identity identity;  // the same over reboots and changes of mode
  std::string cpu_model;
  std::string cpu_vendor;         // "GenuineIntel"; "" where the CPU does not say
  std::optional<int> cpu_family;  // CPUID family and model: 6 and 87 are Knights Landing, 6 and 133 Knights Mill
  std::optional<int> cpu_model_number;
  int packages = 0;
  std::vector<Core> cores;                              // in the topology, in logical order
  std::vector<int> pus;                                 // in the topology
  std::vector<int> allowed_pus;                         // what this process may use: affinity and cpuset
  std::optional<double> cpu_quota;                      // CPUs' worth of time the cgroup gives; absent: no limit
  std::optional<std::uint64_t> memory_limit_bytes;      // of the cgroup
  std::optional<std::string> cgroup_cpus;               // its cpuset as the kernel writes it: "0-3,8"
  std::optional<std::string> cgroup_memory_nodes;       // "0-1"
  std::optional<std::uint64_t> memory_available_bytes;  // MemAvailable, not above the cgroup's room
  std::vector<Cache> caches;
  std::vector<NumaNode> numa;
  std::vector<FastMemory> fast_memory;
  std::vector<MemorySideCache> memory_side_caches;
  Mode memory_mode;
  Mode cluster_mode;
  std::vector<Gpu> gpus;
  std::vector<Warning> warnings;
  bool this_system = true;  // false: read from a file; placement is refused
};

struct DescribeOptions {
  std::string xml_file;  // empty: this machine
  // "" is "/": where /proc, /sys and /run are read from (tests). hwloc itself looks at the machine or at xml_file all the
  // same. With xml_file and no root, facts that only the machine's own files tell (quota, limits, MemAvailable) are absent.
  std::string sysfs_root;
  bool with_io = true;  // PCI devices; costs time
};

// Errors: the XML file is absent or not hwloc's; hwloc cannot load.
Result<Node> describe_node(const DescribeOptions& options);

}  // namespace hbmark::topology
