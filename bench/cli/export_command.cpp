// hbmark export [RUN]
#include <algorithm>
#include <sstream>

#include "bench/cli/commands.h"
#include "bench/cli/report.h"
#include "bench/cli/stored_runs.h"
#include "results/formats/format.h"

namespace hbmark::cli {
namespace {

Result<const Format*> find_format(const Context& context) {
  const std::string_view name = context.format == OutputFormat::kCsv      ? "csv"
                                : context.format == OutputFormat::kGbench ? "gbench"
                                                                          : "json";
  const auto table = formats();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Format& format) { return format.name == name; });
  if (row == table.end()) {
    return fail(ErrorKind::kInternal, "--format " + std::string(name), "this build has no such writer",
                "use another format");
  }
  return &*row;
}

Result<int> export_run(const Context& context, const std::string& run_name) {
  auto format = find_format(context);
  if (!format) return tl::make_unexpected(format.error());
  auto store = open_store(context, OpenMode::kRead);
  if (!store) return tl::make_unexpected(store.error());
  auto run = store->find_run(run_name);
  if (!run) return tl::make_unexpected(run.error());
  auto results = store->results(run->uuid);
  if (!results) return tl::make_unexpected(results.error());
  std::vector<ExportRow> rows;
  for (ResultRecord& result : *results) {
    auto samples = store->samples(result.uuid);
    if (!samples) return tl::make_unexpected(samples.error());
    rows.push_back({*run, std::move(result), std::move(*samples)});
  }
  std::ostringstream out;
  (*format)->write(out, rows);
  if (auto written = context.emit(out.str()); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

Action declare_export(CLI::App& app) {
  auto run_name = std::make_shared<std::string>("last");
  add_positional(app, "RUN", *run_name, "Run to export: its id, the beginning of it, a label, or last (default)");
  return [run_name](const Context& context) { return export_run(context, *run_name); };
}

}  // namespace hbmark::cli
