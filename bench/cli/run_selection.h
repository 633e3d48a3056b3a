// From the options of `hbmark run` to one list of problems, and the list as --dry-run shows it.
// Reads the named files only. One thread.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "bench/cli/commands.h"
#include "bench/cli/run_options.h"
#include "bench/problems/suite.h"
#include "bench/run/plan.h"

namespace hbmark::cli {

// The suite, then the files, then the single problems; a problem that comes again is folded into its first occurrence.
// `notes` gets what the user should know: how many repeats there were, what was assumed of the node.
Result<Suite> select_problems(const RunWishes& wishes, const std::filesystem::path& share_dir, const topology::Node& node,
                              std::vector<std::string>& notes);

// "248 rows, 243 distinct problems; repeats run once"; empty when there are no repeats.
std::string repeats_note(const Suite& suite);

// `facts`: what the options come to on this node, for the text.
std::string render_plan(const Plan& plan, const std::map<std::string, std::string>& facts, OutputFormat format,
                        const Style& style);

}  // namespace hbmark::cli
