// hbmark list [runs|suites|backends|kernels]
#include <fmt/core.h>

#include <cerrno>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "backends/loader/loader.h"
#include "bench/cli/commands.h"
#include "bench/cli/csv_text.h"
#include "bench/cli/render_footer.h"
#include "bench/cli/report.h"
#include "bench/cli/stored_runs.h"
#include "bench/cli/table.h"
#include "bench/cli/values.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"
#include "results/base/input_file.h"
#include "results/formats/format.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

// One kind of list in its three forms.
struct Listing {
  Table table;                                 // text
  std::vector<json> lines;                     // json
  std::vector<std::vector<std::string>> rows;  // csv, the first one the header
  std::string when_empty;                      // text
};

std::string count_text(std::int64_t count) { return count == 0 ? "-" : fmt::format("{}", count); }

Result<Listing> list_runs(const Context& context) {
  auto store = open_store(context, OpenMode::kRead);
  if (!store) return tl::make_unexpected(store.error());
  auto runs = store->runs();
  if (!runs) return tl::make_unexpected(runs.error());
  Listing listing;
  listing.when_empty = "no run in " + context.db.string() + "; measure first: hbmark run\n";
  listing.table.columns = {{"run"},          {"when"},        {"state"}, {"ok", true},
                           {"failed", true}, {"other", true}, {"suite"}, {"label", false, true}};
  listing.rows = {{"run", "started_at", "state", "ok", "failed", "other", "suite", "label"}};
  bool told = false;
  for (RunRecord& run : *runs) {
    errno = 0;
    run.state = state_of(*store, run);
    if (run.state == "unknown" && !std::exchange(told, true)) {
      const int number = errno;
      print_warning(fmt::format("cannot tell whether run {} still goes on: {}; {}", run.uuid.substr(0, 8),
                                std::generic_category().message(number), after_errno(number)),
                    context.err);
    }
    auto results = store->results(run.uuid);
    if (!results) return tl::make_unexpected(results.error());
    std::int64_t ok = 0;
    std::int64_t failed = 0;
    for (const ResultRecord& result : *results) {
      if (result.outcome == Outcome::kOk) ++ok;
      if (is_failure(result.outcome)) ++failed;
    }
    const std::int64_t other = static_cast<std::int64_t>(results->size()) - ok - failed;
    listing.table.rows.push_back({{{run.uuid.substr(0, 8)},
                                   {printable(when(run.started_at))},
                                   {printable(run.state), run.state == "finished" ? Color::kNone : Color::kYellow},
                                   {count_text(ok)},
                                   {count_text(failed), failed > 0 ? Color::kRed : Color::kNone},
                                   {count_text(other)},
                                   {printable(run.suite)},
                                   {printable(run.label)}},
                                  {}});
    json line = run_to_json(run);
    line["ok"] = ok;
    line["failed"] = failed;
    line["other"] = other;
    listing.lines.push_back(std::move(line));
    listing.rows.push_back({run.uuid, run.started_at, run.state, fmt::format("{}", ok), fmt::format("{}", failed),
                            fmt::format("{}", other), run.suite, run.label});
  }
  return listing;
}

Result<Listing> list_suite_files(const Context& context) {
  auto suites = list_suites(context.share_dir(), SuiteContext{});
  if (!suites) return tl::make_unexpected(suites.error());
  Listing listing;
  listing.when_empty = "no suite under " + context.share_dir().string() + "\n";
  listing.table.columns = {{"suite"}, {"cases", true}, {"budget", true}, {"what it holds", false, true}};
  listing.rows = {{"suite", "cases", "budget_s", "precision", "summary"}};
  for (const Suite& suite : *suites) {
    const bool has_budget = suite.budget_s > 0;
    listing.table.rows.push_back({{{suite.name},
                                   {fmt::format("{}", suite.cases.size())},
                                   {has_budget ? duration(suite.budget_s) : "a case"},
                                   {printable(suite.summary)}},
                                  {}});
    listing.lines.push_back({{"schema", "hbmark.suite/1"},
                             {"name", suite.name},
                             {"summary", suite.summary},
                             {"cases", suite.cases.size()},
                             {"budget_s", has_budget ? json(suite.budget_s) : json()},
                             {"precision", suite.precision}});
    listing.rows.push_back({suite.name, fmt::format("{}", suite.cases.size()),
                            has_budget ? fmt::format("{}", suite.budget_s) : "", fmt::format("{}", suite.precision),
                            suite.summary});
  }
  return listing;
}

Result<Listing> list_backend_files(const Context& context) {
  const LoadReport report = load_backends({}, context.program);
  Listing listing;
  listing.when_empty = "no backend found; `hbmark doctor` says where was looked\n";
  listing.table.columns = {{"backend"}, {"version"}, {"what it is", false, true}};
  listing.rows = {{"backend", "version", "summary", "file"}};
  for (const LoadedBackend& backend : report.backends) {
    listing.table.rows.push_back(
        {{{printable(backend.name)}, {printable(backend.version)}, {printable(backend.summary)}}, {}});
    listing.lines.push_back({{"schema", "hbmark.backend/1"},
                             {"name", backend.name},
                             {"version", backend.version},
                             {"summary", backend.summary},
                             {"file", backend.file.string()}});
    listing.rows.push_back({backend.name, backend.version, backend.summary, backend.file.string()});
  }
  if (!report.rejected.empty() && !context.quiet) {
    print_warning(fmt::format("{} rejected; `hbmark doctor` says why",
                              report.rejected.size() == 1 ? "one file or folder was"
                                                          : fmt::format("{} files or folders were", report.rejected.size())),
                  context.err);
  }
  return listing;
}

Result<Listing> list_kernels(const Context&) {
  Listing listing;
  listing.when_empty = "no kernel in this build\n";
  listing.table.columns = {{"kernel"}, {"what it does", false, true}, {"example"}};
  listing.rows = {{"kernel", "summary", "example"}};
  for (const KernelSpec* kernel : kernels()) {
    const std::string name(kernel->name);
    const std::string summary(kernel->summary);
    const std::string example(kernel->example);
    listing.table.rows.push_back({{{name, Color::kBold}}, {{summary}, {"--problem " + example, Color::kDim}}});
    listing.lines.push_back({{"schema", "hbmark.kernel/1"}, {"name", name}, {"summary", summary}, {"example", example}});
    listing.rows.push_back({name, summary, example});
  }
  listing.table.columns.clear();  // headings and notes only: no columns to title
  return listing;
}

std::string text_of(const Listing& listing, const Context& context) {
  std::string out;
  switch (context.format) {
    case OutputFormat::kText:
      return listing.table.rows.empty() ? listing.when_empty : render(listing.table, context.out);
    case OutputFormat::kJson:
      for (const json& line : listing.lines) out += line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
      break;
    case OutputFormat::kGbench:  // taken by `export` alone
    case OutputFormat::kCsv:
      for (const auto& row : listing.rows) out += csv_row(row);
      break;
  }
  return out;
}

struct Kind {
  const char* name;
  Result<Listing> (*make)(const Context&);
};
constexpr Kind kKinds[] = {
    {"runs", list_runs}, {"suites", list_suite_files}, {"backends", list_backend_files}, {"kernels", list_kernels}};

Result<int> list(const Context& context, const std::string& what) {
  for (const Kind& kind : kKinds) {
    if (what != kind.name) continue;
    auto listing = kind.make(context);
    if (!listing) return tl::make_unexpected(listing.error());
    if (auto written = context.emit(text_of(*listing, context)); !written) return tl::make_unexpected(written.error());
    return kExitOk;
  }
  std::vector<std::string> known;
  for (const Kind& kind : kKinds) known.emplace_back(kind.name);
  const std::string guess = nearest(what, known);
  return usage_error(fmt::format("list {}", printable(what)), "there is no such list",
                     (guess.empty() ? "" : fmt::format("did you mean `hbmark list {}`? ", guess)) +
                         "it lists runs, suites, backends or kernels");
}

}  // namespace

Action declare_list(CLI::App& app) {
  auto what = std::make_shared<std::string>("runs");
  add_positional(app, "WHAT", *what, "runs (default, newest first), suites, backends or kernels");
  return [what](const Context& context) { return list(context, *what); };
}

}  // namespace hbmark::cli
