// The single checks of the doctor: each reads its files under `root` and returns one finding.
//
// Internal to topology/. Thread-safe, owns nothing, never fails: a file that is absent is a note that says so.
#pragma once

#include <optional>
#include <string>

#include "topology/doctor.h"

namespace hbmark::topology {

Finding check_governor(const std::string& root);
Finding check_turbo(const std::string& root);
Finding check_smt(const std::string& root);
Finding check_thp(const std::string& root);
Finding check_numa_balancing(const std::string& root);
Finding check_swap(const std::string& root);
Finding check_clock_source(const std::string& root);
Finding check_container(const std::string& root);
Finding check_virtual_machine(const std::string& root);
Finding check_cgroup_quota(const std::string& root, const Node& node);
Finding check_cgroup_memory(const std::string& root);
Finding check_knl_hwdata(const std::string& root);
Finding check_offline_cpus(const std::string& root);
Finding check_energy(const std::string& root);
std::optional<Finding> check_hybrid(
    const std::string& root);  // nullopt: all cores are of one kind, or the kernel does not tell

// Other load and steal share the measured window; window_s 0: only what has been counted since boot.
void check_load(const std::string& root, double window_s, std::vector<Finding>& findings);

}  // namespace hbmark::topology
