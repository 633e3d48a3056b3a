// A comparison for programs.
#include <fmt/core.h>

#include <nlohmann/json.hpp>
#include <set>

#include "bench/cli/comparison_advice.h"
#include "bench/cli/comparison_render.h"
#include "bench/cli/csv_text.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

json number(const std::optional<double>& value) { return value ? json(*value) : json(nullptr); }
json text(const std::string& value) { return value.empty() ? json(nullptr) : json(value); }

std::size_t samples_of(const PairSide& side) {
  std::size_t samples = 0;
  for (const Measured* one : side.measured) {
    for (const auto& launch : one->launches) samples += launch.size();
  }
  return samples;
}

json fact(const PairSide& side, const char* name) {
  std::set<std::string> values;
  for (const Measured* one : side.measured) values.insert(one->facts.at(name));
  return values.size() == 1 ? text(*values.begin()) : values.empty() ? json(nullptr) : json(values);
}

json count(const PairSide& side, std::int64_t ResultRecord::*member) {
  std::set<std::int64_t> values;
  for (const Measured* one : side.measured) values.insert(one->result.*member);
  return values.size() == 1 ? json(*values.begin()) : values.empty() ? json(nullptr) : json(values);
}

json side_line(const PairSide& side, const std::string& name, const std::optional<double>& time_s, std::size_t launches) {
  std::set<std::string> runs;
  std::set<std::string> results;
  for (const Measured* one : side.measured) {
    runs.insert(one->run.uuid);
    results.insert(one->result.uuid);
  }
  json line = {{"name", name},
               {"runs", runs},
               {"results", results},
               {"median_s", number(time_s)},
               {"launches", launches},
               {"samples", samples_of(side)},
               {"reason", text(side.reason)}};
  for (const char* field : {"memory_mode", "cluster_mode", "memory", "backend", "device", "library", "label"})
    line[field] = fact(side, field);
  line["threads"] = count(side, &ResultRecord::threads);
  line["replicas"] = count(side, &ResultRecord::replicas);
  return line;
}

json row_line(const Comparison& comparison, const PairRow& row, double margin) {
  const stats::RatioEstimate& ratio = row.ratio;
  return {{"schema", "hbmark.comparison/1"},
          {"by", text(comparison.by)},
          {"problem", row.problem},
          {"kernel", row.kernel},
          {"configuration", row.configuration},
          {"bytes", number(row.bytes)},
          {"a", side_line(row.a, comparison.a_name, ratio.a_s, ratio.launches_a)},
          {"b", side_line(row.b, comparison.b_name, ratio.b_s, ratio.launches_b)},
          {"ratio",
           {{"value", number(ratio.ratio)},
            {"ci_low", number(ratio.low)},
            {"ci_high", number(ratio.high)},
            {"within_launch_low", number(ratio.within_low)},
            {"within_launch_high", number(ratio.within_high)},
            {"method", text(ratio.method)}}},
          {"p", number(ratio.p)},
          {"p_adjusted", number(row.adjusted_p)},
          {"equivalence", margin},
          {"verdict", stats::verdict_name(row.verdict)},
          {"reason", text(row.reason)},
          {"notes", row.notes}};
}

json summary_line(const Comparison& comparison, double margin) {
  json counts = json::object();
  for (const PairRow& row : comparison.rows) {
    const std::string name(stats::verdict_name(row.verdict));
    counts[name] = counts.value(name, 0) + 1;
  }
  json remarks = json::array();
  for (const Remark& remark : comparison.remarks) remarks.push_back({{"id", remark.id}, {"text", remark.text}});
  json placements = json::array();
  for (const Recipe& recipe : recipes(comparison))
    placements.push_back({{"side", recipe.side}, {"when", text(recipe.when)}, {"lines", recipe.lines}});
  return {{"schema", "hbmark.comparison_summary/1"},
          {"by", text(comparison.by)},
          {"a", comparison.a_name},
          {"b", comparison.b_name},
          {"verdicts", counts},
          {"warnings", remarks},
          {"advice", advice_lines(comparison, margin)},
          {"placements", placements}};
}

// Text of libraries may hold any bytes.
std::string dump(const json& line) { return line.dump(-1, ' ', false, json::error_handler_t::replace) + "\n"; }

std::string field(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

}  // namespace

std::string comparisons_as_json(const std::vector<Comparison>& all, double margin) {
  std::string out;
  for (const Comparison& comparison : all) {
    for (const PairRow& row : comparison.rows) out += dump(row_line(comparison, row, margin));
    out += dump(summary_line(comparison, margin));
  }
  return out;
}

std::string comparisons_as_csv(const std::vector<Comparison>& all, double margin) {
  std::string out = csv_row(
      {"by",         "a",          "b",           "problem",   "kernel",    "configuration", "bytes",        "a_median_s",
       "b_median_s", "a_launches", "b_launches",  "a_samples", "b_samples", "ratio",         "ratio_ci_low", "ratio_ci_high",
       "p",          "p_adjusted", "equivalence", "verdict",   "reason",    "notes"});
  for (const Comparison& comparison : all) {
    for (const PairRow& row : comparison.rows) {
      std::string notes;
      for (const std::string& note : row.notes) notes += (notes.empty() ? "" : "; ") + note;
      const stats::RatioEstimate& ratio = row.ratio;
      out += csv_row({comparison.by,
                      comparison.a_name,
                      comparison.b_name,
                      row.problem,
                      row.kernel,
                      row.configuration,
                      field(row.bytes),
                      field(ratio.a_s),
                      field(ratio.b_s),
                      fmt::format("{}", ratio.launches_a),
                      fmt::format("{}", ratio.launches_b),
                      fmt::format("{}", samples_of(row.a)),
                      fmt::format("{}", samples_of(row.b)),
                      field(ratio.ratio),
                      field(ratio.low),
                      field(ratio.high),
                      field(ratio.p),
                      field(row.adjusted_p),
                      fmt::format("{}", margin),
                      std::string(stats::verdict_name(row.verdict)),
                      row.reason,
                      notes});
    }
  }
  return out;
}

}  // namespace hbmark::cli
