#include <nlohmann/json.hpp>

#include "results/formats/format.h"
#include "results/formats/json_reader.h"

namespace hbmark {
namespace {

using nlohmann::json;
using text_formats::JsonReader;

void read_identity(JsonReader& reader, ResultRecord& result) {
  reader.read("run", result.run_uuid);
  reader.read("uuid", result.uuid);
  reader.read("configuration", result.configuration_uuid);
  reader.read("case_index", result.case_index);
  reader.require("problem", result.problem);
  reader.read("kernel", result.kernel);
  reader.read("backend", result.backend);
  reader.read("device", result.device);
  reader.read("memory", result.memory_kind);
  reader.read("threads", result.threads);
  reader.read("replicas", result.replicas);
  reader.read("launches", result.launches);
  std::string outcome;
  reader.require("outcome", outcome);
  if (const auto known = outcome_from_name(outcome)) {
    result.outcome = *known;
  } else {
    reader.complain("outcome", outcome, "one of ok, unsupported, unavailable, skipped ...");
  }
  reader.read("reason", result.reason);
  reader.read("flags", result.flags);
}

void read_time(JsonReader& reader, ResultRecord& result, std::string& complaint) {
  const json* object = reader.object("time_s");
  if (object == nullptr) return;
  JsonReader inner(*object, "time_s.", complaint);
  TimeSummary& time = result.time.emplace();
  inner.read("median", time.median);
  inner.read("ci_low", time.ci_low);
  inner.read("ci_high", time.ci_high);
  inner.read("min", time.min);
  inner.read("samples", time.samples);
  inner.read("calls_per_sample", time.calls_per_sample);
  inner.read("interval_method", time.interval_method);
}

void read_verified(JsonReader& reader, ResultRecord& result, std::string& complaint) {
  const json* object = reader.object("verified");
  if (object == nullptr) return;
  JsonReader inner(*object, "verified.", complaint);
  Verification& verified = result.verified.emplace();
  inner.read("checked", verified.checked);
  inner.read("max_rel_error", verified.max_rel_error);
  inner.read("tolerance", verified.tolerance);
  inner.read("method", verified.method);
}

void read_figures(JsonReader& reader, ResultRecord& result) {
  reader.read("flop", result.flop);
  reader.read("bytes", result.bytes);
  reader.read("loads", result.loads);
  reader.read("ceiling_flop_per_s", result.ceiling_flop_per_s);
  reader.read("ceiling_bytes_per_s", result.ceiling_bytes_per_s);
  reader.read("ceiling_fraction", result.ceiling_fraction);
  reader.read("implementation", result.implementation);
  reader.read("isa", result.isa);
  reader.read("library", result.library);
  reader.read("layout", result.layout);
  reader.read("pages", result.pages);
  reader.read("worker_pages", result.worker_pages);
  reader.read("huge_pages", result.huge_pages);
  reader.read("replica_times_s", result.replica_times_s);
  reader.read("replica_alone_s", result.replica_alone_s);
  reader.read("thread_pus", result.thread_pus);
  reader.read("reorder_s", result.reorder_s);
  reader.read("energy_j", result.energy_j);
  reader.read("energy_scope", result.energy_scope);
  reader.read("energy_note", result.energy_note);
  reader.read("clock_before_hz", result.clock_before_hz);
  reader.read("clock_after_hz", result.clock_after_hz);
  reader.read("clock_note", result.clock_note);
  reader.read("wall_s", result.wall_s);
  reader.read("timed_s", result.timed_s);
  reader.read("stopped_by", result.stopped_by);
  reader.read("log", result.log);
  reader.read("finished_at", result.finished_at);
}

}  // namespace

Result<ResultRecord> result_from_json(const json& line) {
  const char* what = "cannot read a result";
  const char* next = "give a line as `hbmark export --format json` writes it";
  if (!line.is_object()) return usage_error(what, "the line is no JSON object", next);
  std::string complaint;
  JsonReader reader(line, "", complaint);
  std::string schema;
  reader.require("schema", schema);
  if (complaint.empty() && schema != "hbmark.result/1") {
    return usage_error(what, "its schema is '" + schema.substr(0, 60) + "', hbmark.result/1 was expected", next);
  }
  ResultRecord result;
  read_identity(reader, result);
  read_time(reader, result, complaint);
  read_figures(reader, result);
  read_verified(reader, result, complaint);
  if (!complaint.empty()) return usage_error(what, complaint, next);
  return result;
}

}  // namespace hbmark
