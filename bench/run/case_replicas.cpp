// The part of a case that replicas do together: they meet, the first one measures, the others do as it says.
#include <fmt/format.h>

#include <algorithm>

#include "bench/measure/sampler.h"
#include "bench/run/case_runner.h"
#include "bench/run/case_work.h"
#include "bench/run/host_services.h"
#include "bench/run/replica_results.h"
#include "bench/run/replica_window.h"
#include "results/stats/summary.h"

namespace hbmark {

namespace {

// Of the budget, for the first replica by itself: it needs no narrow interval, the efficiency is no ranked figure.
constexpr double kAloneShare = 0.1;
// Of runs side by side for one sample. The few microseconds of a single short call (the first calls, that count how many a
// sample takes) are over before a replica that lost its core for a moment has begun: such a run has no rate, and is
// repeated.
constexpr int kMostAttempts = 20;

tl::unexpected<CaseEnd> ended_by_others() {
  return case_ends(Outcome::kNotRun, cancel_requested() ? "the run was interrupted" : kEndedByAnother);
}

}  // namespace

Step<void> CaseRunner::meet_replicas() {
  if (team_ == nullptr || team_->meet()) return {};
  return ended_by_others();
}

Step<std::int64_t> CaseRunner::follow_first(std::int64_t said) {
  const auto heard = team_->follow_first(said);
  if (heard) return *heard;
  return ended_by_others();
}

// Each has searched while the others did too; the choice of the first holds for all, so that all run the same.
Step<void> CaseRunner::agree_on_candidate(Work& work, std::uint32_t& candidate) {
  if (team_ == nullptr) return {};
  const auto chosen = follow_first(candidate);
  if (!chosen) return tl::make_unexpected(chosen.error());
  if (static_cast<std::uint32_t>(*chosen) == candidate) return {};
  candidate = static_cast<std::uint32_t>(*chosen);
  return work.bound->select(candidate);
}

// For the first replica: so many calls on every replica; the seconds are those of the rate of all.
RunCalls CaseRunner::calls_of_all(Work& work, std::optional<CaseEnd>& end, ReplicaRates& rates) {
  const RunCalls own = calls_of(work, end);
  return [this, own, &end, &rates](std::int64_t calls) -> Result<double> {
    const auto given_up = [&] {
      if (!end) end = ended_by_others().value();
      return fail(ErrorKind::kEnvironment, "sampling ended", end->reason, "");
    };
    for (int attempt = 1;; ++attempt) {
      if (!team_->follow_first(calls)) return given_up();
      if (!team_->run_together(calls, own)) return given_up();
      const auto stamps = team_->stamps();
      for (const auto& runs : stamps) {
        for (const ReplicaStamp& run : runs) rates.calls += static_cast<double>(run.calls);
      }
      const auto window = common_window(stamps);
      if (!window && attempt < kMostAttempts) continue;
      if (!window) return tl::make_unexpected(window.error());
      rates.call_s.resize(window->calls.size());
      for (std::size_t i = 0; i < window->calls.size(); ++i) {
        rates.call_s[i].push_back(window->window_s / window->calls[i]);
      }
      return window->call_s() * static_cast<double>(calls);
    }
  };
}

Step<Measurement> CaseRunner::sample_together(Work& work, const SamplingOptions& wanted, Event& event) {
  listener_.phase("measure one replica");
  SamplingOptions options = wanted;
  options.budget_s = kAloneShare * wanted.budget_s;
  const auto alone = sample_alone(work, options, listener_.progress);
  if (!alone) return tl::make_unexpected(alone.error());
  event.result.replica_alone_s = alone->summary.median;

  listener_.phase("measure");
  options.budget_s = wanted.budget_s - options.budget_s;
  options.device_clock = true;  // the time is made of the replicas' stamps, not taken round the call
  std::optional<CaseEnd> end;
  ReplicaRates rates;
  const RunCalls run_calls = calls_of_all(work, end, rates);
  auto measured = sample(run_calls, options, listener_.progress);
  if (end) return tl::make_unexpected(*end);
  if (!measured) return case_ends(Outcome::kFailed, fmt::format("{}: {}", measured.error().what, measured.error().why));
  if (const auto over = follow_first(0); !over) return tl::make_unexpected(over.error());
  // Windows of the warm-up come first: the samples' are the last.
  for (std::size_t i = 0; i < rates.call_s.size(); ++i) {
    std::vector<double>& windows = rates.call_s[i];
    const std::size_t sampled = std::min(windows.size(), measured->samples.size());
    event.result.replica_times_s[static_cast<int>(i)] = stats::median(std::span(windows).last(sampled));
  }
  measured->timed_s += alone->timed_s;
  return std::move(*measured);
}

// For every other replica: runs what the first says until it says 0. `event`: takes what this one saw of its own calls,
// which stands for a time of its own and is not the case's; null: nobody asks.
Step<void> CaseRunner::serve(Work& work, Event* event) {
  std::optional<CaseEnd> end;
  const RunCalls own = calls_of(work, end);
  std::vector<double> samples;
  std::int64_t last_calls = 1;
  for (;;) {
    const auto calls = follow_first();
    if (!calls) return tl::make_unexpected(calls.error());
    if (*calls == 0) break;
    const Result<double> elapsed_s = team_->run_together(*calls, own);
    if (end) return tl::make_unexpected(*end);
    if (!elapsed_s) return ended_by_others();
    last_calls = *calls;
    samples.push_back(*elapsed_s / static_cast<double>(*calls));
  }
  if (event == nullptr) return {};
  if (samples.empty()) return case_ends(Outcome::kFailed, "the first replica measured without the others");
  event->result.time = stats::time_summary(samples, stats::median_interval(samples), last_calls);
  return {};
}

}  // namespace hbmark
