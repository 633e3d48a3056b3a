// The verdict for programs.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <nlohmann/json.hpp>

#include "bench/cli/csv_text.h"
#include "bench/cli/render_node.h"
#include "bench/cli/render_verdict.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

template <class T>
json or_null(const std::optional<T>& value) {
  return value ? json(*value) : json();
}

json text_or_null(const std::string& text) { return text.empty() ? json() : json(text); }

std::string line(const RunView& view, std::string_view what, json members) {
  members["schema"] = "hbmark.summary/1";
  members["run"] = view.run.uuid;
  members["what"] = what;
  return members.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

std::string_view rate_key(std::string_view unit) {
  if (unit == "load/s") return "loads_per_s";
  return unit == "FLOP/s" ? "flop_per_s" : "bytes_per_s";
}

json class_members(const ClassVerdict& each) {
  json members = {{"class", each.name},
                  {"kernel", each.kernel},
                  {"cases", each.cases},
                  {"ok", each.ok},
                  {"best", nullptr},
                  {"ceiling_fraction", nullptr},
                  {"nominal_fraction", or_null(each.of_nominal)},
                  {"slowest", nullptr}};
  const auto rate = each.fastest == nullptr ? std::nullopt : rate_of(*each.fastest);
  if (rate) {
    const TimeSummary& time = *each.fastest->time;
    members["best"] = {{"problem", each.fastest->problem},
                       {rate_key(rate->unit), rate->per_s},
                       {"time_s",
                        {{"median", time.median},
                         {"ci_low", or_null(time.ci_low)},
                         {"ci_high", or_null(time.ci_high)},
                         {"samples", time.samples},
                         {"interval_method", text_or_null(time.interval_method)}}}};
  }
  if (each.of_ceiling) {
    members["ceiling_fraction"] = {{"median", each.of_ceiling->median},
                                   {"low", each.of_ceiling->low},
                                   {"high", each.of_ceiling->high},
                                   {"cases", each.of_ceiling->cases}};
    members["slowest"] = {
        {"problem", each.slowest->problem}, {"ceiling_fraction", each.of_ceiling->low}, {"likely_reasons", each.reasons}};
  }
  return members;
}

std::string number(const std::optional<double>& value) { return value ? fmt::format("{}", *value) : ""; }

std::vector<std::string> class_fields(const ClassVerdict& each) {
  std::vector<std::string> fields = {"class", each.name, fmt::format("{}", each.cases), fmt::format("{}", each.ok)};
  const auto rate = each.fastest == nullptr ? std::nullopt : rate_of(*each.fastest);
  if (rate) {
    const TimeSummary& time = *each.fastest->time;
    for (std::string& field :
         std::vector<std::string>{each.fastest->problem, fmt::format("{}", rate->per_s), rate->unit, number(time.median),
                                  number(time.ci_low), number(time.ci_high), fmt::format("{}", time.samples)}) {
      fields.push_back(std::move(field));
    }
  } else {
    fields.insert(fields.end(), 7, "");
  }
  fields.push_back(each.of_ceiling ? number(each.of_ceiling->median) : "");
  fields.push_back(each.of_ceiling ? number(each.of_ceiling->low) : "");
  fields.push_back(each.of_ceiling ? number(each.of_ceiling->high) : "");
  fields.push_back(number(each.of_nominal));
  fields.push_back(each.slowest == nullptr ? "" : each.slowest->problem);
  fields.push_back(fmt::format("{}", fmt::join(each.reasons, "; ")));
  return fields;
}

const std::vector<std::string> kColumns = {"what",
                                           "name",
                                           "cases",
                                           "ok",
                                           "best_problem",
                                           "best_per_s",
                                           "unit",
                                           "median_s",
                                           "ci_low_s",
                                           "ci_high_s",
                                           "samples",
                                           "ceiling_median",
                                           "ceiling_low",
                                           "ceiling_high",
                                           "nominal_fraction",
                                           "slowest_problem",
                                           "text"};

std::string text_row(std::string_view what, const std::string& name, const std::string& text) {
  std::vector<std::string> fields(kColumns.size());
  fields.front() = what;
  fields[1] = name;
  fields.back() = text;
  return csv_row(fields);
}

}  // namespace

std::string verdict_as_json(const RunView& view, const Verdict& verdict, const Findings& findings,
                            const std::vector<MemoryLevel>& levels) {
  std::string out;
  for (const ClassVerdict& each : verdict.classes) out += line(view, "class", class_members(each));
  for (const MemoryLevel& level : levels) out += line(view, "level", {{"sweep", level.sweep}, {"text", level.text}});
  for (const topology::Finding& finding : findings.list) {
    out += line(view, "finding",
                {{"id", finding.id},
                 {"severity", severity_word(finding.severity)},
                 {"observed", finding.observed},
                 {"advice", text_or_null(finding.advice)}});
  }
  out += line(view, "findings", {{"text", findings.when}});
  for (const Gap& gap : verdict.gaps)
    out += line(view, "not_measured", {{"text", gap.what}, {"why", text_or_null(gap.why)}});
  return out + line(view, "nominal", {{"text", verdict.nominal}});
}

std::string verdict_as_csv(const RunView&, const Verdict& verdict, const Findings& findings,
                           const std::vector<MemoryLevel>& levels) {
  std::string out = csv_row(kColumns);
  for (const ClassVerdict& each : verdict.classes) out += csv_row(class_fields(each));
  for (const MemoryLevel& level : levels) out += text_row("level", level.sweep, level.text);
  for (const topology::Finding& finding : findings.list) {
    out += text_row("finding", finding.id,
                    fmt::format("{}: {}{}{}", severity_word(finding.severity), finding.observed,
                                finding.advice.empty() ? "" : "; ", finding.advice));
  }
  out += text_row("findings", "", findings.when);
  for (const std::string& doubt : verdict.doubts) out += text_row("doubt", "", doubt);
  for (const Gap& gap : verdict.gaps) out += text_row("not_measured", gap.what, gap.why);
  return out + text_row("nominal", "", verdict.nominal);
}

}  // namespace hbmark::cli
