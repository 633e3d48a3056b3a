// Google Benchmark's JSON read: what a program that uses the library printed, as cases with their repetitions.
//
// Pure, thread-safe. Errors (usage) name the first entry that does not fit; nothing is read by halves. Aggregates (mean,
// stddev, BigO ...) are counted and passed over: they are made from the repetitions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/base/result.h"
#include "results/outcome.h"

namespace hbmark {

struct GbenchCase {
  std::string name;  // run_name: that of all repetitions
  std::int64_t threads = 1;
  Outcome outcome = Outcome::kOk;  // kFailed: it reported an error; kSkipped: it skipped itself
  std::string reason;
  std::vector<double> times_s;     // real time of one iteration, one a repetition, in the file's order
  std::int64_t iterations = 1;     // of the first repetition
  std::vector<std::string> notes;  // CPU time, counters and labels: "repetition 0: cpu_time 12.5 ns, bytes_per_second 1e9"
};

struct GbenchFile {
  std::string host_name;            // may be empty
  std::optional<std::string> date;  // RFC 3339, UTC
  std::optional<std::int64_t> cpus;
  std::vector<std::pair<int, std::pair<std::string, std::int64_t>>> caches;  // level, type and bytes
  std::map<std::string, std::string> context;                                // every member, values as JSON text
  std::vector<GbenchCase> cases;                                             // in the file's order
  std::int64_t aggregates = 0;
};

// `file_name` for the errors.
Result<GbenchFile> read_gbench(std::string_view text, const std::string& file_name);

}  // namespace hbmark
