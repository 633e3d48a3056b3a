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
using text_formats::s_per_load;

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

std::string of_time(const ResultRecord& result, auto member) {
  return result.time ? number((*result.time).*member) : std::string();
}
std::string of_check(const ResultRecord& result, auto member) {
  return result.verified ? number((*result.verified).*member) : std::string();
}

struct Column {
  const char* name;
  std::string (*value)(const ExportRow& row);
};

#define HBMARK_TEXT(of_row) [](const ExportRow& row) -> std::string { return of_row; }
const Column kColumns[] = {
    {"run", HBMARK_TEXT(row.result.run_uuid)},
    {"label", HBMARK_TEXT(row.run.label)},
    {"suite", HBMARK_TEXT(row.run.suite)},
    {"hbmark_version", HBMARK_TEXT(row.run.hbmark_version)},
    {"node", HBMARK_TEXT(row.run.node_uuid)},
    {"uuid", HBMARK_TEXT(row.result.uuid)},
    {"configuration", HBMARK_TEXT(row.result.configuration_uuid)},
    {"case_index", HBMARK_TEXT(number(row.result.case_index))},
    {"problem", HBMARK_TEXT(row.result.problem)},
    {"kernel", HBMARK_TEXT(row.result.kernel)},
    {"backend", HBMARK_TEXT(row.result.backend)},
    {"device", HBMARK_TEXT(row.result.device)},
    {"memory", HBMARK_TEXT(row.result.memory_kind)},
    {"threads", HBMARK_TEXT(number(row.result.threads))},
    {"replicas", HBMARK_TEXT(number(row.result.replicas))},
    {"launches", HBMARK_TEXT(number(row.result.launches))},
    {"outcome", HBMARK_TEXT(std::string(outcome_name(row.result.outcome)))},
    {"reason", HBMARK_TEXT(row.result.reason)},
    {"flags", HBMARK_TEXT(joined(row.result.flags))},
    {"time_median_s", HBMARK_TEXT(of_time(row.result, &TimeSummary::median))},
    {"time_ci_low_s", HBMARK_TEXT(of_time(row.result, &TimeSummary::ci_low))},
    {"time_ci_high_s", HBMARK_TEXT(of_time(row.result, &TimeSummary::ci_high))},
    {"time_min_s", HBMARK_TEXT(of_time(row.result, &TimeSummary::min))},
    {"samples", HBMARK_TEXT(of_time(row.result, &TimeSummary::samples))},
    {"calls_per_sample", HBMARK_TEXT(of_time(row.result, &TimeSummary::calls_per_sample))},
    {"interval_method", HBMARK_TEXT(row.result.time ? row.result.time->interval_method : std::string())},
    {"flop", HBMARK_TEXT(number(row.result.flop))},
    {"bytes", HBMARK_TEXT(number(row.result.bytes))},
    {"flop_per_s", HBMARK_TEXT(number(rate_per_s(row.result, row.result.flop)))},
    {"bytes_per_s", HBMARK_TEXT(number(rate_per_s(row.result, row.result.bytes)))},
    {"ceiling_flop_per_s", HBMARK_TEXT(number(row.result.ceiling_flop_per_s))},
    {"ceiling_bytes_per_s", HBMARK_TEXT(number(row.result.ceiling_bytes_per_s))},
    {"ceiling_fraction", HBMARK_TEXT(number(row.result.ceiling_fraction))},
    {"implementation", HBMARK_TEXT(row.result.implementation)},
    {"isa", HBMARK_TEXT(row.result.isa)},
    {"library", HBMARK_TEXT(row.result.library)},
    {"layout", HBMARK_TEXT(row.result.layout)},
    {"verified_checked", HBMARK_TEXT(of_check(row.result, &Verification::checked))},
    {"verified_max_rel_error", HBMARK_TEXT(of_check(row.result, &Verification::max_rel_error))},
    {"verified_tolerance", HBMARK_TEXT(of_check(row.result, &Verification::tolerance))},
    {"pages", HBMARK_TEXT(pages(row.result.pages))},
    {"thread_pus", HBMARK_TEXT(joined(row.result.thread_pus))},
    {"reorder_s", HBMARK_TEXT(number(row.result.reorder_s))},
    {"energy_j", HBMARK_TEXT(number(row.result.energy_j))},
    {"wall_s", HBMARK_TEXT(number(row.result.wall_s))},
    {"timed_s", HBMARK_TEXT(number(row.result.timed_s))},
    {"stopped_by", HBMARK_TEXT(row.result.stopped_by)},
    {"finished_at", HBMARK_TEXT(row.result.finished_at)},
    {"energy_scope", HBMARK_TEXT(row.result.energy_scope)},
    {"energy_note", HBMARK_TEXT(row.result.energy_note)},
    {"clock_before_hz", HBMARK_TEXT(number(row.result.clock_before_hz))},
    {"clock_after_hz", HBMARK_TEXT(number(row.result.clock_after_hz))},
    {"clock_note", HBMARK_TEXT(row.result.clock_note)},
    {"loads", HBMARK_TEXT(number(row.result.loads))},
    {"s_per_load", HBMARK_TEXT(number(s_per_load(row.result)))},
    {"worker_pages", HBMARK_TEXT(pages(row.result.worker_pages))},
    {"huge_pages", HBMARK_TEXT(number(row.result.huge_pages))},
    {"replica_times_s", HBMARK_TEXT(pages(row.result.replica_times_s))},
    {"replica_alone_s", HBMARK_TEXT(number(row.result.replica_alone_s))},
    {"replica_efficiency", HBMARK_TEXT(number(replica_efficiency(row.result)))},
};
#undef HBMARK_TEXT

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
