// Suites (TOML) and problem files (CSV by column name): named lists of problems, with budgets and how often each occurs.
//
// Shapes live in share/hbmark/problems/*.csv, suites in share/hbmark/suites/*.toml (bench/problems, bench/suites in the
// sources). Reading is not thread-safe and touches nothing but the named files. Errors (usage) name file, line and key or
// column. The TOML of a suite is described in docs/problems.md.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "bench/problems/problem.h"
#include "results/base/result.h"

namespace hbmark {

struct SuiteCase {
  Problem problem;
  double occurrences = 1;  // in the network or the file it comes from
  std::string origin;      // "resnet50 conv2_x 3x3"; for a person
};

struct Suite {
  std::string name;
  std::string summary;
  double budget_s = 0;              // for all cases together; 0: each case has the default budget
  double precision = 0.02;          // relative half-width of the interval
  std::vector<SuiteCase> cases;     // distinct problems; repeats folded into occurrences
  std::int64_t rows_read = 0;       // problems as the files list them
  std::int64_t repeats_folded = 0;  // rows_read - distinct problems
};

// Taken for the last level of cache where the node does not tell: suites and ceilings must assume the same.
inline constexpr std::uint64_t kAssumedLastLevelBytes = std::uint64_t{32} << 20;

// Facts of the node that sizes in a suite may refer to ("beyond-last-level", "sweep"). What is assumed where one is unknown
// (0), and what the memory does not allow, is said in `notes`.
struct SuiteContext {
  std::uint64_t last_level_cache_bytes = 0;  // of all last-level caches together; 0: kAssumedLastLevelBytes
  std::vector<std::string>* notes = nullptr;
  std::uint64_t first_level_cache_bytes = 0;  // of one core; 0: 32 KiB is assumed
  std::uint64_t memory_bytes = 0;             // available to a run; 0: sizes are not limited by it
  int threads = 0;                            // of the run; 0: one is assumed
};

// `name_or_file`: a suite's name under `share_dir`/suites, or a path that ends in .toml.
Result<Suite> load_suite(const std::string& name_or_file, const std::filesystem::path& share_dir,
                         const SuiteContext& context);

// Names and one-line summaries of the suites under `share_dir`, sorted.
Result<std::vector<Suite>> list_suites(const std::filesystem::path& share_dir, const SuiteContext& context);

// A CSV of problems by column name. Columns of a kernel's grammar, its aliases, or one column `problem` of canonical
// strings. `kernel`: empty when it can be told from the columns. Fields without a column: type is f32 (stream: f64), trans
// nn, pass fwd, options at their defaults. Columns network, name, layer, origin, application and set make the origin,
// occurrences the count; other columns are not read, and `notes` says so; one that looks like a misspelt field is an error.
Result<Suite> load_problem_csv(const std::filesystem::path& file, std::string_view kernel,
                               std::vector<std::string>* notes = nullptr);

}  // namespace hbmark
