// Drawings of a run: its roofline and its sweeps, with what they show in words. Pure, thread-safe; text fits style.width.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/render_verdict.h"
#include "topology/node.h"

namespace hbmark::cli {

std::string render_plots(const RunView& view, const topology::Node& node, const Style& style);

// The levels of every memory sweep of the run.
std::vector<MemoryLevel> memory_levels(const RunView& view, const topology::Node& node, const Style& style);

}  // namespace hbmark::cli
