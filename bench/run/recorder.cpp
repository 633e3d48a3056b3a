#include "bench/run/recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <thread>

#include "bench/kernels/kernel.h"
#include "bench/run/planner.h"
#include "results/store/store.h"

namespace hbmark {

namespace {

constexpr double kFirstPauseS = 0.2;
constexpr double kLongestPauseS = 5;
constexpr double kAfterInterruptionS = 3;  // who interrupts waits for the prompt, and would not lose a result either
constexpr auto kTick = std::chrono::milliseconds(200);

}  // namespace

Recorder::Recorder(const RunRequest& request, Store& store, const RunObserver& observer, std::function<bool()> interrupted)
    : request_(request),
      store_(store),
      observer_(observer),
      interrupted_(std::move(interrupted)),
      run_(request.run),
      ceilings_(request.node != nullptr ? last_level_cache_bytes(*request.node) : 0),
      launches_(request.plan.launches) {}

// Each attempt waits for the lock by itself (Store), so there is a pause only for others' sake. The worker goes on meanwhile
// until the pipe to us is full, and measures nothing wrong.
Status Recorder::persist(const char* kept, const std::function<Status()>& save) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto waited_s = [&] { return std::chrono::duration<double>(Clock::now() - start).count(); };
  double pause_s = kFirstPauseS;
  std::optional<double> interrupted_s;
  for (bool told = false;; told = true) {
    Status saved = save();
    const bool locked = !saved && saved.error().kind == ErrorKind::kBusy;
    if (interrupted_() && !interrupted_s) interrupted_s = waited_s();
    const bool no_longer = interrupted_s && waited_s() - *interrupted_s > kAfterInterruptionS;
    if (!locked || gave_up_ || no_longer || waited_s() > request_.lock_patience_s) {
      gave_up_ = locked;  // what ends the run after it is tried once, not waited for as long again
      if (saved && told) warn(fmt::format("the store is free again after {:.0f} s, and {} is saved", waited_s(), kept));
      return saved;
    }
    if (!told) {
      warn(fmt::format("{}: {}; {} is kept in memory and hbmark goes on trying for {:.0f} s", saved.error().what,
                       saved.error().why, kept, request_.lock_patience_s));
    }
    const auto until = Clock::now() + std::chrono::duration<double>(pause_s);
    do {
      std::this_thread::sleep_for(kTick);
      tick();
    } while (Clock::now() < until && !interrupted_());
    pause_s = std::min(2 * pause_s, kLongestPauseS);
  }
}

Status Recorder::begin() {
  if (run_.plan.empty()) run_.plan = plan_to_json(request_.plan);
  if (run_.started_at.empty()) run_.started_at = utc_now();
  run_.state = "running";
  run_.finished_at.reset();
  if (auto saved = persist("the run", [&] { return store_.save_run(run_); }); !saved) return saved;
  const auto earlier = store_.results(run_.uuid);
  if (!earlier) return tl::make_unexpected(earlier.error());
  for (const ResultRecord& result : *earlier) {
    if (const auto problem = parse_problem(result.problem)) ceilings_.learn(result, *problem);
  }
  return {};
}

Status Recorder::end(const std::string& state) {
  run_.state = state;
  if (state == "finished") run_.finished_at = utc_now();
  return persist("the end of the run", [&] { return store_.save_run(run_); });
}

Recorder::ConfigurationKey Recorder::key_of(const PlannedCase& planned) const {
  return {planned.backend, planned.device, planned.placement, runs_cold(request_.plan, planned.problem)};
}

Status Recorder::use_configuration(const PlannedCase& planned) {
  const bool cold = runs_cold(request_.plan, planned.problem);
  std::string& uuid = configurations_[key_of(planned)];
  if (!uuid.empty()) return {};
  const topology::Placement& placement = request_.placements.at(planned.placement);
  ConfigurationRecord configuration;
  configuration.node_uuid = run_.node_uuid;
  configuration.backend = planned.backend;
  configuration.device = planned.device;
  configuration.thread_pus = placement.thread_pus;
  configuration.replicas = request_.plan.replicas;
  configuration.memory_kind = placement.memory.kind;
  configuration.memory_policy = topology::policy_text(placement.memory);
  // Advised huge pages are what there is without the option; other pages are another configuration.
  const std::string& pages = request_.plan.pages;
  if (pages == "4k" || pages == "2m") configuration.memory_policy += fmt::format(", {} pages", pages);
  if (cold) configuration.cache = "cold";
  configuration.uuid =
      digest_uuid(fmt::format("hbmark configuration {} {} {} {} {} {} {}{}", configuration.node_uuid, configuration.backend,
                              configuration.device, fmt::join(configuration.thread_pus, ","), configuration.memory_kind,
                              configuration.memory_policy, configuration.replicas, cold ? " cold" : ""));
  if (auto saved = persist("the configuration", [&] { return store_.save_configuration(configuration); }); !saved)
    return saved;
  uuid = configuration.uuid;
  return {};
}

void Recorder::complete(const PlannedCase& planned, ResultRecord& result) const {
  result.uuid = new_uuid();
  result.run_uuid = run_.uuid;
  const auto configuration = configurations_.find(key_of(planned));
  result.configuration_uuid = configuration == configurations_.end() ? "" : configuration->second;
  result.case_index = planned.index;
  result.problem = planned.problem;
  result.kernel = planned.problem.substr(0, planned.problem.find(':'));
  result.backend = planned.backend;
  result.device = planned.device;
  const topology::Placement& placement = request_.placements.at(planned.placement);
  result.memory_kind = topology::memory_label(placement.memory);
  result.replicas = request_.plan.replicas;
  result.threads = static_cast<std::int64_t>(placement.thread_pus.size()) / std::max<std::int64_t>(result.replicas, 1);
  result.finished_at = utc_now();
}

void Recorder::count(const ResultRecord& result) {
  summary_.timed_s += result.timed_s;
  if (is_failure(result.outcome)) ++summary_.failed;
  if (result.outcome == Outcome::kOk) ++summary_.ok;
  if (result.outcome == Outcome::kUnsupported) ++summary_.unsupported;
  if (result.outcome == Outcome::kUnavailable) ++summary_.unavailable;
  if (result.outcome == Outcome::kSkipped) ++summary_.skipped;
  if (result.outcome == Outcome::kNotRun) ++summary_.not_run;
}

Status Recorder::finish(const PlannedCase& planned, ResultRecord result, const std::vector<double>& samples,
                        const CaseFacts& facts) {
  const bool is_launched = request_.plan.launches > 1 && !planned.decided && result.outcome != Outcome::kNotRun;
  complete(planned, result);
  LaunchedResult whole;
  if (is_launched) {
    whole = launches_.add(planned, std::move(result), samples);
  } else {
    whole = {std::move(result), {}, true};
    for (const double time_s : samples) {
      whole.samples.push_back({whole.result.uuid, 0, static_cast<std::int64_t>(whole.samples.size()), time_s});
    }
  }
  if (const auto problem = parse_problem(planned.problem)) {
    ceilings_.apply(whole.result, *problem, facts);
    ceilings_.learn(whole.result, *problem);
  }
  if (auto saved = persist("the result", [&] { return store_.save_result(whole.result, whole.samples); }); !saved) {
    saved.error().next += fmt::format("; then continue the run with --resume {}", run_.uuid.substr(0, 8));
    return saved;
  }
  if (!whole.is_last) return {};
  over_.insert(planned.index);
  count(whole.result);
  if (observer_.case_finished) observer_.case_finished(planned, whole.result);
  return {};
}

Status Recorder::finish(const PlannedCase& planned, Outcome outcome, std::string reason) {
  ResultRecord result;
  result.outcome = outcome;
  result.reason = std::move(reason);
  return finish(planned, std::move(result), {}, {});
}

void Recorder::started(const PlannedCase& planned) const {
  if (observer_.case_started) observer_.case_started(planned);
}

void Recorder::progress(const PlannedCase& planned, const std::string& phase, double fraction) const {
  if (observer_.case_progress) observer_.case_progress(planned, phase, fraction);
}

void Recorder::tick() const {
  if (observer_.tick) observer_.tick();
}

void Recorder::warn(const std::string& text) const {
  if (observer_.warning) observer_.warning(text);
}

}  // namespace hbmark
