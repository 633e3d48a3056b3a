#include "bench/run/replica_results.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <utility>

namespace hbmark {

namespace {

void add(std::optional<double>& to, const std::optional<double>& one) {
  if (to && one) *to += *one;
}

void add_text(std::string& to, const std::string& one) {
  if (one.empty() || to == one) return;
  to += (to.empty() ? "" : "; ") + one;
}

void add_flags(ResultRecord& to, const ResultRecord& one) {
  // How steady the samples are is said of those of all, which the first replica has.
  for (const char* flag : {"throttled", "spilled", "printed"}) {
    const bool has = std::find(one.flags.begin(), one.flags.end(), flag) != one.flags.end();
    if (has && std::find(to.flags.begin(), to.flags.end(), flag) == to.flags.end()) to.flags.emplace_back(flag);
  }
}

void add_checks(ResultRecord& to, const ResultRecord& one) {
  if (!one.verified) return;
  if (!to.verified) {
    to.verified = one.verified;
    return;
  }
  to.verified->checked += one.verified->checked;
  to.verified->max_rel_error = std::max(to.verified->max_rel_error, one.verified->max_rel_error);
}

// The mean of the shares: every replica has the same operands.
std::map<int, double> mean(const std::vector<Event>& told, std::map<int, double> ResultRecord::*shares) {
  std::map<int, double> all;
  const auto having =
      std::count_if(told.begin(), told.end(), [&](const Event& one) { return !(one.result.*shares).empty(); });
  for (const Event& one : told) {
    for (const auto& [node, share] : one.result.*shares) all[node] += share / static_cast<double>(having);
  }
  return all;
}

// The replica whose fault it is.
std::size_t culprit(const std::vector<Event>& told) {
  const auto is_own = [](const Event& one) {
    return one.result.outcome != Outcome::kOk && one.result.reason != kEndedByAnother;
  };
  const auto own = std::find_if(told.begin(), told.end(), is_own);
  if (own != told.end()) return static_cast<std::size_t>(own - told.begin());
  const auto any =
      std::find_if(told.begin(), told.end(), [](const Event& one) { return one.result.outcome != Outcome::kOk; });
  return any == told.end() ? 0 : static_cast<std::size_t>(any - told.begin());
}

}  // namespace

std::string replica_prefix(std::size_t replica, std::size_t replicas) {
  return replicas > 1 ? fmt::format("replica {} of {}: ", replica + 1, replicas) : std::string();
}

Event merge_replicas(std::vector<Event> told) {
  if (told.size() == 1) return std::move(told.front());
  const std::size_t at_fault = culprit(told);
  const auto pages = mean(told, &ResultRecord::pages);
  const auto worker_pages = mean(told, &ResultRecord::worker_pages);
  Event all = told.front();
  ResultRecord& result = all.result;
  for (std::size_t i = 1; i < told.size(); ++i) {
    const ResultRecord& one = told[i].result;
    add(result.flop, one.flop);
    add(result.bytes, one.bytes);
    add_checks(result, one);
    add_flags(result, one);
    add_text(result.implementation, one.implementation);
    result.thread_pus.insert(result.thread_pus.end(), one.thread_pus.begin(), one.thread_pus.end());
    if (one.huge_pages && result.huge_pages) result.huge_pages = std::min(*result.huge_pages, *one.huge_pages);
    if (one.reorder_s && result.reorder_s) result.reorder_s = std::max(*result.reorder_s, *one.reorder_s);
    result.wall_s = std::max(result.wall_s, one.wall_s);
    all.facts.working_set_bytes += told[i].facts.working_set_bytes;
  }
  result.pages = pages;
  result.worker_pages = worker_pages;
  const ResultRecord& fault = told[at_fault].result;
  if (fault.outcome != Outcome::kOk) {
    result.outcome = fault.outcome;
    result.reason = replica_prefix(at_fault, told.size()) + fault.reason;
    result.time.reset();
    result.replica_times_s.clear();
    result.replica_alone_s.reset();
    all.samples.clear();
    if (at_fault != 0) result.log = fault.log;
    if (result.outcome == Outcome::kNotRun) result.outcome = Outcome::kFailed;  // ended by one that never told of it
  }
  return all;
}

}  // namespace hbmark
