// GPUs as PCI devices, and the NUMA node nearest to each. No driver is asked.
//
// Internal to topology/. Not thread-safe (asks hwloc); needs a tree loaded with I/O, else finds none.
#pragma once

#include <vector>

#include "topology/hwloc_tree.h"
#include "topology/node.h"

namespace hbmark::topology {

// node.numa must be there. In PCI order, which is not the order a driver numbers them in.
std::vector<Gpu> find_gpus(const Tree& tree, const Node& node);

}  // namespace hbmark::topology
