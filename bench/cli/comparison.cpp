#include "bench/cli/comparison.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>

#include "bench/cli/text.h"
#include "bench/cli/verdict.h"

namespace hbmark::cli {
namespace {

// What has to be equal besides the problem. Modes, node and library are not in it for two runs: they are what a person may
// have changed between them, and a difference is said.
constexpr std::array<std::string_view, 6> kConfiguration = {"backend", "device", "memory", "threads", "replicas", "cache"};
constexpr std::array<std::string_view, 3> kWhere = {"node", "memory_mode", "cluster_mode"};

// A mode is compared together with the memory it leaves to choose from: flat offers more kinds than cache does.
bool is_free(std::string_view field, const std::string& by) {
  if (field == by) return true;
  if (by == "backend") return field == "device";
  return (by == "memory_mode" || by == "cluster_mode") &&
         (field == "memory" || field == "memory_mode" || field == "cluster_mode");
}

const std::string& fact(const Measured& measured, std::string_view name) {
  static const std::string none;
  const auto found = measured.facts.find(std::string(name));
  return found == measured.facts.end() ? none : found->second;
}

std::string key_of(const Measured& measured, const std::string& by) {
  std::string key = measured.result.problem;
  const auto add = [&](std::string_view field) {
    if (!is_free(field, by)) key += '\n' + fact(measured, field);
  };
  for (const std::string_view field : kConfiguration) add(field);
  // Labels are given by hand to runs that differ in whatever the person changed.
  if (!by.empty() && by != "label") {
    for (const std::string_view field : kWhere) add(field);
  }
  return key;
}

std::string configuration_text(const Measured& measured, const std::string& by) {
  std::vector<std::string> parts;
  const auto add = [&](std::string_view field, std::string text) {
    if (!is_free(field, by)) parts.push_back(std::move(text));
  };
  add("backend", fact(measured, "backend"));
  add("device", fact(measured, "device"));
  add("memory", fact(measured, "memory") + " memory");
  add("threads", fact(measured, "threads") + (fact(measured, "threads") == "1" ? " thread" : " threads"));
  if (fact(measured, "replicas") != "1") add("replicas", fact(measured, "replicas") + " replicas");
  if (measured.cache != "warm") parts.push_back(measured.cache + " cache");
  return printable(fmt::format("{}", fmt::join(parts, ", ")));
}

struct Group {
  const Measured* first = nullptr;
  std::vector<const Measured*> a, b;
};

void add_group(std::vector<Group>& groups, std::map<std::string, std::size_t>& index, const Measured& measured,
               std::vector<const Measured*> Group::*side, const std::string& by) {
  const auto [found, is_new] = index.emplace(key_of(measured, by), groups.size());
  if (is_new) groups.push_back({&measured, {}, {}});
  (groups[found->second].*side).push_back(&measured);
}

// Groups of one problem that each side has just once, in unlike configurations, become one: comparing `--threads 4` with
// `--threads 8` by their runs is what was asked for.
void join_lonely(std::vector<Group>& groups) {
  std::map<std::string, std::vector<std::size_t>> of_problem;
  for (std::size_t i = 0; i < groups.size(); ++i) of_problem[groups[i].first->result.problem].push_back(i);
  std::vector<bool> gone(groups.size(), false);
  for (const auto& [problem, members] : of_problem) {
    if (members.size() != 2) continue;
    Group& one = groups[members[0]];
    Group& other = groups[members[1]];
    if (one.first->cache != other.first->cache) continue;  // not the same measurement
    if (one.b.empty() && other.a.empty()) {
      one.b = std::move(other.b);
    } else if (one.a.empty() && other.b.empty()) {
      one.a = std::move(other.a);
    } else {
      continue;
    }
    gone[members[1]] = true;
  }
  std::vector<Group> kept;
  for (std::size_t i = 0; i < groups.size(); ++i) {
    if (!gone[i]) kept.push_back(std::move(groups[i]));
  }
  groups = std::move(kept);
}

bool is_measured(const Measured& measured) { return measured.result.outcome == Outcome::kOk && measured.result.time; }

PairSide make_side(const std::vector<const Measured*>& all) {
  PairSide side{all, ""};
  if (std::any_of(all.begin(), all.end(), [](const Measured* one) { return is_measured(*one); })) return side;
  if (all.empty()) {
    side.reason = "nothing stored for it";
    return side;
  }
  const ResultRecord& result = all.front()->result;
  if (result.outcome == Outcome::kOk) {
    side.reason = "no time was stored";
    return side;
  }
  std::string outcome(outcome_name(result.outcome));
  std::replace(outcome.begin(), outcome.end(), '_', ' ');
  side.reason = outcome + (result.reason.empty() ? "" : ": " + printable(result.reason));
  return side;
}

stats::Launches launches_of(const PairSide& side) {
  stats::Launches launches;
  for (const Measured* one : side.measured) {
    if (!is_measured(*one)) continue;
    launches.insert(launches.end(), one->launches.begin(), one->launches.end());
  }
  return launches;
}

const Measured& first_measured(const PairSide& side) {
  const auto found =
      std::find_if(side.measured.begin(), side.measured.end(), [](const Measured* one) { return is_measured(*one); });
  return **found;
}

// One call of so many replicas does so much work; a rate is compared where the amounts differ.
void scale_to_work(PairRow& row, stats::Launches& b) {
  const ResultRecord& of_a = first_measured(row.a).result;
  const ResultRecord& of_b = first_measured(row.b).result;
  const std::optional<double>& work_a = of_a.flop && of_b.flop ? of_a.flop : of_a.bytes;
  const std::optional<double>& work_b = of_a.flop && of_b.flop ? of_b.flop : of_b.bytes;
  if (!work_a || !work_b || !(*work_a > 0) || !(*work_b > 0) || *work_a == *work_b) return;
  for (std::vector<double>& launch : b) {
    for (double& sample : launch) sample *= *work_a / *work_b;
  }
  row.notes.push_back(
      fmt::format("a call of B does {:.4g} times the work of one of A: B's times are for A's work", *work_b / *work_a));
}

PairRow make_row(const Group& group, const CompareRules& rules) {
  PairRow row;
  row.problem = group.first->result.problem;
  row.kernel = group.first->result.kernel;
  row.configuration = configuration_text(*group.first, rules.by);
  row.bytes = bytes_in_use(group.first->result);
  row.a = make_side(group.a);
  row.b = make_side(group.b);
  if (!row.a.reason.empty() || !row.b.reason.empty()) {
    row.reason = row.a.reason.empty()   ? "B: " + row.b.reason
                 : row.b.reason.empty() ? "A: " + row.a.reason
                                        : fmt::format("A: {}; B: {}", row.a.reason, row.b.reason);
    return row;
  }
  stats::Launches a = launches_of(row.a);
  stats::Launches b = launches_of(row.b);
  scale_to_work(row, b);
  row.ratio = stats::compare_launches(a, b);
  for (const auto& [name, launches] : {std::pair<const char*, const stats::Launches&>{"A", a}, {"B", b}}) {
    for (const std::size_t odd : stats::odd_launches(launches)) {
      row.notes.push_back(fmt::format("launch {} of {} stands apart and widens the interval", odd + 1, name));
    }
  }
  return row;
}

void judge_rows(std::vector<Comparison>& all, double margin) {
  std::vector<PairRow*> with_p;
  std::vector<double> p;
  for (Comparison& one : all) {
    for (PairRow& row : one.rows) {
      if (!row.ratio.p) continue;
      with_p.push_back(&row);
      p.push_back(*row.ratio.p);
    }
  }
  const std::vector<double> adjusted = stats::adjust_p_values(p);
  for (std::size_t i = 0; i < with_p.size(); ++i) with_p[i]->adjusted_p = adjusted[i];
  for (Comparison& one : all) {
    for (PairRow& row : one.rows) {
      row.verdict = stats::judge_ratio(row.ratio, row.adjusted_p, margin);
      if (row.reason.empty() && (row.verdict == stats::Verdict::kNotEstablished || !row.ratio.ratio))
        row.reason = row.ratio.method;
    }
  }
}

}  // namespace

const std::vector<std::string>& compare_fields() {
  static const std::vector<std::string> fields = {"memory_mode", "cluster_mode", "memory",  "replicas",
                                                  "threads",     "backend",      "library", "label"};
  return fields;
}

std::vector<Comparison> compare_sides(const Side& a, const std::vector<Side>& others, const CompareRules& rules) {
  std::vector<Comparison> all;
  for (const Side& b : others) {
    std::vector<Group> groups;
    std::map<std::string, std::size_t> index;
    for (const Measured& measured : a.all) add_group(groups, index, measured, &Group::a, rules.by);
    for (const Measured& measured : b.all) add_group(groups, index, measured, &Group::b, rules.by);
    if (rules.by.empty() || rules.by == "label") join_lonely(groups);
    Comparison one{rules.by, a.name, b.name, {}, {}};
    for (const Group& group : groups) {
      one.rows.push_back(make_row(group, rules));
      for (std::string& note : pair_notes(one.rows.back(), rules.by)) one.rows.back().notes.push_back(std::move(note));
    }
    all.push_back(std::move(one));
  }
  judge_rows(all, rules.margin);
  for (std::size_t i = 0; i < all.size(); ++i) all[i].remarks = remarks_of(a, others[i], all[i].rows, rules);
  return all;
}

std::string verdict_words(stats::Verdict verdict, double margin) {
  if (verdict == stats::Verdict::kSame) return fmt::format("same within {:g} %", 100 * margin);
  std::string words(stats::verdict_name(verdict));
  std::replace(words.begin(), words.end(), '_', ' ');
  return words;
}

std::string verdict_counts(const std::vector<PairRow>& rows, double margin) {
  constexpr std::array kOrder = {stats::Verdict::kFaster,         stats::Verdict::kSlower,
                                 stats::Verdict::kSame,           stats::Verdict::kNoDifference,
                                 stats::Verdict::kNotEstablished, stats::Verdict::kNotComparable};
  std::vector<std::string> parts;
  for (const stats::Verdict verdict : kOrder) {
    const auto count = std::count_if(rows.begin(), rows.end(), [&](const PairRow& row) { return row.verdict == verdict; });
    if (count > 0) parts.push_back(fmt::format("{} {}", count, verdict_words(verdict, margin)));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace hbmark::cli
