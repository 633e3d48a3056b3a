// hbmark run: from options to a plan, the plan carried out under a progress bar, and the table at the end.
#include "bench/run/run.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "backends/loader/loader.h"
#include "bench/cli/commands.h"
#include "bench/cli/output.h"
#include "bench/cli/progress.h"
#include "bench/cli/report.h"
#include "bench/cli/run_options.h"
#include "bench/cli/run_placements.h"
#include "bench/cli/run_records.h"
#include "bench/cli/run_selection.h"
#include "bench/cli/stored_node.h"
#include "bench/cli/stored_runs.h"
#include "bench/cli/values.h"
#include "bench/run/cache_flusher.h"
#include "bench/run/planner.h"
#include "bench/run/run_lock.h"
#include "topology/energy.h"
#include "topology/partition.h"

namespace hbmark::cli {
namespace {

double steady_s() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

void note(const Context& context, const std::string& text) {
  if (!context.quiet) print_note(text);
}

std::vector<std::string> needed_files(const Plan& plan, const LoadReport& loaded) {
  std::vector<std::string> files;
  for (const LoadedBackend& backend : loaded.backends) {
    const bool needed = std::any_of(plan.cases.begin(), plan.cases.end(), [&](const PlannedCase& planned) {
      return !planned.decided && planned.backend == backend.name;
    });
    if (needed) files.push_back(backend.file.string());
  }
  return files;
}

// A name that no plugin has is a slip of the hand. One whose plugin was rejected, or may lie in a folder that was not
// looked into, is known or cannot be told: its cases are stored as unavailable.
Status check_backends(const std::vector<std::string>& wanted, const LoadReport& loaded) {
  std::vector<std::string> known;
  for (const LoadedBackend& backend : loaded.backends) known.push_back(backend.name);
  for (const RejectedFile& rejected : loaded.rejected) {
    const std::string file = rejected.file.stem().string();
    if (rejected.file.extension() != ".so") return {};
    known.push_back(file.starts_with("hbmark_") ? file.substr(7) : file);
  }
  for (const std::string& name : wanted) {
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    const std::string guess = nearest(name, known);
    return usage_error(fmt::format("--backend {}", printable(name)),
                       known.empty() ? "there is no backend at all"
                                     : fmt::format("no plugin has that name; there are {}", fmt::join(known, ", ")),
                       (guess.empty() ? "" : fmt::format("did you mean --backend {}? ", guess)) +
                           "`hbmark doctor` shows where backends are looked for");
  }
  return {};
}

Result<Plan> plan_new_run(const Context& context, const RunWishes& wishes, const topology::Node& node,
                          const std::vector<std::string>& refused) {
  std::vector<std::string> notes;
  auto suite = select_problems(wishes, context.share_dir(), node, notes);
  for (const std::string& text : notes) note(context, text);
  if (!suite) return tl::make_unexpected(suite.error());
  const LoadReport loaded = load_backends({wishes.backend_paths.begin(), wishes.backend_paths.end()}, context.program);
  if (auto checked = check_backends(wishes.backends, loaded); !checked) return tl::make_unexpected(checked.error());
  PlanRequest request;
  request.suite = std::move(*suite);
  request.backends = wishes.backends;
  request.known = inspect_backends(loaded);
  request.rejected = loaded.rejected;
  request.filters = wishes.filters;
  request.budget_s = wishes.budget_s;
  request.precision = wishes.precision;
  request.timeout_s = wishes.timeout_s;
  request.threads = wishes.threads;
  request.launches = wishes.launches;
  request.replicas = wishes.replicas;
  request.replicas_split = wishes.replicas_split;
  request.placements = wishes.placements;
  request.refused_placements = refused;
  request.pin = wishes.pin;
  request.pages = wishes.pages;
  request.cold_cache = wishes.cold_cache;
  request.energy = wishes.energy;
  request.seed = wishes.seed;
  request.label = wishes.label;
  for (const std::string& path : wishes.backend_paths) {
    std::error_code ignored;
    const auto absolute = std::filesystem::absolute(path, ignored);  // a resumed run may start elsewhere
    request.backend_paths.push_back(ignored ? path : absolute.string());
  }
  auto plan = make_plan(request);
  if (plan) plan->backend_files = needed_files(*plan, loaded);
  return plan;
}

// The observer that draws; cases are counted in the order they come.
class Watcher {
 public:
  Watcher(const Plan& plan, const std::vector<std::int64_t>& finished, const Context& context)
      : context_(context), progress_(budgets(plan, finished), options(context)) {}

  RunObserver observer() {
    return {[this](const PlannedCase& planned) { start(planned); },
            [this](const PlannedCase&, const std::string& phase, double fraction) { progress_.update(phase, fraction); },
            [this](const PlannedCase& planned, const ResultRecord& result) { finish(planned, result); },
            [this](const std::string& text) { warn(text); }, [this] { progress_.tick(); }};
  }
  void end() { progress_.clear(); }

 private:
  static ProgressOptions options(const Context& context) {
    ProgressOptions options;
    options.redraw = can_redraw(STDERR_FILENO, context.environment);
    options.quiet = context.quiet;
    options.style = context.err;
    options.now_s = steady_s;
    options.columns = [] { return terminal_columns(STDERR_FILENO).value_or(80); };
    options.write = [](std::string_view text) { write_all(STDERR_FILENO, text); };
    return options;
  }

  std::vector<double> budgets(const Plan& plan, const std::vector<std::int64_t>& finished) {
    constexpr double kDecided_s = 1e-3;  // a case that is only written down
    std::vector<double> all;
    for (const PlannedCase& planned : plan.cases) {
      if (std::find(finished.begin(), finished.end(), planned.index) != finished.end()) continue;
      positions_[planned.index] = all.size();
      all.push_back(planned.decided ? kDecided_s : planned.budget_s);
    }
    return all;
  }

  void start(const PlannedCase& planned) {
    started_ = planned.index;
    progress_.start(positions_[planned.index], printable(planned.problem));
  }
  void finish(const PlannedCase& planned, const ResultRecord& result) {
    if (result.outcome == Outcome::kNotRun) return;
    if (started_ != planned.index) start(planned);  // decided while planning
    progress_.finish(result);
    started_ = -1;
  }
  void warn(const std::string& text) {
    if (!context_.quiet) {
      progress_.message(fmt::format("hbmark: {} {}", context_.err.paint("warning:", Color::kYellow), printable(text)));
    }
  }

  const Context& context_;
  std::map<std::int64_t, std::size_t> positions_;  // before progress_, whose construction fills it
  Progress progress_;
  std::int64_t started_ = -1;
};

Result<RunSummary> watch(const RunRequest& request, Store& store, const Context& context) {
  Watcher watcher(request.plan, request.finished_cases, context);
  auto summary = carry_out(request, store, watcher.observer());
  watcher.end();
  return summary;
}

Status show_results(const Store& store, const std::string& uuid, const Context& context) {
  auto view = load_view(store, uuid);
  if (!view) return tl::make_unexpected(view.error());
  if (context.format == OutputFormat::kText) return context.emit(render_run(*view, context.out, context.verbose));
  auto text = results_as(context.format, *view);
  if (!text) return tl::make_unexpected(text.error());
  return context.emit(*text);
}

// DESIGN.md section 6 and 8: an interruption first, then a backend that was asked for and is not there, then failures.
int exit_code_of(const RunSummary& summary, const Plan& plan) {
  if (summary.interrupted) return kExitInterrupted;
  const bool backend_missing = std::any_of(plan.cases.begin(), plan.cases.end(), [](const PlannedCase& planned) {
    return planned.decided == Outcome::kUnavailable;
  });
  if (backend_missing) return kExitEnvironment;
  if (summary.failed > 0) return kExitCaseFailed;
  return summary.ok == 0 ? kExitNothingRan : kExitOk;
}

Result<int> carry_out_and_show(const RunRequest& request, Store& store, const Context& context) {
  note(context, fmt::format("run {} in {}", request.run.uuid.substr(0, 8), context.db.string()));
  auto summary = watch(request, store, context);
  if (!summary) return tl::make_unexpected(summary.error());
  if (auto shown = show_results(store, request.run.uuid, context); !shown) {
    Error error = shown.error();
    error.next += fmt::format("; all results are stored: hbmark show {} --output FILE", request.run.uuid.substr(0, 8));
    return tl::make_unexpected(std::move(error));
  }
  if (summary->interrupted) {
    note(context,
         fmt::format("interrupted; `hbmark run --resume {}` carries out what is missing", request.run.uuid.substr(0, 8)));
  }
  return exit_code_of(*summary, request.plan);
}

// What holds for all of a run is its environment; the rest is each configuration's.
topology::Placement common_to(const std::vector<topology::Placement>& placements) {
  topology::Placement common = placements.front();
  std::erase_if(common.environment, [&](const auto& variable) {
    return std::any_of(placements.begin(), placements.end(), [&](const topology::Placement& one) {
      return std::find(one.environment.begin(), one.environment.end(), variable) == one.environment.end();
    });
  });
  return common;
}

Plan placement_wishes(const RunWishes& wishes) {
  Plan wanted;
  wanted.threads = wishes.threads;
  wanted.replicas = wishes.replicas;
  wanted.placements = wishes.placements;
  wanted.pin = wishes.pin;
  wanted.pages = wishes.pages;
  return wanted;
}

// What the options come to on this node, for the user and for the environment of the run.
std::map<std::string, std::string> facts_of_options(const Plan& plan, const topology::Node& node) {
  const auto [cold_cache, energy] = std::pair(plan.cold_cache, plan.energy);
  std::map<std::string, std::string> facts;
  if (plan.replicas > 1) {
    if (const auto parts = topology::partition(node, plan.replicas)) {
      std::vector<std::size_t> sizes;
      for (const auto& part : parts->parts) sizes.push_back(part.size());
      facts["replicas"] = fmt::format("{} replicas, cut along {}: {} cores{}", plan.replicas, parts->along,
                                      fmt::join(sizes, ", "), plan.replicas_split ? "; the batch is divided" : "");
    }
  }
  if (cold_cache) facts["cold_cache"] = "cold caches: " + describe_cold(node);
  if (energy) {
    const auto meter = topology::EnergyMeter::open();
    facts["energy"] = meter ? fmt::format("energy of {}", meter->scope())
                            : fmt::format("energy is not readable: {}; {}", meter.error().why, meter.error().next);
  }
  return facts;
}

Result<int> start_run(const Context& context, const RunWishes& wishes, const topology::Node& node) {
  auto placements = place_run(node, placement_wishes(wishes), context);
  if (!placements) return tl::make_unexpected(placements.error());
  auto plan = plan_new_run(context, wishes, node, placements->refused);
  if (!plan) return tl::make_unexpected(plan.error());
  if (wishes.dry_run) {
    if (auto written = context.emit(render_plan(*plan, facts_of_options(*plan, node), context.format, context.out));
        !written) {
      return tl::make_unexpected(written.error());
    }
    return kExitOk;
  }
  auto store = open_store(context, OpenMode::kWrite);
  if (!store) return tl::make_unexpected(store.error());
  const NodeRecord node_row = node_record(node);
  const auto facts = facts_of_options(*plan, node);
  for (const auto& [name, text] : facts) note(context, text);
  const EnvironmentRecord environment = environment_with(common_to(placements->all), facts);
  RunRequest request{
      *plan, &node, placements->all, run_record(*plan, node_row, environment, context), {}, context.program.string()};
  auto lock = RunLock::take(request.run.uuid);
  if (!lock) return tl::make_unexpected(lock.error());
  for (const Status& saved :
       {store->save_node(node_row), store->save_environment(environment), store->save_run(request.run)}) {
    if (!saved) return tl::make_unexpected(saved.error());
  }
  return carry_out_and_show(request, *store, context);
}

// A run is of one mode: half of it measured in flat and half in cache mode would be neither.
Status same_modes(const Store& store, const RunRecord& run, const topology::Node& node) {
  const auto record = store.node_of_run(run.uuid);
  if (!record) return tl::make_unexpected(record.error());
  const std::string change = mode_change(stored_node(*record), node);
  if (change.empty()) return {};
  return usage_error("--resume " + run.uuid.substr(0, 8), change,
                     "start a new run: it can be compared with what that one finished");
}

Result<int> resume_run(const Context& context, const RunWishes& wishes, const topology::Node& node) {
  auto store = open_store(context, wishes.dry_run ? OpenMode::kRead : OpenMode::kWrite);
  if (!store) return tl::make_unexpected(store.error());
  auto run = store->find_run(*wishes.resume);
  if (!run) return tl::make_unexpected(run.error());
  if (run->plan.empty()) {
    return usage_error("--resume " + *wishes.resume, "that run was imported: hbmark has no plan of it to carry out",
                       fmt::format("`hbmark show {}` shows it; measure here with a new run", run->uuid.substr(0, 8)));
  }
  if (run->node_uuid != node_record(node).uuid) {
    return usage_error("--resume " + *wishes.resume, "that run was started on another node",
                       "resume it there, or start a new run here");
  }
  if (auto same = same_modes(*store, *run, node); !same) return tl::make_unexpected(same.error());
  auto plan = plan_from_json(run->plan);
  if (!plan) return tl::make_unexpected(plan.error());
  // Before it is read what is finished: until then another process may finish more.
  std::optional<Result<RunLock>> lock;
  if (!wishes.dry_run) lock = RunLock::take(run->uuid);
  if (lock && !*lock) return tl::make_unexpected(lock->error());
  auto finished = finished_cases(*store, run->uuid);
  if (!finished) return tl::make_unexpected(finished.error());
  const auto is_finished = [&](const PlannedCase& planned) {
    return std::find(finished->begin(), finished->end(), planned.index) != finished->end();
  };
  if (wishes.dry_run) {
    std::erase_if(plan->cases, is_finished);
    const auto facts = facts_of_options(*plan, node);
    if (auto written = context.emit(render_plan(*plan, facts, context.format, context.out)); !written) {
      return tl::make_unexpected(written.error());
    }
    return kExitOk;
  }
  if (std::all_of(plan->cases.begin(), plan->cases.end(), is_finished)) {
    return fail(ErrorKind::kNothingRan, "--resume " + *wishes.resume, "all its cases are finished",
                fmt::format("`hbmark show {}` shows them", run->uuid.substr(0, 8)));
  }
  auto placements = place_run(node, *plan, context);
  if (!placements) return tl::make_unexpected(placements.error());
  for (const PlannedCase& planned : plan->cases) {
    const std::string& refused = placements->refused[planned.placement];
    if (planned.decided || is_finished(planned) || refused.empty()) continue;
    return environment_error("--resume " + *wishes.resume, "a placement of that run cannot be had now: " + refused,
                             "mend that, or start a new run");
  }
  note(context, fmt::format("{} of {} cases are finished already", finished->size(), plan->cases.size()));
  run->state = "running";
  run->finished_at.reset();
  RunRequest request{std::move(*plan),        &node, placements->all, std::move(*run), std::move(*finished),
                     context.program.string()};
  return carry_out_and_show(request, *store, context);
}

Result<int> run(const Context& context, const RunText& text) {
  auto wishes = understand(text);
  if (!wishes) return tl::make_unexpected(wishes.error());
  if (auto checked = check_output(context.output); !checked) return tl::make_unexpected(checked.error());
  auto node = topology::describe_node({.xml_file = "", .sysfs_root = "", .with_io = true});
  if (!node) return tl::make_unexpected(node.error());
  return wishes->resume ? resume_run(context, *wishes, *node) : start_run(context, *wishes, *node);
}

}  // namespace

Action declare_run(CLI::App& app) {
  auto text = std::make_shared<RunText>();
  declare_options(app, *text);
  return [text](const Context& context) { return run(context, *text); };
}

}  // namespace hbmark::cli
