// CPU time as the kernel counts it: what of a span of time others used, and what a hypervisor took.
//
// Internal to topology/. Thread-safe, owns nothing. What cannot be read is nullopt.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace hbmark::topology {

struct CpuTimes {           // ticks of all CPUs since boot, from the first line of /proc/stat
  std::uint64_t busy = 0;   // user, nice, system, irq, softirq (guest time is in user)
  std::uint64_t idle = 0;   // idle and iowait
  std::uint64_t steal = 0;  // ready to run, and the hypervisor ran something else
  int cpus = 0;             // CPUs online
  std::uint64_t total() const { return busy + idle + steal; }
};

std::optional<CpuTimes> read_cpu_times(const std::string& root);
std::optional<std::uint64_t> own_ticks(const std::string& root);  // of this process, all its threads

struct Load {
  double others_cpus = 0;  // CPUs' worth of time that others used
  double steal_share = 0;  // of all the time
};

// nullopt when no time passed between the two, or the counters went backwards.
std::optional<Load> load_between(const CpuTimes& before, const CpuTimes& after, std::uint64_t own);

}  // namespace hbmark::topology
