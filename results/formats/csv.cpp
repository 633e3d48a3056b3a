// CSV as RFC 4180 has it: a header, CRLF, quotes only where needed. UTF-8; one row a result; absent is an empty field.
//
// Column names are part of the interface: add at the end, never rename. Lists are joined with ';', pages are "node=share".
#include <csv.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <string>

#include "results/formats/table.h"
#include "results/formats/text.h"

namespace hbmark {
namespace {

using text_formats::rate_per_s;

std::string number(double value) {
  if (std::isnan(value)) return "NaN";
  if (std::isinf(value)) return value > 0 ? "Infinity" : "-Infinity";
  return fmt::format("{}", value);  // the shortest text that reads back as the same double
}
std::string number(const std::optional<double>& value) { return value ? number(*value) : std::string(); }
std::string number(std::int64_t value) { return fmt::format("{}", value); }

std::string joined(const auto& list) { return fmt::format("{}", fmt::join(list, ";")); }

std::string pages(const std::map<int, double>& shares) {
  std::string text;
  for (const auto& [node, share] : shares) text += fmt::format("{}{}={}", text.empty() ? "" : ";", node, number(share));
  return text;
}

std::string of_time(const ResultRecord& result, auto member) { return result.time ? member(*result.time) : std::string(); }
std::string of_check(const ResultRecord& result, auto member) {
  return result.verified ? member(*result.verified) : std::string();
}

struct Column {
  const char* name;
  std::string (*value)(const ExportRow& row);
};

#define HBMARK_ROW [](const ExportRow& row) -> std::string
const Column kColumns[] = {{"run", HBMARK_ROW{return row.result.run_uuid;
}  // namespace
}  // namespace hbmark
, {"label", HBMARK_ROW{return row.run.label;
}
}
, {"suite", HBMARK_ROW{return row.run.suite;
}
}
, {"hbmark_version", HBMARK_ROW{return row.run.hbmark_version;
}
}
, {"node", HBMARK_ROW{return row.run.node_uuid;
}
}
, {"uuid", HBMARK_ROW{return row.result.uuid;
}
}
, {"configuration", HBMARK_ROW{return row.result.configuration_uuid;
}
}
, {"case_index", HBMARK_ROW{return number(row.result.case_index);
}
}
, {"problem", HBMARK_ROW{return row.result.problem;
}
}
, {"kernel", HBMARK_ROW{return row.result.kernel;
}
}
, {"backend", HBMARK_ROW{return row.result.backend;
}
}
, {"device", HBMARK_ROW{return row.result.device;
}
}
, {"memory", HBMARK_ROW{return row.result.memory_kind;
}
}
, {"threads", HBMARK_ROW{return number(row.result.threads);
}
}
, {"replicas", HBMARK_ROW{return number(row.result.replicas);
}
}
, {"launches", HBMARK_ROW{return number(row.result.launches);
}
}
, {"outcome", HBMARK_ROW{return std::string(outcome_name(row.result.outcome));
}
}
, {"reason", HBMARK_ROW{return row.result.reason;
}
}
, {"flags", HBMARK_ROW{return joined(row.result.flags);
}
}
, {"time_median_s", HBMARK_ROW{return of_time(row.result, [](auto& time) { return number(time.median); });
}
}
, {"time_ci_low_s", HBMARK_ROW{return of_time(row.result, [](auto& time) { return number(time.ci_low); });
}
}
, {"time_ci_high_s", HBMARK_ROW{return of_time(row.result, [](auto& time) { return number(time.ci_high); });
}
}
, {"time_min_s", HBMARK_ROW{return of_time(row.result, [](auto& time) { return number(time.min); });
}
}
, {"samples", HBMARK_ROW{return of_time(row.result, [](auto& time) { return number(time.samples); });
}
}
, {"calls_per_sample", HBMARK_ROW{return of_time(row.result, [](auto& time) { return number(time.calls_per_sample); });
}
}
, {"interval_method", HBMARK_ROW{return of_time(row.result, [](auto& time) { return time.interval_method; });
}
}
, {"flop", HBMARK_ROW{return number(row.result.flop);
}
}
, {"bytes", HBMARK_ROW{return number(row.result.bytes);
}
}
, {"flop_per_s", HBMARK_ROW{return number(rate_per_s(row.result, row.result.flop));
}
}
, {"bytes_per_s", HBMARK_ROW{return number(rate_per_s(row.result, row.result.bytes));
}
}
, {"ceiling_flop_per_s", HBMARK_ROW{return number(row.result.ceiling_flop_per_s);
}
}
, {"ceiling_bytes_per_s", HBMARK_ROW{return number(row.result.ceiling_bytes_per_s);
}
}
, {"ceiling_fraction", HBMARK_ROW{return number(row.result.ceiling_fraction);
}
}
, {"implementation", HBMARK_ROW{return row.result.implementation;
}
}
, {"isa", HBMARK_ROW{return row.result.isa;
}
}
, {"library", HBMARK_ROW{return row.result.library;
}
}
, {"layout", HBMARK_ROW{return row.result.layout;
}
}
, {"verified_checked", HBMARK_ROW{return of_check(row.result, [](auto& check) { return number(check.checked); });
}
}
, {"verified_max_rel_error", HBMARK_ROW{return of_check(row.result, [](auto& check) { return number(check.max_rel_error); });
}
}
, {"verified_tolerance", HBMARK_ROW{return of_check(row.result, [](auto& check) { return number(check.tolerance); });
}
}
, {"pages", HBMARK_ROW{return pages(row.result.pages);
}
}
, {"thread_pus", HBMARK_ROW{return joined(row.result.thread_pus);
}
}
, {"reorder_s", HBMARK_ROW{return number(row.result.reorder_s);
}
}
, {"energy_j", HBMARK_ROW{return number(row.result.energy_j);
}
}
, {"wall_s", HBMARK_ROW{return number(row.result.wall_s);
}
}
, {"timed_s", HBMARK_ROW{return number(row.result.timed_s);
}
}
, {"stopped_by", HBMARK_ROW{return row.result.stopped_by;
}
}
, {"finished_at", HBMARK_ROW{return row.result.finished_at;
}
}
,
{"energy_scope", HBMARK_ROW{return row.result.energy_scope;
}
}
,
{"energy_note", HBMARK_ROW{return row.result.energy_note;
}
}
,
{"clock_before_hz", HBMARK_ROW{return number(row.result.clock_before_hz);
}
}
,
{"clock_after_hz", HBMARK_ROW{return number(row.result.clock_after_hz);
}
}
,
{"clock_note", HBMARK_ROW{return row.result.clock_note;
}
}
,
}
;
#undef HBMARK_ROW

void write_field(std::ostream& out, const std::string& raw) {
  std::string text = text_formats::valid_utf8(raw);
  // A NUL ends the field in C readers and is an error in Python's: it becomes U+FFFD too.
  for (std::size_t at = text.find('\0'); at != std::string::npos; at = text.find('\0', at))
    text.replace(at, 1, "\xEF\xBF\xBD");
  if (text.find_first_of(",\"\r\n") == std::string::npos) {
    out << text;
    return;
  }
  std::string quoted(2 * text.size() + 2, '\0');  // every byte doubled and two quotes
  quoted.resize(csv_write(quoted.data(), quoted.size(), text.data(), text.size()));
  out << quoted;
}

}  // namespace

void text_formats::write_csv(std::ostream& out, std::span<const ExportRow> rows) {
  const char* before = "";
  for (const Column& column : kColumns) {
    out << before << column.name;
    before = ",";
  }
  out << "\r\n";
  for (const ExportRow& row : rows) {
    if (!out) return;
    before = "";
    for (const Column& column : kColumns) {
      out << before;
      write_field(out, column.value(row));
      before = ",";
    }
    out << "\r\n";
  }
  out.flush();
}

}  // namespace hbmark
