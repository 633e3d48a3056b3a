#include "bench/cli/render_results.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "bench/cli/render_footer.h"
#include "bench/cli/table.h"

namespace hbmark::cli {
namespace {

// Kernels whose figure is bandwidth, though some of them also add.
constexpr std::array<std::string_view, 3> kMovesData = {"stream", "transfer", "exchange"};

constexpr std::string_view kLoadsUnit = "load/s";

constexpr int kGroupIndent = 2;

// Ways to fit the table, from the most comfortable one.
struct Layout {
  bool grouped = false;        // the problems' common beginning as a heading
  bool flags_beneath = false;  // else in a column
  int lacking = 0;             // columns by which the longest shape has to be broken
};

struct SplitProblem {
  std::string group;  // up to and including the last colon
  std::string rest;
};

SplitProblem split(const std::string& problem) {
  // Options (after '/') may hold colons of their own one day: only the part before counts.
  const std::size_t colon = problem.substr(0, problem.find('/')).rfind(':');
  if (colon == std::string::npos) return {"", problem};
  return {problem.substr(0, colon + 1), problem.substr(colon + 1)};
}

Color outcome_color(Outcome outcome) {
  if (outcome == Outcome::kOk) return Color::kNone;
  return is_failure(outcome) ? Color::kRed : Color::kYellow;
}

// "wrong_result" is a word for machines.
std::string outcome_words(Outcome outcome) {
  std::string words(outcome_name(outcome));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

// Either the algorithm does less work than was counted, or the ceiling was measured under other load.
bool above_ceiling(const ResultRecord& result) { return result.ceiling_fraction && *result.ceiling_fraction > 1; }

std::vector<Cell> measured_cells(const ResultRecord& result, const Style& style, bool verbose) {
  const TimeSummary& time = *result.time;
  const auto rate = rate_of(result);
  const std::string dash(style.dash());
  return {{si(time.median, "s", style)},
          {interval_text(time, style, verbose)},
          {fmt::format("{}", time.samples)},
          {rate ? rate_text(*rate, style) : dash},
          {result.ceiling_fraction ? percent(*result.ceiling_fraction) : dash,
           above_ceiling(result) ? Color::kYellow : Color::kNone},
          {result.reorder_s ? "+" + si(*result.reorder_s, "s", style, 2) : ""}};
}

// What each replica reached while all ran; the row above has the sum.
std::string replicas_text(const ResultRecord& result, const Style& style) {
  const auto rate = rate_of(result);
  if (result.replica_times_s.empty() || !rate) return "";
  const double share_of_work = rate->per_s * result.time->median / static_cast<double>(result.replica_times_s.size());
  std::vector<std::string> each;
  for (const auto& [replica, time_s] : result.replica_times_s)
    each.push_back(rate_text({share_of_work / time_s, rate->unit}, style));
  constexpr std::size_t kMostShown = 8;
  const std::size_t more = each.size() - std::min(each.size(), kMostShown);
  each.resize(each.size() - more);
  std::string text = fmt::format("{} replicas: {}", result.replica_times_s.size(), fmt::join(each, " + "));
  if (more > 0) text += fmt::format(" + {} more", more);
  if (const auto efficiency = replica_efficiency(result)) {
    text += fmt::format("; {} of {} times the first alone ({})", percent(*efficiency), result.replica_times_s.size(),
                        rate_text({share_of_work / *result.replica_alone_s, rate->unit}, style));
  }
  return text;
}

void add_details(const ResultRecord& result, const Style& style, Row& row) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view name, const std::string& value) {
    if (!value.empty()) parts.push_back(fmt::format("{}{}", name, printable(value)));
  };
  add("", result.library);
  add("", result.implementation);
  add("isa ", result.isa);
  add("layout ", result.layout);
  if (result.time) {
    add("min ", si(result.time->min, "s", style));
    add("calls a sample ", fmt::format("{}", result.time->calls_per_sample));
    add("", result.time->interval_method);
    add("stopped by ", result.stopped_by);
  }
  if (result.verified) {
    add("checked ", result.verified->method);
    add("error ", fmt::format("{:.2g} of {:.2g} allowed", result.verified->max_rel_error, result.verified->tolerance));
  }
  if (!parts.empty()) row.notes.push_back({fmt::format("{}", fmt::join(parts, "; ")), Color::kDim});
  if (!result.log.empty()) row.notes.push_back({"the library said: " + printable(result.log), Color::kDim});
}

Row result_row(const ResultRecord& result, const Layout& layout, const Style& style, bool verbose) {
  Row row;
  const std::string name = layout.grouped ? std::string(kGroupIndent, ' ') + split(result.problem).rest : result.problem;
  row.cells.push_back({printable(name)});
  const std::string flags = fmt::format("{}", fmt::join(result.flags, " "));
  const bool measured = result.time.has_value();
  if (measured) {
    for (Cell& cell : measured_cells(result, style, verbose)) row.cells.push_back(std::move(cell));
  } else {
    row.cells.push_back({outcome_words(result.outcome), outcome_color(result.outcome)});
    row.cells.resize(7);
  }
  row.cells.push_back({layout.flags_beneath ? "" : printable(flags), Color::kYellow});
  if (layout.flags_beneath && !flags.empty()) row.notes.push_back({printable(flags), Color::kYellow});
  if (result.outcome != Outcome::kOk) {
    std::string reason = result.reason.empty() ? "no reason was recorded" : printable(result.reason);
    if (measured) reason = outcome_words(result.outcome) + ": " + reason;
    row.notes.push_back({std::move(reason), outcome_color(result.outcome)});
  }
  if (const std::string replicas = measured ? replicas_text(result, style) : ""; !replicas.empty())
    row.notes.push_back({replicas, Color::kDim});
  if (verbose) add_details(result, style, row);
  return row;
}

// Groups whose heading saves width: a problem that is no longer than the longest shape stays whole on its line, unless even
// that shape is to be broken by `lacking` columns.
std::set<std::string> groups_to_head(const std::vector<ResultRecord>& results, int lacking) {
  int room = 0;
  for (const ResultRecord& result : results) {
    room = std::max(room, static_cast<int>(split(result.problem).rest.size()) + kGroupIndent);
  }
  room -= lacking;
  std::set<std::string> groups;
  for (const ResultRecord& result : results) {
    const std::string group = split(result.problem).group;
    if (!group.empty() && static_cast<int>(result.problem.size()) > room) groups.insert(group);
  }
  return groups;
}

// "mcdram memory, 64 threads": what sets the same problem's rows apart where a run has several placements.
std::string placement_of(const ResultRecord& result) {
  if (result.memory_kind.empty() && result.threads == 0) return "";
  return fmt::format("{} memory, {} thread{}", result.memory_kind, result.threads, result.threads == 1 ? "" : "s");
}

bool has_several_placements(const std::vector<ResultRecord>& results) {
  std::set<std::string> all;
  for (const ResultRecord& result : results) all.insert(placement_of(result));
  return all.size() > 1;
}

Table make_table(const std::vector<ResultRecord>& results, const Layout& layout, const Style& style, bool verbose) {
  Table table;
  table.columns = {{"problem", false, true}, {"median", true},  {"95 %", true},    {"n", true},
                   {"rate", true},           {"ceiling", true}, {"+layout", true}, {"flags"}};
  const std::set<std::string> headed = layout.grouped ? groups_to_head(results, layout.lacking) : std::set<std::string>{};
  const bool several = has_several_placements(results);
  std::string placement;
  std::string group;
  std::string told;
  for (const ResultRecord& result : results) {
    if (several && placement_of(result) != placement) {
      placement = placement_of(result);
      group.clear();
      table.rows.push_back({{{printable(placement), Color::kBold}}, {}});
    }
    const std::string its_group = split(result.problem).group;
    const bool grouped = headed.count(its_group) > 0;
    if (grouped && its_group != group) table.rows.push_back({{{printable(its_group), Color::kBold}}, {}});
    group = its_group;
    table.rows.push_back(result_row(result, {grouped, layout.flags_beneath, 0}, style, verbose));
    // One reason for many (an interruption, a missing backend) is told once, at the first.
    std::vector<Note>& notes = table.rows.back().notes;
    if (!verbose && !result.time && !told.empty() && result.reason == told && !notes.empty()) notes.pop_back();
    told = result.reason;
  }
  return table;
}

Table fitting_table(const std::vector<ResultRecord>& results, const Style& style) {
  constexpr std::array<Layout, 3> kLayouts = {{{false, false, 0}, {true, false, 0}, {true, true, 0}}};
  Table table;
  for (const Layout& layout : kLayouts) {
    table = make_table(results, layout, style, false);
    if (natural_width(table) <= style.width) return table;
  }
  return make_table(results, {true, true, natural_width(table) - style.width}, style, false);
}

}  // namespace

std::optional<Rate> rate_of(const ResultRecord& result) {
  if (!result.time || !(result.time->median > 0)) return std::nullopt;
  const bool moves = std::find(kMovesData.begin(), kMovesData.end(), result.kernel) != kMovesData.end();
  if (result.flop && *result.flop > 0 && !moves) return Rate{*result.flop / result.time->median, "FLOP/s"};
  if (result.bytes && *result.bytes > 0) return Rate{*result.bytes / result.time->median, "B/s"};
  if (result.loads && *result.loads > 0) return Rate{*result.loads / result.time->median, std::string(kLoadsUnit)};
  return std::nullopt;
}

std::string rate_text(const Rate& rate, const Style& style) {
  if (rate.unit == kLoadsUnit) return si(1 / rate.per_s, "s/load", style, 3);
  return si(rate.per_s, rate.unit, style, 3);
}

std::optional<double> half_width_of(const TimeSummary& time) {
  if (!time.ci_low || !time.ci_high || !(time.median > 0)) return std::nullopt;
  return (*time.ci_high - *time.ci_low) / 2 / time.median;
}

std::string interval_text(const TimeSummary& time, const Style& style, bool verbose) {
  const auto half_width = half_width_of(time);
  if (!half_width) return std::string(style.dash());
  if (verbose) return fmt::format("[{}, {}]", si(*time.ci_low, "s", style), si(*time.ci_high, "s", style));
  // Beyond the median itself a share of it says nothing more.
  return *half_width > 1 ? ">100 %" : fmt::format("{}{}", style.plus_minus(), percent(*half_width));
}

std::string run_heading(const RunView& view, const Style& style) {
  const RunRecord& run = view.run;
  std::string text = style.paint(fmt::format("Run {}", run.uuid.substr(0, 8)), Color::kBold);
  if (!run.label.empty()) text += fmt::format(" \"{}\"", printable(run.label));
  if (!run.suite.empty()) text += fmt::format(", suite {}", printable(run.suite));
  text += fmt::format(", {}", printable(when(run.started_at)));
  if (run.state != "finished") text += style.paint(fmt::format(", {}", printable(run.state)), Color::kYellow);
  return text + "\n\n";
}

std::string render_run(const RunView& view, const Style& style, bool verbose) {
  Table table;
  if (verbose) {
    table = make_table(view.results, {}, style, true);
    table.columns[0].elastic = false;
  } else {
    table = fitting_table(view.results, style);
  }
  std::string out = run_heading(view, style);
  if (view.results.empty()) {
    out += "no result was stored\n";
  } else {
    out += render(table, style);
  }
  return out + "\n" + render_footer(view, style, verbose);
}

std::string result_line(const ResultRecord& result, const Style& style) {
  std::string line = fmt::format("{} {}", printable(result.problem),
                                 style.paint(outcome_words(result.outcome), outcome_color(result.outcome)));
  if (result.time) {
    line += fmt::format(" {}", si(result.time->median, "s", style));
    if (half_width_of(*result.time)) line += " " + interval_text(*result.time, style, false);
    if (const auto rate = rate_of(result)) line += " " + rate_text(*rate, style);
  }
  if (!result.flags.empty()) line += style.paint(fmt::format(" {}", fmt::join(result.flags, " ")), Color::kYellow);
  if (result.outcome != Outcome::kOk && !result.reason.empty()) line += ": " + printable(result.reason);
  return line;
}

}  // namespace hbmark::cli
