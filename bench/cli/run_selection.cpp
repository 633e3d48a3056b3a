#include "bench/cli/run_selection.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>

#include "bench/cli/csv_text.h"
#include "bench/cli/table.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"
#include "bench/run/planner.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

// Where each problem stands in the suite that is put together.
using Places = std::map<std::string, std::size_t>;

void fold_in(Suite from, Suite& into, Places& places) {
  into.rows_read += from.rows_read;
  into.repeats_folded += from.repeats_folded;
  for (SuiteCase& added : from.cases) {
    const auto [place, is_new] = places.emplace(to_string(added.problem), into.cases.size());
    if (is_new) {
      into.cases.push_back(std::move(added));
    } else {
      into.cases[place->second].occurrences += added.occurrences;
      ++into.repeats_folded;
    }
  }
}

struct Cost {
  std::optional<double> flop;
  std::optional<double> bytes;
  std::optional<std::uint64_t> memory_bytes;  // operands in their plain layout
};

Cost cost_of(const std::string& text) {
  const auto problem = parse_problem(text);
  if (!problem) return {};
  const KernelSpec& kernel = *problem->kernel;
  Cost cost{kernel.flop(*problem), kernel.bytes(*problem), std::nullopt};
  std::uint64_t memory_bytes = 0;
  for (const OperandSpec& operand : kernel.operands(*problem))
    memory_bytes += operand.elements * element_bytes(operand.type);
  // A chase's operand is the order of its lines; the lines themselves come on top.
  if (kernel.loads != nullptr) memory_bytes += static_cast<std::uint64_t>(problem->number("array_bytes"));
  if (memory_bytes > 0) cost.memory_bytes = memory_bytes;
  return cost;
}

SuiteContext facts_for_sizes(const RunWishes& wishes, const topology::Node& node, std::vector<std::string>& notes) {
  SuiteContext facts{last_level_cache_bytes(node), &notes};
  for (const topology::Cache& cache : node.caches) {
    if (cache.level == 1 && cache.type != "instruction") facts.first_level_cache_bytes = cache.size_bytes;
  }
  facts.memory_bytes = node.memory_available_bytes.value_or(0);
  facts.threads = wishes.threads > 0 ? wishes.threads : static_cast<int>(node.cores.size());
  return facts;
}

json case_json(const PlannedCase& planned) {
  const Cost cost = cost_of(planned.problem);
  const auto or_null = [](const auto& value) { return value ? json(*value) : json(); };
  return {{"schema", "hbmark.case/1"},
          {"index", planned.index},
          {"problem", planned.problem},
          {"backend", planned.backend},
          {"device", planned.device},
          {"budget_s", planned.budget_s},
          {"occurrences", planned.occurrences},
          {"flop", or_null(cost.flop)},
          {"bytes", or_null(cost.bytes)},
          {"memory_bytes", or_null(cost.memory_bytes)},
          {"decided", planned.decided ? json(outcome_name(*planned.decided)) : json()},
          {"reason", planned.decided ? json(planned.decided_reason) : json()}};
}

std::string plan_csv(const Plan& plan) {
  std::string out =
      csv_row({"index", "problem", "backend", "device", "budget_s", "occurrences", "flop", "bytes", "memory_bytes"});
  const auto number = [](const auto& value) { return value ? fmt::format("{}", *value) : std::string(); };
  for (const PlannedCase& planned : plan.cases) {
    const Cost cost = cost_of(planned.problem);
    out += csv_row({fmt::format("{}", planned.index), planned.problem, planned.backend, planned.device,
                    fmt::format("{}", planned.budget_s), fmt::format("{}", planned.occurrences), number(cost.flop),
                    number(cost.bytes), number(cost.memory_bytes)});
  }
  return out;
}

std::string plan_text(const Plan& plan, const Style& style) {
  Table table;
  table.columns = {{"problem", false, true}, {"backend"},      {"FLOP", true},
                   {"bytes", true},          {"memory", true}, {"budget", true}};
  const std::string dash(style.dash());
  double budget_s = 0;
  std::int64_t undecided = 0;
  for (const PlannedCase& planned : plan.cases) {
    const Cost cost = cost_of(planned.problem);
    Row row{{{printable(planned.problem)},
             {printable(planned.device.empty() ? planned.backend : fmt::format("{} {}", planned.backend, planned.device))},
             {cost.flop ? si(*cost.flop, "", style, 3) : dash},
             {cost.bytes ? si(*cost.bytes, "B", style, 3) : dash},
             {cost.memory_bytes ? binary_bytes(*cost.memory_bytes) : dash},
             {planned.decided ? "" : duration(planned.budget_s)}},
            {}};
    if (planned.decided) {
      row.notes.push_back(
          {fmt::format("{}: {}", outcome_name(*planned.decided), printable(planned.decided_reason)), Color::kYellow});
    } else {
      budget_s += planned.budget_s;
      ++undecided;
    }
    table.rows.push_back(std::move(row));
  }
  return render(table, style) + fmt::format("\n{} case{}, {} of sampling at most; set-up and checks come on top\n",
                                            undecided, undecided == 1 ? "" : "s", duration(budget_s));
}

}  // namespace

std::string repeats_note(const Suite& suite) {
  if (suite.repeats_folded <= 0) return "";
  return fmt::format("{} rows, {} distinct problems; repeats run once", suite.rows_read, suite.cases.size());
}

Result<Suite> select_problems(const RunWishes& wishes, const std::filesystem::path& share_dir, const topology::Node& node,
                              std::vector<std::string>& notes) {
  Suite selected;
  Places places;
  if (!wishes.suite.empty()) {
    auto suite = load_suite(wishes.suite, share_dir, facts_for_sizes(wishes, node, notes));
    if (!suite) return suite;
    selected.name = suite->name;
    selected.summary = suite->summary;
    selected.budget_s = suite->budget_s;
    selected.precision = suite->precision;
    fold_in(std::move(*suite), selected, places);
  }
  for (const std::string& file : wishes.problem_files) {
    auto suite = load_problem_csv(file, "", &notes);
    if (!suite) return suite;
    if (selected.name.empty()) selected.name = file;
    fold_in(std::move(*suite), selected, places);
  }
  for (const std::string& text : wishes.problems) {
    auto problem = parse_problem(text);
    if (!problem) return tl::make_unexpected(problem.error());
    Suite single;
    single.rows_read = 1;
    single.cases.push_back({std::move(*problem), 1, "--problem"});
    fold_in(std::move(single), selected, places);
  }
  if (std::string note = repeats_note(selected); !note.empty()) notes.push_back(std::move(note));
  return selected;
}

std::string render_plan(const Plan& plan, OutputFormat format, const Style& style) {
  if (format == OutputFormat::kCsv) return plan_csv(plan);
  if (format == OutputFormat::kText) return plan_text(plan, style);
  std::string out;
  for (const PlannedCase& planned : plan.cases) {
    out += case_json(planned).dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
  }
  return out;
}

}  // namespace hbmark::cli
