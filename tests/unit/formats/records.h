// The fixed records that the golden files show: one of everything, one of nothing, one of trouble.
#pragma once

#include <vector>

#include "results/formats/format.h"

namespace hbmark::tests {

ResultRecord full_result();
ResultRecord empty_result();     // not run: nothing optional is there
ResultRecord troubled_result();  // NaN, infinities, quotes, line ends, NUL and bytes that are not UTF-8
RunRecord a_run();
std::vector<ExportRow> golden_rows();

}  // namespace hbmark::tests
