// Rows as CSV (RFC 4180) for commands that list things; results have their own writer in results/formats. Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

namespace hbmark::cli {

std::string csv_row(const std::vector<std::string>& fields);

}  // namespace hbmark::cli
