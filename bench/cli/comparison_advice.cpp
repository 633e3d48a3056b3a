#include "bench/cli/comparison_advice.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "bench/cli/stored_node.h"
#include "bench/cli/text.h"
#include "bench/run/planner.h"

namespace hbmark::cli {
namespace {

struct Border {
  std::uint64_t bytes = 0;
  std::string name;
};

std::uint64_t fast_bytes(const topology::Node& node) {
  std::uint64_t flat = 0;
  std::uint64_t cached = 0;
  for (const topology::NumaNode& numa : node.numa) {
    if (numa.kind == "mcdram" || numa.kind == "hbm") flat += numa.size_bytes.value_or(0);
  }
  for (const topology::MemorySideCache& cache : node.memory_side_caches) cached += cache.size_bytes;
  return std::max(flat, cached);
}

// Where working sets part: at the fast memory's size, where there is such, else at that of the last-level caches together.
Border border_of(const Comparison& comparison) {
  std::uint64_t fast = 0;
  std::uint64_t caches = 0;
  for (const PairRow& row : comparison.rows) {
    for (const PairSide* side : {&row.a, &row.b}) {
      if (side->measured.empty()) continue;
      const topology::Node node = stored_node(side->measured.front()->node);
      fast = std::max(fast, fast_bytes(node));
      caches = std::max(caches, last_level_cache_bytes(node));
    }
  }
  if (fast > 0) return {fast, binary_bytes(fast) + " of fast memory"};
  if (caches > 0) return {caches, binary_bytes(caches) + " of last-level cache"};
  return {};
}

struct Segment {
  std::string name;
  std::vector<const PairRow*> rows;
};

std::vector<Segment> segments_of(const Comparison& comparison) {
  const Border border = border_of(comparison);
  std::vector<Segment> segments;
  for (const PairRow& row : comparison.rows) {
    std::string name = row.kernel;
    if (row.bytes && border.bytes > 0) {
      name += fmt::format(", working sets {} the {}", *row.bytes <= static_cast<double>(border.bytes) ? "within" : "beyond",
                          border.name);
    }
    auto found = std::find_if(segments.begin(), segments.end(), [&](const Segment& one) { return one.name == name; });
    if (found == segments.end()) found = segments.insert(segments.end(), Segment{name, {}});
    found->rows.push_back(&row);
  }
  return segments;
}

std::vector<const PairRow*> with(const Segment& segment, stats::Verdict verdict) {
  std::vector<const PairRow*> rows;
  for (const PairRow* row : segment.rows) {
    if (row->verdict == verdict) rows.push_back(row);
  }
  return rows;
}

// How many times faster the winner is: of one problem with its interval, of several from the least to the most.
std::string factor_text(const std::vector<const PairRow*>& rows, bool b_wins) {
  const auto factor = [&](double ratio) { return b_wins ? 1 / ratio : ratio; };
  if (rows.size() == 1) {
    const stats::RatioEstimate& ratio = rows.front()->ratio;
    const double one = factor(*ratio.low);
    const double other = factor(*ratio.high);
    return fmt::format("{:.2f}x ({:.2f} to {:.2f}) faster", factor(*ratio.ratio), std::min(one, other),
                       std::max(one, other));
  }
  double least = factor(*rows.front()->ratio.ratio);
  double most = least;
  double logs = 0;
  for (const PairRow* row : rows) {
    const double value = factor(*row->ratio.ratio);
    least = std::min(least, value);
    most = std::max(most, value);
    logs += std::log(value) / static_cast<double>(rows.size());
  }
  return fmt::format("{:.2f}x faster ({:.2f} to {:.2f}) in {} problems", std::exp(logs), least, most, rows.size());
}

std::string placement_key(const Measured& measured) {
  return measured.memory_policy + ' ' + omp_places(measured.result.thread_pus) + ' ' +
         fmt::format("{} {}", measured.result.threads, measured.result.replicas);
}

std::string mode_text(const Measured& measured) {
  std::vector<std::string> parts;
  for (const auto& [name, words] : {std::pair{"memory_mode", "memory mode"}, std::pair{"cluster_mode", "cluster mode"}}) {
    const auto found = measured.facts.find(name);
    if (found != measured.facts.end() && found->second != "none" && found->second != "unknown")
      parts.push_back(fmt::format("{} {}", words, printable(found->second)));
  }
  return parts.empty() ? "" : fmt::format("in {}", fmt::join(parts, ", "));
}

Recipe recipe_of(const std::string& side, const Measured& measured) {
  Recipe recipe{side, mode_text(measured), {}};
  std::string variables = fmt::format("OMP_NUM_THREADS={}", measured.result.threads);
  if (const std::string places = omp_places(measured.result.thread_pus); !places.empty())
    variables += fmt::format(" OMP_PLACES='{}' OMP_PROC_BIND=close", places);
  std::string program = numactl_of(measured.memory_policy);
  program += program.empty() ? "./program" : " ./program";
  if (measured.result.replicas > 1)
    recipe.lines.push_back(fmt::format("# {} such processes, each on its own part of the node", measured.result.replicas));
  if (const std::size_t comma = measured.memory_policy.find(", "); comma != std::string::npos)
    recipe.lines.push_back(fmt::format("# on {}", printable(measured.memory_policy.substr(comma + 2))));
  recipe.lines.push_back(fmt::format("{} {}", variables, program));
  recipe.lines.push_back(fmt::format("srun --nodes=1 --ntasks=1 --exclusive --cpu-bind=none env {} {}", variables, program));
  return recipe;
}

}  // namespace

std::vector<std::string> advice_lines(const Comparison& comparison, double margin) {
  std::vector<std::string> lines;
  std::size_t unsaid = 0;
  for (const Segment& segment : segments_of(comparison)) {
    std::vector<std::string> parts;
    const auto faster = with(segment, stats::Verdict::kFaster);
    const auto slower = with(segment, stats::Verdict::kSlower);
    const auto same = with(segment, stats::Verdict::kSame);
    const auto open = with(segment, stats::Verdict::kNoDifference);
    const std::size_t unknown = segment.rows.size() - faster.size() - slower.size() - same.size() - open.size();
    if (!faster.empty()) parts.push_back(fmt::format("take B ({}): {}", comparison.b_name, factor_text(faster, true)));
    if (!slower.empty()) parts.push_back(fmt::format("take A ({}): {}", comparison.a_name, factor_text(slower, false)));
    if (!same.empty())
      parts.push_back(fmt::format("it does not matter in {} (same within {:g} %)", same.size(), 100 * margin));
    if (!open.empty()) parts.push_back(fmt::format("no difference shown in {}", open.size()));
    if (unknown > 0 && !parts.empty()) parts.push_back(fmt::format("nothing can be said of {}", unknown));
    unsaid += parts.empty() ? unknown : 0;
    if (!parts.empty()) lines.push_back(fmt::format("{}: {}", printable(segment.name), fmt::join(parts, "; ")));
  }
  if (unsaid > 0)
    lines.push_back(fmt::format("nothing can be said of {}{} problem{}: see why above", unsaid,
                                lines.empty() ? "" : " other", unsaid == 1 ? "" : "s"));
  return lines;
}

std::vector<Recipe> recipes(const Comparison& comparison) {
  std::vector<Recipe> all;
  std::vector<std::string> seen;
  for (const PairRow& row : comparison.rows) {
    const bool b_wins = row.verdict == stats::Verdict::kFaster;
    if (!b_wins && row.verdict != stats::Verdict::kSlower) continue;
    const Measured& a = *row.a.measured.front();
    const Measured& b = *row.b.measured.front();
    if (placement_key(a) == placement_key(b) && mode_text(a) == mode_text(b)) continue;
    const Measured& winner = b_wins ? b : a;
    const std::string key = (b_wins ? "B" : "A") + placement_key(winner);
    if (std::find(seen.begin(), seen.end(), key) != seen.end()) continue;
    seen.push_back(key);
    all.push_back(recipe_of(b_wins ? "B" : "A", winner));
  }
  return all;
}

std::string omp_places(const std::vector<int>& thread_pus) {
  if (thread_pus.empty() || std::any_of(thread_pus.begin(), thread_pus.end(), [](int pu) { return pu < 0; })) return "";
  const int stride = thread_pus.size() > 1 ? thread_pus[1] - thread_pus[0] : 1;
  bool is_even = thread_pus.size() > 2 && stride > 0;
  for (std::size_t i = 1; i < thread_pus.size(); ++i) is_even = is_even && thread_pus[i] - thread_pus[i - 1] == stride;
  if (is_even) return fmt::format("{{{}}}:{}:{}", thread_pus[0], thread_pus.size(), stride);
  std::string places;
  for (const int pu : thread_pus) places += fmt::format("{}{{{}}}", places.empty() ? "" : ",", pu);
  return places;
}

std::string numactl_of(const std::string& memory_policy) {
  const std::string policy = memory_policy.substr(0, memory_policy.find(", "));
  const std::size_t colon = policy.find(':');
  const std::string nodes = colon == std::string::npos ? "" : policy.substr(colon + 1);
  if (nodes.empty() || nodes.find_first_not_of("0123456789,") != std::string::npos) return "";
  const std::string rule = policy.substr(0, colon);
  if (rule == "strict") return "numactl --membind=" + nodes;
  if (rule == "interleave") return "numactl --interleave=" + nodes;
  if (rule != "preferred") return "";
  // numactl before 2.0.15 knows one preferred node only.
  return (nodes.find(',') == std::string::npos ? "numactl --preferred=" : "numactl --preferred-many=") + nodes;
}

}  // namespace hbmark::cli
