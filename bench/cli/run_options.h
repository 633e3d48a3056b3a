// The options of `hbmark run`, as given and as understood. Everything is validated before anything is touched.
// Plain data; pure; thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/cli/commands.h"
#include "bench/run/plan.h"
#include "results/base/result.h"

namespace hbmark::cli {

struct RunText {  // as on the command line
  std::string suite, precision, budget, timeout, threads, threads_per_core, pin, memory, pages, launches, replicas, seed,
      label, resume;
  std::vector<std::string> problems, problem_files, filters, backends, backend_paths;
  bool replicas_split = false;
  bool dry_run = false;
  bool cold_cache = false;
  bool energy = false;
};

struct RunWishes {
  std::string suite;  // empty: only what is named below
  std::vector<std::string> problems, problem_files, filters, backends, backend_paths;
  double precision = 0;  // 0: the suite's
  double budget_s = 0;   // of the whole run; 0: the suite's
  double timeout_s = 60;
  int launches = 1;
  int replicas = 1;
  int threads = 0;                                            // 0: one a core
  std::vector<PlacementWish> placements = {PlacementWish{}};  // every memory under every number of threads a core
  std::string pin = "scatter";
  std::string pages;  // 4k thp 2m; empty: as advised
  std::uint64_t seed = 1;
  std::string label;
  std::optional<std::string> resume;
  bool replicas_split = false;
  bool dry_run = false;
  bool cold_cache = false;
  bool energy = false;
};

void declare_options(CLI::App& app, RunText& text);
Result<RunWishes> understand(const RunText& text);

}  // namespace hbmark::cli
