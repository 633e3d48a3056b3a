// What stands below a table of results: node, library, threads, placement, what is missing and why, and the cost of it all.
//
// Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>

#include "bench/cli/render_results.h"

namespace hbmark::cli {

std::string render_footer(const RunView& view, const Style& style, bool verbose);

// What a reader may miss among the measured results (ceilings, intervals, launches), and why it is missing; "" for nothing.
std::string missing_text(const std::vector<ResultRecord>& results);

// "2026-11-30T20:41:11Z" -> "2026-11-30 20:41 UTC"; other text stays as it is.
std::string when(std::string_view rfc3339);

// Lines of "name   text", the text wrapped and aligned. Entries without text are left out.
std::string render_entries(const std::vector<std::pair<std::string, std::string>>& entries, const Style& style);

}  // namespace hbmark::cli
