// A comparison as a person reads it, as JSON Lines and as CSV. Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/comparison.h"
#include "bench/cli/text.h"

namespace hbmark::cli {

// Fits style.width but for whole problem strings (`verbose`) and lines for a shell.
std::string render_comparisons(const std::vector<Comparison>& all, double margin, const Style& style, bool verbose);

// hbmark.comparison/1 a problem, hbmark.comparison_summary/1 a comparison.
std::string comparisons_as_json(const std::vector<Comparison>& all, double margin);

// A row a problem.
std::string comparisons_as_csv(const std::vector<Comparison>& all, double margin);

}  // namespace hbmark::cli
