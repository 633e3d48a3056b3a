#include "bench/run/planner.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "bench/kernels/kernel.h"
#include "results/store/store.h"

namespace hbmark {

namespace {

constexpr std::string_view kOracle = "reference";
constexpr double kDefaultBudgetS = 3;

// Edits (insert, delete, replace) that turn `pattern` into some piece of `text`: Sellers' algorithm, "The theory and
// computation of evolutionary distances", 1980. Tells the near misses of a filter.
std::size_t edits_to_a_piece(std::string_view pattern, std::string_view text) {
  std::vector<std::size_t> above(text.size() + 1, 0);
  for (std::size_t row = 1; row <= pattern.size(); ++row) {
    std::vector<std::size_t> here(text.size() + 1, row);
    for (std::size_t column = 1; column <= text.size(); ++column) {
      const std::size_t replaced = above[column - 1] + (pattern[row - 1] == text[column - 1] ? 0 : 1);
      here[column] = std::min({replaced, above[column] + 1, here[column - 1] + 1});
    }
    above = std::move(here);
  }
  return *std::min_element(above.begin(), above.end());
}

std::vector<std::string> nearest(const std::vector<std::string>& filters, const std::vector<std::string>& problems) {
  std::vector<std::pair<std::size_t, std::string>> scored;
  for (const std::string& problem : problems) {
    std::size_t best = std::string::npos;
    for (const std::string& filter : filters) best = std::min(best, edits_to_a_piece(filter, problem));
    scored.emplace_back(best, problem);
  }
  std::stable_sort(scored.begin(), scored.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<std::string> names;
  for (std::size_t i = 0; i < scored.size() && i < 3; ++i) names.push_back(scored[i].second);
  return names;
}

bool has(const std::vector<std::string>& list, std::string_view name) {
  return std::find(list.begin(), list.end(), name) != list.end();
}

const BackendFacts* find_backend(const std::vector<BackendFacts>& known, std::string_view name) {
  const auto found = std::find_if(known.begin(), known.end(), [&](const BackendFacts& b) { return b.name == name; });
  return found == known.end() ? nullptr : &*found;
}

// Why a backend the user named is not there: the loader may know of a file of that name.
std::string absent_reason(const std::string& name, const PlanRequest& request) {
  for (const RejectedFile& file : request.rejected) {
    if (file.file.filename().string().find(name) != std::string::npos) {
      return fmt::format("backend '{}' was not loaded: {}: {}", name, file.file.string(), file.reason);
    }
  }
  std::vector<std::string> names;
  for (const BackendFacts& backend : request.known) names.push_back(backend.name);
  std::string folders;
  for (const RejectedFile& folder : request.rejected) {
    if (folder.file.extension() != ".so")
      folders += fmt::format("; not looked for in {}: {}", folder.file.string(), folder.reason);
  }
  return fmt::format("no backend named '{}' was found (there are: {}){}; `hbmark doctor` shows where it was looked for",
                     name, names.empty() ? "none" : fmt::format("{}", fmt::join(names, ", ")), folders);
}

PlannedCase decided_case(const SuiteCase& wanted, std::string backend, Outcome outcome, std::string reason) {
  PlannedCase c;
  c.problem = to_string(wanted.problem);
  c.backend = std::move(backend);
  c.occurrences = wanted.occurrences;
  c.decided = outcome;
  c.decided_reason = std::move(reason);
  return c;
}

PlannedCase runnable_case(const SuiteCase& wanted, const BackendFacts& backend) {
  PlannedCase c;
  c.problem = to_string(wanted.problem);
  c.backend = backend.name;
  c.device = backend.devices.front().id;
  c.occurrences = wanted.occurrences;
  return c;
}

// The cases of one problem when backends were named: those that can, and a decided case for each that is not there.
void plan_named(const SuiteCase& wanted, const PlanRequest& request, std::vector<PlannedCase>& out) {
  const std::string capability(wanted.problem.kernel->capability);
  std::vector<PlannedCase> unable;
  bool someone_can = false;
  for (const std::string& name : request.backends) {
    const BackendFacts* backend = find_backend(request.known, name);
    if (backend == nullptr) {
      out.push_back(decided_case(wanted, name, Outcome::kUnavailable, absent_reason(name, request)));
    } else if (!has(backend->capabilities, capability)) {
      unable.push_back(decided_case(wanted, name, Outcome::kUnsupported,
                                    fmt::format("backend '{}' has no {} kernel", name, wanted.problem.kernel->name)));
    } else if (backend->devices.empty()) {
      out.push_back(decided_case(wanted, name, Outcome::kUnavailable, backend->unavailable));
    } else {
      out.push_back(runnable_case(wanted, *backend));
      someone_can = true;
    }
  }
  // Of `--backend cpu --backend onednn` each does its own kernels, and saying so for every other one would drown the rest.
  if (!someone_can) out.insert(out.end(), unable.begin(), unable.end());
}

void plan_unnamed(const SuiteCase& wanted, const PlanRequest& request, std::vector<PlannedCase>& out) {
  const std::string capability(wanted.problem.kernel->capability);
  const std::size_t before = out.size();
  std::string why;
  for (const BackendFacts& backend : request.known) {
    if (backend.name == kOracle || !has(backend.capabilities, capability)) continue;
    if (backend.devices.empty()) {
      why +=
          fmt::format("{}'{}' has the kernel but no device: {}", why.empty() ? "" : "; ", backend.name, backend.unavailable);
    } else {
      out.push_back(runnable_case(wanted, backend));
    }
  }
  if (out.size() != before) return;
  if (why.empty()) why = "none of the loaded backends has it; `hbmark doctor` shows where backends are looked for";
  out.push_back(decided_case(wanted, "any", Outcome::kUnavailable,
                             fmt::format("no backend can run {}: {}", wanted.problem.kernel->name, why)));
}

// Ceilings are measured first: what comes later is compared with them.
int rank_of_kernel(std::string_view kernel) {
  if (kernel == "peak") return 0;
  if (kernel == "stream") return 1;
  return 2;
}

void order(std::vector<PlannedCase>& cases) {
  std::vector<std::string> backends;
  for (const PlannedCase& c : cases) {
    if (!has(backends, c.backend)) backends.push_back(c.backend);
  }
  const auto key = [&](const PlannedCase& c) {
    const int rank = rank_of_kernel(std::string_view(c.problem).substr(0, c.problem.find(':')));
    const auto backend = std::find(backends.begin(), backends.end(), c.backend) - backends.begin();
    return std::tuple(rank == 2, backend, rank);
  };
  std::stable_sort(cases.begin(), cases.end(), [&](const PlannedCase& a, const PlannedCase& b) { return key(a) < key(b); });
}

// The same cases under each placement; those of one that cannot be had are decided.
void place_cases(const PlanRequest& request, Plan& plan) {
  const std::vector<PlannedCase> once = std::move(plan.cases);
  plan.cases.clear();
  for (std::size_t i = 0; i < request.placements.size(); ++i) {
    const std::string refused = i < request.refused_placements.size() ? request.refused_placements[i] : "";
    for (PlannedCase c : once) {
      c.placement = i;
      if (!refused.empty() && !c.decided) {
        c.decided = Outcome::kUnavailable;
        c.decided_reason = refused;
      }
      plan.cases.push_back(std::move(c));
    }
  }
}

void share_budget(Plan& plan, double budget_s) {
  const auto measured = std::count_if(plan.cases.begin(), plan.cases.end(), [](const auto& c) { return !c.decided; });
  for (PlannedCase& c : plan.cases) {
    c.budget_s = budget_s > 0 && measured > 0 ? budget_s / static_cast<double>(measured) : kDefaultBudgetS;
  }
}

Result<std::vector<SuiteCase>> select(const PlanRequest& request) {
  std::vector<SuiteCase> kept;
  std::vector<std::string> all;
  for (const SuiteCase& wanted : request.suite.cases) {
    all.push_back(to_string(wanted.problem));
    const auto matches = [&](const std::string& filter) { return filter_matches(filter, all.back()); };
    if (request.filters.empty() || std::any_of(request.filters.begin(), request.filters.end(), matches))
      kept.push_back(wanted);
  }
  if (all.empty()) {
    return fail(ErrorKind::kNothingRan, "there is nothing to run",
                fmt::format("suite '{}' has no cases", request.suite.name),
                "name another suite, or a problem: --problem gemm:f32:nn:m1024n1024k1024");
  }
  if (kept.empty()) {
    return fail(ErrorKind::kNothingRan, "there is nothing to run",
                fmt::format("the filter '{}' matches none of {} problems", fmt::join(request.filters, "', '"), all.size()),
                fmt::format("the nearest are: {}", fmt::join(nearest(request.filters, all), ", ")));
  }
  return kept;
}

Status check_range(const char* option, double value, double low, double high) {
  if (std::isfinite(value) && value >= low && value <= high) return {};
  return usage_error(fmt::format("{} {} cannot be used", option, value), fmt::format("it must be from {} to {}", low, high),
                     "leave the option out for the default");
}

}  // namespace

std::uint64_t last_level_cache_bytes(const topology::Node& node) {
  int level = 0;
  std::uint64_t bytes = 0;
  for (const topology::Cache& cache : node.caches) {
    if (cache.level > level) bytes = 0;
    if (cache.level >= level) bytes += cache.size_bytes * static_cast<std::uint64_t>(std::max(cache.count, 1));
    level = std::max(level, cache.level);
  }
  return bytes;
}

bool filter_matches(std::string_view filter, const std::string& problem) {
  if (filter.find_first_of("*?[") == std::string_view::npos) return problem.find(filter) != std::string::npos;
  return fnmatch(std::string(filter).c_str(), problem.c_str(), 0) == 0;
}

Result<Plan> make_plan(const PlanRequest& request) {
  constexpr double kWeekS = 7 * 24 * 3600.0;
  if (auto ok = check_range("--budget", request.budget_s, 0, kWeekS); !ok) return tl::make_unexpected(ok.error());
  if (auto ok = check_range("--timeout", request.timeout_s, 0.01, kWeekS); !ok) return tl::make_unexpected(ok.error());
  if (auto ok = check_range("--precision", request.precision, 0, 1); !ok) return tl::make_unexpected(ok.error());
  auto wanted = select(request);
  if (!wanted) return tl::make_unexpected(wanted.error());

  Plan plan;
  plan.suite = request.suite.name;
  plan.label = request.label;
  plan.precision = request.precision > 0 ? request.precision : request.suite.precision;
  plan.timeout_s = request.timeout_s;
  plan.seed = request.seed;
  plan.threads = request.threads;
  plan.launches = request.launches;
  plan.replicas = request.replicas;
  plan.replicas_split = request.replicas_split;
  plan.placements = request.placements;
  plan.pin = request.pin;
  plan.pages = request.pages;
  plan.cold_cache = request.cold_cache;
  plan.energy = request.energy;
  plan.backend_paths = request.backend_paths;
  for (const SuiteCase& one : *wanted) {
    if (request.backends.empty()) {
      plan_unnamed(one, request, plan.cases);
    } else {
      plan_named(one, request, plan.cases);
    }
  }
  order(plan.cases);
  place_cases(request, plan);
  for (std::size_t i = 0; i < plan.cases.size(); ++i) plan.cases[i].index = static_cast<std::int64_t>(i);
  share_budget(plan, request.budget_s > 0 ? request.budget_s : request.suite.budget_s);
  return plan;
}

Result<std::vector<std::int64_t>> finished_cases(const Store& store, const std::string& run_uuid) {
  auto results = store.results(run_uuid);
  if (!results) return tl::make_unexpected(results.error());
  std::vector<std::int64_t> finished;
  for (const ResultRecord& result : *results) {
    if (result.outcome != Outcome::kNotRun) finished.push_back(result.case_index);
  }
  return finished;
}

}  // namespace hbmark
