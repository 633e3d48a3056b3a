// Records to and from text. JSON is JSON Lines: one object a line, SI units, unrounded, each with its `schema`.
//
// One file a format in this folder and a row in the table behind formats(). Pure, thread-safe.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "results/base/result.h"
#include "results/records.h"

namespace hbmark {

// hbmark.result/1, as DESIGN's section 8 lists it; absent is null, and so is empty text. NaN and infinities are the strings
// "NaN", "Infinity", "-Infinity". Text that is not UTF-8 gets U+FFFD where it is not. Dumping the JSON never throws.
// `samples`, when given, adds time_s.values and the launch of each.
nlohmann::json result_to_json(const ResultRecord& result, const std::vector<SampleRecord>* samples = nullptr);
// The exact inverse. Errors (usage) name the member that does not fit; members it does not know are passed over.
Result<ResultRecord> result_from_json(const nlohmann::json& line);
nlohmann::json run_to_json(const RunRecord& run);  // hbmark.run/1

struct ExportRow {
  RunRecord run;
  ResultRecord result;
  std::vector<SampleRecord> samples;
};

struct Format {
  std::string_view name;  // "json", "csv", "gbench"
  std::string_view summary;
  // Writes every row; the stream's state tells of a full disk, and the caller checks it.
  void (*write)(std::ostream& out, std::span<const ExportRow> rows);
};

std::span<const Format> formats();

}  // namespace hbmark
