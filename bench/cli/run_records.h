// What a run leaves in the store beside its results: the node, the environment, the run itself. Reads /proc, /sys and /etc;
// changes nothing. One thread.
#pragma once

#include <map>
#include <string>

#include "bench/cli/commands.h"
#include "bench/run/plan.h"
#include "results/records.h"
#include "topology/node.h"
#include "topology/placement.h"

namespace hbmark::cli {

NodeRecord node_record(const topology::Node& node);

// The uuid node_record gives the machine this program runs on, without describing it.
std::string this_node_uuid();

// Kernel, C library, compiler, governor, turbo, huge pages, SMT, microcode, versions, and what OpenMP is told.
EnvironmentRecord environment_record(const topology::Placement& placement);

RunRecord run_record(const Plan& plan, const NodeRecord& node, const EnvironmentRecord& environment, const Context& context);

// environment_record with what the run's options came to on this node (name -> text).
EnvironmentRecord environment_with(const topology::Placement& placement, const std::map<std::string, std::string>& facts);

}  // namespace hbmark::cli
