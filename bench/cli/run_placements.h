// Where the threads and the memory of a run go on this node: of each placement that was asked for, and of its replicas.
// Not thread-safe (binds this thread for a moment, to see whether it may). Warnings go to stderr.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/commands.h"
#include "bench/run/plan.h"
#include "results/base/result.h"
#include "topology/node.h"
#include "topology/placement.h"

namespace hbmark::cli {

// The placements of a run, and why this node cannot have some of them (empty: it can).
struct Placements {
  std::vector<topology::Placement> all;
  std::vector<std::string> refused;
};

// Memory that cannot be had is the outcome of its cases; threads that cannot be, and words that are wrong, end the run.
Result<Placements> place_run(const topology::Node& node, const Plan& wanted, const Context& context);

}  // namespace hbmark::cli
