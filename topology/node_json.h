// A Node as the `hbmark.node/1` line: one JSON object without line breaks, sizes in bytes, absent is null.
//
// Only what stays the same from call to call: the free memory of the moment is not in it. Thread-safe; never fails (bytes
// that are not UTF-8 are replaced).
#pragma once

#include <string>

#include "topology/devices.h"
#include "topology/node.h"

namespace hbmark::topology {

// Members beside those of DESIGN.md section 8: schema hostname identity{uuid,source,weak} allowed_pus cpu_quota
// memory_limit_bytes this_system cgroup_cpus cgroup_memory_nodes caches[{level,type,size_bytes,count,shared_by_pus}]
// cpus_without_fast_memory (of those we may use), and `kind_source` and `allowed` in numa[]. packages, cores and pus are
// counts.
std::string node_to_json_line(const Node& node);

// With what the device table knows of it: `nominal` ({device, peak_flop_per_s{type}, fast_bytes_per_s, ddr_bytes_per_s,
// fast_measured_bytes_per_s, ddr_measured_bytes_per_s, source} of all packages together, or null) on the line and in gpus[].
std::string node_to_json_line(const Node& node, const DeviceTable& devices);

}  // namespace hbmark::topology
