#include "bench/run/recorder.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "bench/kernels/kernel.h"
#include "bench/run/planner.h"
#include "results/store/store.h"

namespace hbmark {

Recorder::Recorder(const RunRequest& request, Store& store, const RunObserver& observer)
    : request_(request),
      store_(store),
      observer_(observer),
      run_(request.run),
      ceilings_(request.node != nullptr ? last_level_cache_bytes(*request.node) : 0) {}

Status Recorder::begin() {
  if (run_.plan.empty()) run_.plan = plan_to_json(request_.plan);
  if (run_.started_at.empty()) run_.started_at = utc_now();
  run_.state = "running";
  run_.finished_at.reset();
  if (auto saved = store_.save_run(run_); !saved) return saved;
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
  return store_.save_run(run_);
}

Status Recorder::use_configuration(const PlannedCase& planned) {
  std::string& uuid = configurations_[{planned.backend, planned.device}];
  if (!uuid.empty()) return {};
  ConfigurationRecord configuration;
  configuration.node_uuid = run_.node_uuid;
  configuration.backend = planned.backend;
  configuration.device = planned.device;
  configuration.thread_pus = request_.placement.thread_pus;
  configuration.memory_kind = "any";
  configuration.memory_policy = "first_touch";
  configuration.uuid =
      digest_uuid(fmt::format("hbmark configuration {} {} {} {} {} {} {}", configuration.node_uuid, configuration.backend,
                              configuration.device, fmt::join(configuration.thread_pus, ","), configuration.memory_kind,
                              configuration.memory_policy, configuration.replicas));
  if (auto saved = store_.save_configuration(configuration); !saved) return saved;
  uuid = configuration.uuid;
  return {};
}

void Recorder::complete(const PlannedCase& planned, ResultRecord& result) const {
  result.uuid = new_uuid();
  result.run_uuid = run_.uuid;
  const auto configuration = configurations_.find({planned.backend, planned.device});
  result.configuration_uuid = configuration == configurations_.end() ? "" : configuration->second;
  result.case_index = planned.index;
  result.problem = planned.problem;
  result.kernel = planned.problem.substr(0, planned.problem.find(':'));
  result.backend = planned.backend;
  result.device = planned.device;
  result.memory_kind = "any";
  result.threads = static_cast<std::int64_t>(request_.placement.thread_pus.size());
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
  complete(planned, result);
  if (const auto problem = parse_problem(planned.problem)) {
    ceilings_.apply(result, *problem, facts);
    ceilings_.learn(result, *problem);
  }
  std::vector<SampleRecord> records;
  records.reserve(samples.size());
  for (const double time_s : samples) {
    records.push_back({result.uuid, 0, static_cast<std::int64_t>(records.size()), time_s});
  }
  if (auto saved = store_.save_result(result, records); !saved) return saved;
  count(result);
  if (observer_.case_finished) observer_.case_finished(planned, result);
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

void Recorder::warn(const std::string& text) const {
  if (observer_.warning) observer_.warning(text);
}

}  // namespace hbmark
