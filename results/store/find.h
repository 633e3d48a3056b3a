// Which run a person meant. Pure, thread-safe. Internal to results/store.
#pragma once

#include <string>
#include <vector>

#include "results/base/result.h"
#include "results/records.h"

namespace hbmark::store {

// `runs` newest first; `store_name` for the error texts. See Store::find_run.
Result<RunRecord> find_run(const std::vector<RunRecord>& runs, const std::string& name, const std::string& store_name);

}  // namespace hbmark::store
