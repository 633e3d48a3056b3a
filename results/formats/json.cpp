// hbmark.result/1 and hbmark.run/1.
//
// Absent and empty text are null. JSON has no NaN and no infinities: they are the strings "NaN", "Infinity" and "-Infinity",
// as in the JSON mapping of Protocol Buffers, so that reading a line back gives the record that was written.
#include <cmath>
#include <nlohmann/json.hpp>

#include "results/formats/format.h"
#include "results/formats/table.h"
#include "results/formats/text.h"

namespace hbmark {
namespace {

using nlohmann::json;
using text_formats::rate_per_s;
using text_formats::s_per_load;
using text_formats::valid_utf8;

json number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return value;
}
json number(const std::optional<double>& value) { return value ? number(*value) : json(nullptr); }
json text(const std::string& value) { return value.empty() ? json(nullptr) : json(valid_utf8(value)); }

json time_to_json(const TimeSummary& time, const std::vector<SampleRecord>* samples) {
  json object = {{"median", number(time.median)},
                 {"ci_low", number(time.ci_low)},
                 {"ci_high", number(time.ci_high)},
                 {"min", number(time.min)},
                 {"samples", time.samples},
                 {"calls_per_sample", time.calls_per_sample},
                 {"interval_method", text(time.interval_method)}};
  if (samples != nullptr) {
    json values = json::array();
    json launches = json::array();
    for (const SampleRecord& sample : *samples) {
      values.push_back(number(sample.time_s));
      launches.push_back(sample.launch);
    }
    object["values"] = std::move(values);
    object["value_launches"] = std::move(launches);
  }
  return object;
}

json verified_to_json(const Verification& verified) {
  return {{"checked", verified.checked},
          {"max_rel_error", number(verified.max_rel_error)},
          {"tolerance", number(verified.tolerance)},
          {"method", text(verified.method)}};
}

json pages_to_json(const std::map<int, double>& pages) {
  if (pages.empty()) return nullptr;
  json object = json::object();
  for (const auto& [node, share] : pages) object[std::to_string(node)] = number(share);
  return object;
}

json flags_to_json(const std::vector<std::string>& flags) {
  json array = json::array();
  for (const std::string& flag : flags) array.push_back(valid_utf8(flag));
  return array;
}

}  // namespace

json result_to_json(const ResultRecord& result, const std::vector<SampleRecord>* samples) {
  return {{"schema", "hbmark.result/1"},
          {"run", text(result.run_uuid)},
          {"uuid", text(result.uuid)},
          {"configuration", text(result.configuration_uuid)},
          {"case_index", result.case_index},
          {"problem", text(result.problem)},
          {"kernel", text(result.kernel)},
          {"backend", text(result.backend)},
          {"device", text(result.device)},
          {"memory", text(result.memory_kind)},
          {"threads", result.threads},
          {"replicas", result.replicas},
          {"launches", result.launches},
          {"outcome", outcome_name(result.outcome)},
          {"reason", text(result.reason)},
          {"flags", flags_to_json(result.flags)},
          {"time_s", result.time ? time_to_json(*result.time, samples) : json(nullptr)},
          {"flop", number(result.flop)},
          {"bytes", number(result.bytes)},
          {"flop_per_s", number(rate_per_s(result, result.flop))},
          {"bytes_per_s", number(rate_per_s(result, result.bytes))},
          {"loads", number(result.loads)},
          {"s_per_load", number(s_per_load(result))},
          {"ceiling_flop_per_s", number(result.ceiling_flop_per_s)},
          {"ceiling_bytes_per_s", number(result.ceiling_bytes_per_s)},
          {"ceiling_fraction", number(result.ceiling_fraction)},
          {"implementation", text(result.implementation)},
          {"isa", text(result.isa)},
          {"library", text(result.library)},
          {"layout", text(result.layout)},
          {"verified", result.verified ? verified_to_json(*result.verified) : json(nullptr)},
          {"pages", pages_to_json(result.pages)},
          {"worker_pages", pages_to_json(result.worker_pages)},
          {"huge_pages", number(result.huge_pages)},
          {"replica_times_s", pages_to_json(result.replica_times_s)},
          {"replica_alone_s", number(result.replica_alone_s)},
          {"replica_efficiency", number(replica_efficiency(result))},
          {"thread_pus", result.thread_pus.empty() ? json(nullptr) : json(result.thread_pus)},
          {"reorder_s", number(result.reorder_s)},
          {"energy_j", number(result.energy_j)},
          {"energy_scope", text(result.energy_scope)},
          {"energy_note", text(result.energy_note)},
          {"clock_before_hz", number(result.clock_before_hz)},
          {"clock_after_hz", number(result.clock_after_hz)},
          {"clock_note", text(result.clock_note)},
          {"wall_s", number(result.wall_s)},
          {"timed_s", number(result.timed_s)},
          {"stopped_by", text(result.stopped_by)},
          {"log", text(result.log)},
          {"finished_at", text(result.finished_at)}};
}

json run_to_json(const RunRecord& run) {
  // The plan is JSON itself; one that is not is shown as the text it is.
  json plan = run.plan.empty() ? json(nullptr) : json::parse(run.plan, nullptr, false);
  if (plan.is_discarded()) plan = valid_utf8(run.plan);
  return {{"schema", "hbmark.run/1"},
          {"run", text(run.uuid)},
          {"label", text(run.label)},
          {"command", text(run.command)},
          {"hbmark_version", text(run.hbmark_version)},
          {"suite", text(run.suite)},
          {"plan", std::move(plan)},
          {"node", text(run.node_uuid)},
          {"environment", text(run.environment_uuid)},
          {"started_at", text(run.started_at)},
          {"finished_at", run.finished_at ? text(*run.finished_at) : json(nullptr)},
          {"state", text(run.state)},
          {"boot_id", text(run.boot_id)}};
}

void text_formats::write_json(std::ostream& out, std::span<const ExportRow> rows) {
  for (const ExportRow& row : rows) {
    if (!out) return;
    json line = result_to_json(row.result, &row.samples);
    line["label"] = text(row.run.label);
    line["suite"] = text(row.run.suite);
    line["hbmark_version"] = text(row.run.hbmark_version);
    out << line.dump() << '\n';
  }
  out.flush();
}

}  // namespace hbmark
