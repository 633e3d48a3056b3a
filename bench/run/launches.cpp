#include "bench/run/launches.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <utility>

#include "results/stats/compare.h"

namespace hbmark {
namespace {

void append_samples(LaunchedResult& all, const std::vector<double>& samples, std::int64_t launch) {
  std::int64_t index = 0;
  for (const double time_s : samples) all.samples.push_back({all.result.uuid, launch, index++, time_s});
}

// What costs adds up, what was wrong with any is said of all; library, pages and check stay the first launch's.
void add_costs(ResultRecord& all, const ResultRecord& one) {
  all.wall_s += one.wall_s;
  all.timed_s += one.timed_s;
  all.finished_at = one.finished_at;
  all.clock_after_hz = one.clock_after_hz;
  for (const std::string& flag : one.flags) {
    if (std::find(all.flags.begin(), all.flags.end(), flag) == all.flags.end()) all.flags.push_back(flag);
  }
}

}  // namespace

LaunchedResult LaunchGatherer::add(const PlannedCase& planned, ResultRecord result, const std::vector<double>& samples) {
  const auto [found, is_first] = by_case_.try_emplace(planned.index);
  LaunchedResult& all = found->second;
  const std::int64_t launch = is_first ? 0 : all.result.launches;
  if (result.outcome != Outcome::kOk || !result.time) {
    if (!is_first) result.uuid = all.result.uuid;
    result.launches = launch + 1;
    if (!result.reason.empty()) result.reason = fmt::format("launch {} of {}: {}", launch + 1, launches_, result.reason);
    LaunchedResult failed{std::move(result), {}, true};
    failed.samples = std::move(all.samples);
    append_samples(failed, samples, launch);
    by_case_.erase(found);
    return failed;
  }
  const auto calls_per_sample = result.time->calls_per_sample;
  if (is_first) {
    all.result = std::move(result);
  } else {
    add_costs(all.result, result);
  }
  all.result.launches = launch + 1;
  append_samples(all, samples, launch);
  all.result.time = stats::launches_summary(stats::by_launch(all.samples), calls_per_sample);
  all.is_last = all.result.launches >= launches_;
  if (!all.is_last) return all;
  LaunchedResult last = std::move(all);
  by_case_.erase(found);
  return last;
}

std::int64_t LaunchGatherer::so_far(std::int64_t case_index) const {
  const auto found = by_case_.find(case_index);
  return found == by_case_.end() ? 0 : found->second.result.launches;
}

std::vector<std::vector<PlannedCase>> shuffled_round(std::vector<std::vector<PlannedCase>> rows, std::uint64_t seed,
                                                     std::int64_t round) {
  std::seed_seq mixed{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32U),
                      static_cast<std::uint32_t>(round)};
  std::mt19937_64 random(mixed);
  // Not std::shuffle: its order differs between libraries, and a stored seed has to give the same one everywhere.
  for (std::size_t left = rows.size(); left > 1; --left) std::swap(rows[left - 1], rows[random() % left]);
  return rows;
}

}  // namespace hbmark
