// hbmark import FILE [--from gbench]
#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/cli/commands.h"
#include "bench/cli/report.h"
#include "bench/cli/stored_runs.h"
#include "bench/cli/values.h"
#include "results/base/input_file.h"
#include "results/formats/gbench.h"
#include "results/stats/summary.h"
#include "results/store/store.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

constexpr std::size_t kMaxBytes = std::size_t{1} << 30;  // far beyond any such file, and it is held in memory
constexpr std::size_t kMaxLog = 4096;                    // ResultRecord::log

struct ImportWishes {
  std::string file, from, label;
};

bool is_stdin(const std::string& name) { return name == "-" || name == "/dev/stdin"; }

Result<std::string> read_file(const std::string& name) {
  const std::string what = "cannot import " + name;
  if (is_stdin(name)) return read_descriptor(STDIN_FILENO, what, kMaxBytes);
  return read_input_file(name, what, kMaxBytes, "write it into a file, or send it through standard input: hbmark import -");
}

NodeRecord node_of(const GbenchFile& file) {
  json caches = json::array();
  for (const auto& [level, cache] : file.caches) {
    caches.push_back({{"level", level}, {"type", cache.first}, {"size_bytes", cache.second}, {"count", nullptr}});
  }
  NodeRecord node;
  node.hostname = file.host_name.empty() ? "unknown" : file.host_name;
  node.uuid = digest_uuid("hbmark imported node " + node.hostname);
  node.description = json{
      {"schema", "hbmark.node/1"},
      {"hostname", node.hostname},
      {"cpu_model", nullptr},
      {"pus", file.cpus ? json(*file.cpus) : json()},
      {"caches", caches}}.dump(-1, ' ', false, json::error_handler_t::replace);
  return node;
}

EnvironmentRecord environment_of(const GbenchFile& file, const std::string& name) {
  EnvironmentRecord environment;
  for (const auto& [member, value] : file.context) environment.values["gbench_" + member] = value;
  environment.values["imported_from"] = name;
  environment.values["imported_format"] = "Google Benchmark JSON";
  std::string all;
  for (const auto& [member, value] : environment.values) all += fmt::format("{}={}\n", member, value);
  environment.uuid = digest_uuid("hbmark environment\n" + all);
  return environment;
}

ResultRecord result_of(const GbenchCase& each, std::int64_t index, const RunRecord& run, const GbenchFile& file) {
  ResultRecord result;
  result.uuid = digest_uuid(fmt::format("hbmark imported result {} {}", run.uuid, index));
  result.run_uuid = run.uuid;
  result.case_index = index;
  result.problem = each.name;
  result.kernel = "imported";
  result.backend = "gbench";
  result.device = "unknown";
  result.threads = each.threads;
  result.outcome = each.outcome;
  result.reason = each.reason;
  result.flags = {"imported"};
  if (!each.times_s.empty())
    result.time = stats::time_summary(each.times_s, stats::median_interval(each.times_s), each.iterations);
  const auto version = file.context.find("library_version");
  result.library = version == file.context.end() ? "Google Benchmark" : "Google Benchmark " + version->second;
  result.log = fmt::format("{}", fmt::join(each.notes, "; "));
  if (result.log.size() > kMaxLog) result.log = result.log.substr(0, kMaxLog - 3) + "...";
  result.finished_at = run.started_at;
  return result;
}

RunRecord run_of(const GbenchFile& file, const std::string& text, const ImportWishes& wishes, const Context& context) {
  RunRecord run;
  // The same file again is the same run.
  run.uuid = digest_uuid("hbmark import gbench\n" + text);
  run.label = !wishes.label.empty()   ? wishes.label
              : is_stdin(wishes.file) ? "stdin"
                                      : std::filesystem::path(wishes.file).filename().string();
  run.command = fmt::format("{}", fmt::join(context.command_line, " "));
  run.hbmark_version = HBMARK_VERSION;
  run.started_at = file.date.value_or(utc_now());
  return run;
}

// Everything that is not stored yet, in one transaction: an import that is cut short leaves nothing.
Result<std::int64_t> save(Store& store, const GbenchFile& file, const std::string& name, RunRecord run) {
  std::set<std::int64_t> stored;
  if (const auto before = store.find_run(run.uuid)) {
    run = *before;
    auto known = store.results(run.uuid);
    if (!known) return tl::make_unexpected(known.error());
    for (const ResultRecord& result : *known) stored.insert(result.case_index);
  }
  WholeRun whole;
  whole.node = node_of(file);
  whole.environment = environment_of(file, name);
  run.node_uuid = whole.node.uuid;
  run.environment_uuid = whole.environment.uuid;
  run.state = "finished";
  run.finished_at = run.started_at;
  for (std::size_t i = 0; i < file.cases.size(); ++i) {
    const auto index = static_cast<std::int64_t>(i);
    if (stored.count(index) > 0) continue;
    ResultRecord result = result_of(file.cases[i], index, run, file);
    std::vector<SampleRecord> samples;
    for (std::size_t k = 0; k < file.cases[i].times_s.size(); ++k) {
      samples.push_back({result.uuid, 0, static_cast<std::int64_t>(k), file.cases[i].times_s[k]});
    }
    whole.results.emplace_back(std::move(result), std::move(samples));
  }
  whole.run = std::move(run);
  if (auto done = store.save_whole_run(whole); !done) return tl::make_unexpected(done.error());
  return static_cast<std::int64_t>(whole.results.size());
}

Result<int> import_file(const Context& context, const ImportWishes& wishes) {
  if (wishes.file.empty()) return usage_error("import", "no file was named", "hbmark import results.json");
  if (!wishes.from.empty() && wishes.from != "gbench") {
    return usage_error("--from " + wishes.from, "there is no such reader", "use gbench, or leave it out");
  }
  if (!wishes.label.empty()) {
    if (auto checked = check_label(wishes.label); !checked) return tl::make_unexpected(checked.error());
  }
  auto text = read_file(wishes.file);
  if (!text) return tl::make_unexpected(text.error());
  auto file = read_gbench(*text, wishes.file);
  if (!file) return tl::make_unexpected(file.error());
  auto store = open_store(context, OpenMode::kWrite);
  if (!store) return tl::make_unexpected(store.error());
  const RunRecord run = run_of(*file, *text, wishes, context);
  const auto saved = save(*store, *file, wishes.file, run);
  if (!saved) return tl::make_unexpected(saved.error());
  if (context.format != OutputFormat::kText) {
    auto view = load_view(*store, run.uuid);
    if (!view) return tl::make_unexpected(view.error());
    auto rendered = results_as(context.format, *view);
    if (!rendered) return tl::make_unexpected(rendered.error());
    if (auto written = context.emit(*rendered); !written) return tl::make_unexpected(written.error());
    return kExitOk;
  }
  std::string said = *saved == 0
                         ? fmt::format("run {} holds this file already: nothing was added, its label stays as it is\n",
                                       run.uuid.substr(0, 8))
                         : fmt::format("run {}: {} case{} imported from {}, unchecked\n", run.uuid.substr(0, 8), *saved,
                                       *saved == 1 ? "" : "s", printable(wishes.file));
  if (file->aggregates > 0)
    said += fmt::format("{} aggregates were passed over: they come from the repetitions\n", file->aggregates);
  if (auto written = context.emit(said); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

Action declare_import(CLI::App& app) {
  auto wishes = std::make_shared<ImportWishes>();
  add_positional(app, "FILE", wishes->file, "JSON written by a program that uses Google Benchmark; - is standard input");
  add_value(app, "--from", wishes->from, "FORMAT", "gbench (Google Benchmark's JSON), the one there is: FILE is looked at");
  add_value(app, "--label", wishes->label, "TEXT", "Name of the run (default: the file's name)");
  return [wishes](const Context& context) { return import_file(context, *wishes); };
}

}  // namespace hbmark::cli
