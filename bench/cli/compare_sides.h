// The sides of a comparison, read from the store. One thread. Errors are the store's, and usage where a name is unknown.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/comparison.h"
#include "results/store/store.h"

namespace hbmark::cli {

// Keeps the results of problems that any of the filters matches (as `run --filter` does); no filter keeps all.
using Filters = std::vector<std::string>;

Result<Side> side_of_run(const Store& store, const RunRecord& run, const Filters& filters);

// Every result of the store, apart by its value of `field`: the first measured value first. Modes come with their memory:
// "flat/mcdram". Errors: nothing_ran when there is but one value, with what it is.
Result<std::vector<Side>> sides_by(const Store& store, const std::string& field, const Filters& filters);

}  // namespace hbmark::cli
