// Parts of a node for replicas: its cores cut along its own tree, each part placed like a node of its own.
//
// Pure, thread-safe, plain data. Parts are disjoint, hold every core that has an allowed PU, and have the sizes that are
// there: four quadrants of 68 cores are 18, 18, 16 and 16. Errors (usage): more parts than cores; names the largest number.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "results/base/result.h"
#include "topology/node.h"
#include "topology/placement.h"

namespace hbmark::topology {

struct Partition {
  std::vector<std::vector<std::size_t>> parts;  // indexes in Node::cores, ascending, parts in that order
  std::string along;                            // what they were cut along: "NUMA nodes", "tiles", "cores"
  std::vector<Warning> warnings;                // uneven-replicas, replicas-across-numa
};

Result<Partition> partition(const Node& node, int parts);

// The node as a replica sees it: the cores of one part, and no other PU allowed.
Node part_of(const Node& node, const std::vector<std::size_t>& cores);

// The wish for each part by itself (its number of threads is of each replica). The whole has the threads of all, in the
// order of the parts, and its memory is left to the caller, as that of the parts is. Errors: partition's, plan_threads'.
Result<Placement> plan_replicas(const Node& node, int replicas, const ThreadWish& wish);

}  // namespace hbmark::topology
