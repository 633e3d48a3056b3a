#include "bench/cli/verdict.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <string_view>

#include "bench/cli/render_footer.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/problem.h"
#include "bench/run/ceilings.h"
#include "bench/run/planner.h"

namespace hbmark::cli {
namespace {

constexpr double kAboveCeiling = 1.05;
constexpr double kWideCeiling = 0.1;  // half an interval, relative: shares of such a ceiling mean little

using Results = std::vector<const ResultRecord*>;

bool in_caches(const ResultRecord& result, const topology::Node& node) {
  const auto bytes = bytes_in_use(result);
  return bytes && !beyond_caches(static_cast<std::uint64_t>(*bytes), last_level_cache_bytes(node));
}

std::string member_of(const std::string& problem) { return problem.substr(0, problem.find(':')); }

// What tells classes of one name apart, if the run has several of it.
struct Differences {
  std::set<std::string> backends, memories;
  std::set<std::int64_t> threads;
};

Differences differences(const std::vector<ResultRecord>& results) {
  std::map<std::string, std::set<std::string>> backends_of;  // a stream's backend is another than a product's: no news
  Differences found;
  for (const ResultRecord& result : results) {
    auto& backends = backends_of[member_of(result.problem)];
    backends.insert(result.backend);
    if (backends.size() > 1) found.backends.insert(member_of(result.problem));
    if (!result.memory_kind.empty()) found.memories.insert(result.memory_kind);
    if (result.threads > 0) found.threads.insert(result.threads);
  }
  return found;
}

std::string full_name(const ResultRecord& result, const topology::Node& node, const Differences& differ) {
  std::string name = class_name(result, node);
  if (differ.backends.count(member_of(result.problem)) > 0) name += ", " + result.backend;
  if (differ.memories.size() > 1 && !result.memory_kind.empty()) name += ", " + result.memory_kind;
  if (differ.threads.size() > 1 && result.threads > 0) {
    name += fmt::format(", {} thread{}", result.threads, result.threads == 1 ? "" : "s");
  }
  return name;
}

std::optional<Spread> spread_of(std::vector<double> values) {
  if (values.empty()) return std::nullopt;
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  const double median = values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
  return Spread{median, values.front(), values.back(), static_cast<std::int64_t>(values.size())};
}

std::string type_of(const ResultRecord& result) {
  if (const auto problem = parse_problem(result.problem)) {
    for (const auto& [name, word] : problem->words) {
      if (name == "type") return word;
    }
  }
  return "";
}

std::optional<double> nominal_of(const ResultRecord& result, const topology::NominalFigures& figures,
                                 const topology::Node& node) {
  if (result.threads * result.replicas < static_cast<std::int64_t>(node.cores.size())) return std::nullopt;
  const auto rate = rate_of(result);
  if (!rate) return std::nullopt;
  std::optional<double> figure;
  if (rate->unit == "FLOP/s") {
    const auto peak = figures.peak_flop_per_s.find(type_of(result));
    if (peak != figures.peak_flop_per_s.end()) figure = peak->second;
  } else if (result.kernel == "stream" && !in_caches(result, node)) {
    const std::string& kind = result.memory_kind;
    // Preferred memory may have spilled.
    const bool fast = kind == "mcdram" || kind == "hbm" || kind == "mcdram-interleave" || kind == "hbm-interleave";
    // "any" is one memory only where there is no other.
    const bool ddr = result.memory_kind == "ddr" || (result.memory_kind == "any" && node.fast_memory.empty());
    if (fast) figure = figures.fast_bytes_per_s;
    if (ddr) figure = figures.ddr_bytes_per_s;
  }
  if (!figure || !(*figure > 0)) return std::nullopt;
  return rate->per_s / *figure;
}

ClassVerdict class_verdict(const std::string& name, const Results& members, const RunView& view, const topology::Node& node,
                           const Nominal& nominal) {
  ClassVerdict verdict;
  verdict.name = name;
  verdict.kernel = members.front()->kernel;
  verdict.cases = static_cast<std::int64_t>(members.size());
  std::vector<double> shares;
  double best = 0;
  const ResultRecord* quickest = nullptr;
  for (const ResultRecord* result : members) {
    if (result->outcome != Outcome::kOk || !result->time) continue;
    ++verdict.ok;
    if (quickest == nullptr || result->time->median < quickest->time->median) quickest = result;
    const auto rate = rate_of(*result);
    if (rate && rate->per_s > best) {
      best = rate->per_s;
      verdict.fastest = result;
    }
    if (!result->ceiling_fraction) continue;
    shares.push_back(*result->ceiling_fraction);
    if (verdict.slowest == nullptr || *result->ceiling_fraction < *verdict.slowest->ceiling_fraction) {
      verdict.slowest = result;
    }
  }
  verdict.of_ceiling = spread_of(std::move(shares));
  // What was imported has times, and no work that hbmark knows of.
  if (verdict.fastest == nullptr) verdict.fastest = quickest;
  if (verdict.fastest != nullptr && nominal.figures) {
    verdict.of_nominal = nominal_of(*verdict.fastest, *nominal.figures, node);
  }
  if (verdict.slowest != nullptr) verdict.reasons = likely_reasons(*verdict.slowest, view, node);
  return verdict;
}

// Cases without a figure, by outcome and reason; the classes they belong to are named.
std::vector<Gap> missing_cases(const RunView& view, const topology::Node& node) {
  struct Group {
    std::int64_t count = 0;
    std::vector<std::string> classes;
  };
  std::vector<std::pair<std::pair<Outcome, std::string>, Group>> groups;
  for (const ResultRecord& result : view.results) {
    if (result.outcome == Outcome::kOk) continue;
    const std::pair key(result.outcome, result.reason);
    auto found = std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == key; });
    if (found == groups.end()) found = groups.insert(groups.end(), {key, {}});
    ++found->second.count;
    const std::string name = class_name(result, node);
    auto& classes = found->second.classes;
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) classes.push_back(name);
  }
  std::vector<Gap> gaps;
  for (const auto& [key, group] : groups) {
    std::string outcome(outcome_name(key.first));
    std::replace(outcome.begin(), outcome.end(), '_', ' ');
    gaps.push_back({fmt::format("{} case{} of {}: {}", group.count, group.count == 1 ? "" : "s",
                                fmt::join(group.classes, ", "), outcome),
                    key.second.empty() ? "no reason was recorded" : key.second});
  }
  return gaps;
}

std::vector<std::string> doubts_of(const RunView& view, const std::vector<ClassVerdict>& classes) {
  std::vector<std::string> doubts;
  for (const ResultRecord& result : view.results) {
    if (!result.time || (result.kernel != "peak" && result.kernel != "stream")) continue;
    const auto half_width = half_width_of(*result.time);
    if (!half_width || *half_width <= kWideCeiling) continue;
    doubts.push_back(
        fmt::format("{} is uncertain by {} ({} samples): shares of it mean little; measure again on a quiet machine",
                    result.problem, *half_width > 1 ? ">100 %" : percent(*half_width), result.time->samples));
  }
  std::vector<std::string> above;
  for (const ClassVerdict& each : classes) {
    if (!each.of_ceiling || each.of_ceiling->median <= kAboveCeiling) continue;
    above.push_back(fmt::format("{} ({})", each.name, percent(each.of_ceiling->median)));
  }
  if (!above.empty()) {
    doubts.push_back(
        fmt::format("above their ceiling, which cannot be unless the algorithm does less work (flag algorithmic) or "
                    "the ceiling was measured under other load: {}",
                    fmt::join(above, ", ")));
  }
  return doubts;
}

// Questions of a profile that no case of this run asks.
std::vector<Gap> missing_kernels(const RunView& view) {
  struct Question {
    std::string_view kernel, what, why;
  };
  constexpr std::array<Question, 5> kQuestions = {{
      {"peak", "the arithmetic ceiling", "no peak case in this run: --problem peak:fma:f32"},
      {"stream", "memory bandwidth", "no stream case in this run: --problem stream:triad:f64:268435456"},
      {"chase", "memory latency", "no chase case in this run: --problem chase:268435456"},
      {"gemm", "matrix products", "no gemm case in this run"},
      {"conv", "convolution", "no conv case in this run"},
  }};
  std::vector<Gap> gaps;
  for (const Question& question : kQuestions) {
    const bool asked = std::any_of(view.results.begin(), view.results.end(),
                                   [&](const ResultRecord& r) { return r.kernel == question.kernel; });
    if (!asked) gaps.push_back({std::string(question.what), std::string(question.why)});
  }
  const bool energy =
      std::any_of(view.results.begin(), view.results.end(), [](const ResultRecord& r) { return r.energy_j.has_value(); });
  if (!energy && !view.results.empty()) gaps.push_back({"energy", "no case of this run recorded any"});
  return gaps;
}

std::string nominal_text(const RunView& view, const topology::Node& node, const Nominal& nominal) {
  if (!nominal.figures) return "no share given: " + nominal.missing;
  std::string text = fmt::format("{}: {}", nominal.figures->device, nominal.figures->source);
  const auto cores = static_cast<std::int64_t>(node.cores.size());
  const bool partly = std::any_of(view.results.begin(), view.results.end(),
                                  [&](const ResultRecord& r) { return r.time && r.threads * r.replicas < cores; });
  if (partly) text += fmt::format("; no share for results with fewer threads than its {} cores", cores);
  return text;
}

}  // namespace

bool is_memory_kernel(std::string_view kernel) { return kernel == "stream" || kernel == "chase"; }

std::optional<double> bytes_in_use(const ResultRecord& result) {
  if (result.kernel != "chase") return result.bytes;
  const auto problem = parse_problem(result.problem);
  if (!problem) return std::nullopt;
  return static_cast<double>(problem->number("array_bytes"));
}

std::string class_name(const ResultRecord& result, const topology::Node& node) {
  const auto problem = parse_problem(result.problem);
  if (!problem) return printable(member_of(result.problem));
  std::string name(problem->kernel->name);
  for (const char* field : {"pass", "op", "type"}) {
    for (const auto& [word_name, word] : problem->words) {
      if (word_name == field) name += " " + word;
    }
  }
  if (is_memory_kernel(result.kernel) && in_caches(result, node)) name += kInCaches;
  return name;
}

Verdict judge(const RunView& view, const topology::Node& node, const Nominal& nominal) {
  Verdict verdict;
  const Differences differ = differences(view.results);
  std::vector<std::pair<std::string, Results>> classes;
  for (const ResultRecord& result : view.results) {
    const std::string name = full_name(result, node, differ);
    auto found = std::find_if(classes.begin(), classes.end(), [&](const auto& each) { return each.first == name; });
    if (found == classes.end()) found = classes.insert(classes.end(), {name, {}});
    found->second.push_back(&result);
  }
  for (const auto& [name, members] : classes) {
    verdict.classes.push_back(class_verdict(name, members, view, node, nominal));
  }
  for (const ClassVerdict& each : verdict.classes) {
    if (each.of_ceiling && each.of_ceiling->median < kGood) verdict.shortfall.push_back(&each);
  }
  std::stable_sort(verdict.shortfall.begin(), verdict.shortfall.end(),
                   [](const auto* a, const auto* b) { return a->of_ceiling->median < b->of_ceiling->median; });
  verdict.doubts = doubts_of(view, verdict.classes);
  verdict.gaps = missing_cases(view, node);
  if (const std::string figures = missing_text(view.results); !figures.empty()) verdict.gaps.push_back({figures, ""});
  for (Gap& gap : missing_kernels(view)) verdict.gaps.push_back(std::move(gap));
  verdict.nominal = nominal_text(view, node, nominal);
  return verdict;
}

}  // namespace hbmark::cli
