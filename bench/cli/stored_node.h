// The machine of a stored run, read back from its hbmark.node/1 line.
//
// Pure, thread-safe. What the line does not tell is left as topology::Node has it; of cores and PUs only the counts are
// told.
#pragma once

#include <string>

#include "results/records.h"
#include "topology/node.h"

namespace hbmark::cli {

topology::Node stored_node(const NodeRecord& record);

// What a reboot has changed about the machine's modes since, in words: "the node's memory mode was flat then, and is cache
// now"; "" when nothing, or when `then` does not tell.
std::string mode_change(const topology::Node& then, const topology::Node& now);

}  // namespace hbmark::cli
