// One list of columns a record, from which the INSERT, the binding and the reading all come: they cannot drift apart.
//
// A visitor is called as visitor(column name, member), or visitor.group(optional, key column, [](member, visitor) {...}) for
// a struct that is there or not as a whole (its key column is NULL when not). Plain templates, thread-safe as their
// statement. Internal to results/store.
#pragma once

namespace hbmark::store {

void node_columns(auto& visit, auto& node) {
  visit("uuid", node.uuid);
  visit("hostname", node.hostname);
  visit("description", node.description);
}

void environment_columns(auto& visit, auto& environment) {
  visit("uuid", environment.uuid);
  visit("environment_values", environment.values);
}

void configuration_columns(auto& visit, auto& configuration) {
  visit("uuid", configuration.uuid);
  visit("node_uuid", configuration.node_uuid);
  visit("backend", configuration.backend);
  visit("device", configuration.device);
  visit("thread_pus", configuration.thread_pus);
  visit("memory_kind", configuration.memory_kind);
  visit("memory_policy", configuration.memory_policy);
  visit("replicas", configuration.replicas);
  visit("cache", configuration.cache);
}

void run_columns(auto& visit, auto& run) {
  visit("uuid", run.uuid);
  visit("label", run.label);
  visit("command", run.command);
  visit("hbmark_version", run.hbmark_version);
  visit("suite", run.suite);
  visit("plan", run.plan);
  visit("node_uuid", run.node_uuid);
  visit("environment_uuid", run.environment_uuid);
  visit("started_at", run.started_at);
  visit("finished_at", run.finished_at);
  visit("state", run.state);
  visit("boot_id", run.boot_id);
}

void result_columns(auto& visit, auto& result) {
  visit("uuid", result.uuid);
  visit("run_uuid", result.run_uuid);
  visit.empty_is_null("configuration_uuid", result.configuration_uuid);
  visit("case_index", result.case_index);
  visit("problem", result.problem);
  visit("kernel", result.kernel);
  visit("backend", result.backend);
  visit("device", result.device);
  visit("memory_kind", result.memory_kind);
  visit("threads", result.threads);
  visit("replicas", result.replicas);
  visit("launches", result.launches);
  visit("outcome", result.outcome);
  visit("reason", result.reason);
  visit("flags", result.flags);
  visit.group(result.time, "time_samples", [](auto& time, auto& inner) {
    inner("time_median_s", time.median);
    inner("time_ci_low_s", time.ci_low);
    inner("time_ci_high_s", time.ci_high);
    inner("time_min_s", time.min);
    inner("time_samples", time.samples);
    inner("time_calls_per_sample", time.calls_per_sample);
    inner("time_interval_method", time.interval_method);
  });
  visit("flop", result.flop);
  visit("bytes", result.bytes);
  visit("loads", result.loads);
  visit("ceiling_flop_per_s", result.ceiling_flop_per_s);
  visit("ceiling_bytes_per_s", result.ceiling_bytes_per_s);
  visit("ceiling_fraction", result.ceiling_fraction);
  visit("implementation", result.implementation);
  visit("isa", result.isa);
  visit("library", result.library);
  visit("layout", result.layout);
  visit.group(result.verified, "verified_checked", [](auto& verified, auto& inner) {
    inner("verified_checked", verified.checked);
    inner("verified_max_rel_error", verified.max_rel_error);
    inner("verified_tolerance", verified.tolerance);
    inner("verified_method", verified.method);
  });
  visit("pages", result.pages);
  visit("thread_pus", result.thread_pus);
  visit("reorder_s", result.reorder_s);
  visit("energy_j", result.energy_j);
  visit("wall_s", result.wall_s);
  visit("timed_s", result.timed_s);
  visit("stopped_by", result.stopped_by);
  visit("log", result.log);
  visit("finished_at", result.finished_at);
  visit("energy_scope", result.energy_scope);
  visit("energy_note", result.energy_note);
  visit("clock_before_hz", result.clock_before_hz);
  visit("clock_after_hz", result.clock_after_hz);
  visit("clock_note", result.clock_note);
  visit("worker_pages", result.worker_pages);
  visit("huge_pages", result.huge_pages);
  visit("replica_times_s", result.replica_times_s);
  visit("replica_alone_s", result.replica_alone_s);
}

}  // namespace hbmark::store
