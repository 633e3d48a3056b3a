// What the control group lets this process have: CPU time and memory, versions 1 and 2, every level up to the root.
//
// Internal to topology/. Thread-safe, owns nothing. What cannot be read counts as "no limit": a missing cgroup is no error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmark::topology {

struct CgroupLimits {
  bool visible = false;             // a cgroup file system could be looked into; false: whether there are limits is unknown
  std::optional<double> cpu_quota;  // CPUs' worth of time, the tightest of all levels
  std::optional<std::uint64_t> memory_limit_bytes;  // the tightest of all levels
  std::optional<std::uint64_t> memory_room_bytes;  // what is left below the tightest, page cache that can go counted as free
  std::optional<std::string> cpus;                 // the cpuset in force, as the kernel writes it: "0-3,8"
  std::optional<std::string> memory_nodes;         // NUMA nodes it may use: "0-1"
};

CgroupLimits read_cgroup(const std::string& root);

}  // namespace hbmark::topology
