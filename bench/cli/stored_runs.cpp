#include "bench/cli/stored_runs.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>
#include <system_error>

#include "bench/cli/run_records.h"
#include "bench/run/run_lock.h"
#include "results/formats/format.h"

namespace hbmark::cli {

Result<Store> open_store(const Context& context, OpenMode mode) {
  if (context.db_fault) return tl::make_unexpected(*context.db_fault);
  if (mode == OpenMode::kWrite && context.db_is_default) {
    std::error_code failed;
    std::filesystem::create_directories(context.db.parent_path(), failed);
    if (failed) {
      return environment_error("cannot make the folder of the store " + context.db.parent_path().string(), failed.message(),
                               "name another place: --db results.db");
    }
  }
  std::error_code ignored;
  if (mode == OpenMode::kRead && context.db_is_default && !std::filesystem::exists(context.db, ignored)) {
    return environment_error("no store at " + context.db.string(), "nothing was measured yet",
                             "measure first: hbmark run; or name another store: --db FILE");
  }
  return Store::open(context.db, mode);
}

std::string state_of(const Store& store, const RunRecord& run) {
  if (run.state != "running") return run.state;
  // First: without a descriptor it cannot be told either whether this is the node it runs on.
  const auto held = RunLock::is_held(run.uuid);
  if (!held) return "unknown";
  if (*held || run.node_uuid != this_node_uuid()) return run.state;
  // It may have come to its end since `run` was read.
  const auto again = store.find_run(run.uuid);
  return again && again->state != "running" ? again->state : "interrupted";
}

Result<RunView> load_view(const Store& store, const std::string& run_name) {
  RunView view;
  auto run = store.find_run(run_name);
  if (!run) return tl::make_unexpected(run.error());
  view.run = std::move(*run);
  view.run.state = state_of(store, view.run);
  auto results = store.results(view.run.uuid);
  if (!results) return tl::make_unexpected(results.error());
  view.results = std::move(*results);
  // What is beside the results is told when it is there; a run without it is still worth showing.
  if (auto node = store.node(view.run.node_uuid)) view.node = std::move(*node);
  if (auto environment = store.environment(view.run.environment_uuid)) view.environment = std::move(*environment);
  std::set<std::string> seen;
  for (const ResultRecord& result : view.results) {
    if (!seen.insert(result.configuration_uuid).second) continue;
    if (auto configuration = store.configuration(result.configuration_uuid)) {
      view.configurations.push_back(std::move(*configuration));
    }
  }
  return view;
}

Result<std::string> results_as(OutputFormat format, const RunView& view) {
  std::ostringstream out;
  if (format == OutputFormat::kJson) {
    for (const ResultRecord& result : view.results) out << result_to_json(result).dump() << '\n';
    return out.str();
  }
  const auto table = formats();
  const auto csv = std::find_if(table.begin(), table.end(), [](const Format& row) { return row.name == "csv"; });
  if (csv == table.end())
    return fail(ErrorKind::kInternal, "--format csv", "this build has no CSV writer", "use --format json");
  std::vector<ExportRow> rows;
  for (const ResultRecord& result : view.results) rows.push_back({view.run, result, {}});
  csv->write(out, rows);
  return out.str();
}

}  // namespace hbmark::cli
