// The machine of a stored run, read back from its hbmark.node/1 line.
//
// Pure, thread-safe. What the line does not tell is left as topology::Node has it; of cores and PUs only the counts are
// told.
#pragma once

#include "results/records.h"
#include "topology/node.h"

namespace hbmark::cli {

topology::Node stored_node(const NodeRecord& record);

}  // namespace hbmark::cli
