// Google Benchmark's JSON written (github.com/google/benchmark, docs/user_guide.md, "Output Formats", and what
// tools/compare.py reads of it): one entry a sample, samples of a case under one name, so that compare.py can test them
// against another run's.
#include <fmt/format.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "results/formats/format.h"
#include "results/formats/table.h"
#include "results/formats/text.h"

namespace hbmark {
namespace {

using Json = nlohmann::ordered_json;
using text_formats::valid_utf8;

constexpr double kNsPerS = 1e9;

std::string place_of(const ResultRecord& result) {
  return fmt::format("{}/{}/threads:{}", result.backend, result.memory_kind.empty() ? "any" : result.memory_kind,
                     result.threads);
}

// The problem alone where it was measured in one place, so that runs of two backends can be compared.
std::vector<std::string> names_of(std::span<const ExportRow> rows) {
  std::map<std::string, std::set<std::string>> places;
  std::map<std::string, int> times;
  for (const ExportRow& row : rows) places[row.result.problem].insert(place_of(row.result));
  std::vector<std::string> names;
  for (const ExportRow& row : rows) {
    std::string name = row.result.problem;
    if (places[row.result.problem].size() > 1) name += "@" + place_of(row.result);
    // Planned twice in one run: two cases, not repetitions of one.
    if (const int before = times[name]++; before > 0) name += fmt::format("#{}", before + 1);
    names.push_back(valid_utf8(name));
  }
  return names;
}

Json entry(const std::string& name, const ExportRow& row, double time_s, std::size_t index, std::size_t of,
           std::size_t family) {
  const ResultRecord& result = row.result;
  Json json = {{"name", name},
               {"family_index", family},
               {"per_family_instance_index", 0},
               {"run_name", name},
               {"run_type", "iteration"},
               {"repetitions", of},
               {"repetition_index", index},
               {"threads", result.threads},
               {"iterations", result.time->calls_per_sample},
               {"real_time", time_s * kNsPerS},
               // hbmark times by the wall clock alone, and compare.py insists on both: the same figure stands in both.
               {"cpu_time", time_s * kNsPerS},
               {"time_unit", "ns"},
               {"label", valid_utf8(result.implementation)}};
  if (time_s > 0 && result.bytes) json["bytes_per_second"] = *result.bytes / time_s;
  if (result.loads && *result.loads > 0) json["ns_per_load"] = time_s * kNsPerS / *result.loads;
  if (time_s > 0 && result.flop) json["flop_per_second"] = *result.flop / time_s;
  return json;
}

Json context_of(std::span<const ExportRow> rows) {
  Json context = Json::object();
  if (!rows.empty()) {
    const RunRecord& run = rows.front().run;
    context = {{"date", valid_utf8(run.started_at)},
               {"executable", "hbmark"},
               {"hbmark_version", valid_utf8(run.hbmark_version)},
               {"hbmark_run", valid_utf8(run.uuid)},
               {"hbmark_label", valid_utf8(run.label)}};
  }
  context["hbmark_note"] = "cpu_time repeats real_time: hbmark measures wall time only";
  return context;
}

}  // namespace

void text_formats::write_gbench(std::ostream& out, std::span<const ExportRow> rows) {
  Json file = {{"context", context_of(rows)}, {"benchmarks", Json::array()}};
  Json missing = Json::array();
  const std::vector<std::string> names = names_of(rows);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    const ResultRecord& result = rows[i].result;
    if (result.outcome != Outcome::kOk || !result.time) {
      missing.push_back(
          {{"name", names[i]}, {"outcome", outcome_name(result.outcome)}, {"reason", valid_utf8(result.reason)}});
      continue;
    }
    std::vector<double> times_s;
    for (const SampleRecord& sample : rows[i].samples) times_s.push_back(sample.time_s);
    if (times_s.empty()) times_s.push_back(result.time->median);
    for (std::size_t k = 0; k < times_s.size(); ++k) {
      file["benchmarks"].push_back(entry(names[i], rows[i], times_s[k], k, times_s.size(), i));
    }
  }
  // compare.py takes no entry without a time; what failed is told beside them.
  file["context"]["hbmark_not_measured"] = std::move(missing);
  out << file.dump(1) << '\n';
  out.flush();
}

}  // namespace hbmark
