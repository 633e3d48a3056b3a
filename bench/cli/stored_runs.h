// Opening the store as the options say, and reading one run with all that is shown of it. One thread.
#pragma once

#include <string>

#include "bench/cli/commands.h"
#include "bench/cli/render_results.h"
#include "results/store/store.h"

namespace hbmark::cli {

// kWrite makes the folder of the default place; a folder named by the user has to exist.
Result<Store> open_store(const Context& context, OpenMode mode);

// "running" of a run that no process of this machine carries out any more (it was killed) is "interrupted"; of another
// machine's run nothing can be told, and what is stored stands.
std::string state_of(const Store& store, const RunRecord& run);

// With the run's state as state_of tells it.
Result<RunView> load_view(const Store& store, const std::string& run_name);

// The run in another format than text: result lines, or the CSV of the formats' table.
Result<std::string> results_as(OutputFormat format, const RunView& view);

}  // namespace hbmark::cli
