#include "bench/cli/sweeps.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "bench/cli/verdict.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/problem.h"

namespace hbmark::cli {
namespace {

struct Reading {
  double x = 0;
  const ResultRecord* result = nullptr;
};

struct Bucket {
  std::string key, name, over;
  std::vector<Reading> readings;
};

// Every sweep a result could be a point of: one a number of its problem, and one for a square product.
std::vector<std::pair<Bucket, double>> places_of(const ResultRecord& result, const Problem& problem) {
  std::string words;
  for (const auto& [field, word] : problem.words) words += word + " ";
  const std::string where = fmt::format("{} {}|{}|{}|{}|{}", problem.kernel->name, words, result.backend, result.device,
                                        result.memory_kind, result.threads);
  std::string name = fmt::format("{} {}", problem.kernel->name, words);
  name.erase(name.find_last_not_of(' ') + 1);
  if (result.threads > 0 && result.kernel != "chase")
    name += fmt::format(", {} thread{}", result.threads, result.threads == 1 ? "" : "s");
  std::vector<std::pair<Bucket, double>> places;
  if (is_memory_kernel(result.kernel)) {
    places.push_back({{where, name, "bytes in use", {}}, bytes_in_use(result).value_or(0)});
    return places;
  }
  const bool square = problem.kernel->name == "gemm" && problem.number("m") == problem.number("n") &&
                      problem.number("n") == problem.number("k");
  if (square) {
    std::string rest;
    for (const auto& [field, value] : problem.numbers) {
      if (field != "m" && field != "n" && field != "k") rest += fmt::format("|{}{}", field, value);
    }
    places.push_back({{where + "|square" + rest, name, "m = n = k", {}}, static_cast<double>(problem.number("m"))});
  }
  for (const auto& [swept, x] : problem.numbers) {
    std::string rest;
    std::string shown;
    for (const auto& [field, value] : problem.numbers) {
      if (field == swept) continue;
      rest += fmt::format("|{}{}", field, value);
      shown += fmt::format("{}{}", field, value);
    }
    places.push_back(
        {{where + "|" + swept + rest, fmt::format("{} at {}", name, shown), swept, {}}, static_cast<double>(x)});
  }
  return places;
}

std::optional<Sweep> sweep_of(Bucket bucket, std::size_t least) {
  std::stable_sort(bucket.readings.begin(), bucket.readings.end(),
                   [](const Reading& a, const Reading& b) { return a.x < b.x; });
  Sweep sweep;
  sweep.name = bucket.name;
  sweep.over = bucket.over;
  for (const Reading& reading : bucket.readings) {
    const auto rate = rate_of(*reading.result);
    if (!rate || !(reading.x > 0)) continue;
    if (!sweep.points.empty() && sweep.points.back().x == reading.x) continue;  // measured twice: the first stands
    const bool of_latency = reading.result->kernel == "chase";
    sweep.unit = of_latency ? "s/load" : rate->unit;
    sweep.points.push_back({reading.x, of_latency ? 1 / rate->per_s : rate->per_s});
    sweep.results.push_back(reading.result);
  }
  if (sweep.points.size() < least) return std::nullopt;
  const ResultRecord& first = *sweep.results.front();
  sweep.of_memory = is_memory_kernel(first.kernel);
  sweep.threads = first.kernel == "chase" ? 1 : first.threads;
  return sweep;
}

// A cache as the threads of a sweep see it: one each, as far as there are that many.
struct SeenCache {
  std::string name;
  double capacity_bytes = 0;
};

std::vector<SeenCache> caches_for(const topology::Node& node, std::int64_t threads) {
  std::vector<SeenCache> caches;
  for (const topology::Cache& cache : node.caches) {
    if (cache.type == "instruction" || cache.size_bytes == 0) continue;
    const auto many = std::clamp<std::int64_t>(threads, 1, std::max(1, cache.count));
    std::string name = fmt::format("L{} {}", cache.level, binary_bytes(cache.size_bytes));
    if (many > 1) name = fmt::format("{} x {}", many, name);
    caches.push_back({name, static_cast<double>(cache.size_bytes) * static_cast<double>(many)});
  }
  std::sort(caches.begin(), caches.end(),
            [](const SeenCache& a, const SeenCache& b) { return a.capacity_bytes < b.capacity_bytes; });
  return caches;
}

std::string level_name(double low_bytes, double high_bytes, const std::vector<SeenCache>& caches) {
  if (caches.empty()) return "the node's caches were not recorded";
  // The last sizes before a knee spill over, and the first ones still fit: the middle decides.
  const double middle = std::sqrt(low_bytes * high_bytes);
  for (const SeenCache& cache : caches) {
    if (middle <= cache.capacity_bytes) return "the CPU has " + cache.name;
  }
  return "beyond the caches: memory";
}

}  // namespace

std::vector<Sweep> find_sweeps(const RunView& view, std::size_t least) {
  std::vector<Bucket> buckets;
  for (const ResultRecord& result : view.results) {
    if (result.outcome != Outcome::kOk || !result.time || !(result.time->median > 0)) continue;
    const auto problem = parse_problem(result.problem);
    if (!problem) continue;
    for (auto& [bucket, x] : places_of(result, *problem)) {
      auto found =
          std::find_if(buckets.begin(), buckets.end(), [&key = bucket.key](const Bucket& each) { return each.key == key; });
      if (found == buckets.end()) found = buckets.insert(buckets.end(), bucket);
      found->readings.push_back({x, &result});
    }
  }
  std::vector<Sweep> sweeps;
  for (Bucket& bucket : buckets) {
    if (auto sweep = sweep_of(std::move(bucket), least)) sweeps.push_back(std::move(*sweep));
  }
  return sweeps;
}

std::vector<std::string> level_texts(const Sweep& sweep, const topology::Node& node, const Style& style) {
  std::vector<std::string> texts;
  if (!sweep.of_memory) return texts;
  const std::vector<SeenCache> caches = caches_for(node, sweep.threads);
  for (const stats::CurveLevel& level : stats::curve_levels(sweep.points)) {
    const double low = sweep.points[level.first].x;
    const double high = sweep.points[level.last].x;
    const auto bytes = [](double value) { return binary_bytes(static_cast<std::uint64_t>(std::llround(value))); };
    texts.push_back(fmt::format("{} to {}: {} ({} to {} over {} sizes); {}", bytes(low), bytes(high),
                                si(level.value, sweep.unit, style, 3), si(level.low, sweep.unit, style, 3),
                                si(level.high, sweep.unit, style, 3), level.last - level.first + 1,
                                level_name(low, high, caches)));
  }
  return texts;
}

}  // namespace hbmark::cli
