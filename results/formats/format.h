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

// hbmark.result/1, as DESIGN's section 8 lists it; absent is null. `samples`, when given, adds time_s.values.
nlohmann::json result_to_json(const ResultRecord& result, const std::vector<SampleRecord>* samples = nullptr);
Result<ResultRecord> result_from_json(const nlohmann::json& line);
nlohmann::json run_to_json(const RunRecord& run);  // hbmark.run/1

struct ExportRow {
  RunRecord run;
  ResultRecord result;
  std::vector<SampleRecord> samples;
};

struct Format {
  std::string_view name;     // "json", "csv"
  std::string_view summary;
  // Writes every row; the stream's state tells of a full disk, and the caller checks it.
  void (*write)(std::ostream& out, std::span<const ExportRow> rows);
};

std::span<const Format> formats();

}  // namespace hbmark
