// What a run will do, before it does it: cases in order, each with its backend and budget, and the options that hold for
// all. Plain data with a JSON form (stored with the run: it is what --resume goes by, and what a worker is handed).
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/problems/suite.h"
#include "results/base/result.h"
#include "results/outcome.h"
#include "topology/node.h"
#include "topology/placed_memory.h"
#include "topology/placement.h"

namespace hbmark {

struct PlannedCase {
  std::int64_t index = 0;
  std::string problem;  // canonical
  std::string backend;
  std::string device;
  double budget_s = 3;  // sampling
  double occurrences = 1;
  std::size_t placement = 0;  // of Plan::placements
  // Known while planning, so that no worker is asked: a backend named by the user that is not there, or that has no such
  // kernel.
  std::optional<Outcome> decided;
  std::string decided_reason;

  bool operator==(const PlannedCase&) const = default;
};

// Where threads and memory of a configuration go, as asked; what it comes to is the node's (topology::Placement).
struct PlacementWish {
  std::string memory = "default";  // of topology::memory_word
  int threads_per_core = 0;        // 0: one, or as many as --threads needs

  bool operator==(const PlacementWish&) const = default;
};

struct Plan {
  std::string suite;  // name or file; empty
  std::string label;
  double precision = 0.02;
  double timeout_s = 60;  // a case that shows no sign of life for so long beyond its budget is killed
  std::uint64_t seed = 1;
  std::int64_t launches = 1;    // worker processes a case, one after another
  int threads = 0;              // as asked, of each replica; 0: one a core
  int replicas = 1;             // parts of the node that run a case at the same time
  bool replicas_split = false;  // the batch is divided among them; else each runs the whole problem
  std::vector<PlacementWish> placements = {PlacementWish{}};
  std::string pin = "scatter";  // or compact, none
  std::string pages;            // 4k thp 2m; empty: advised, whatever the machine makes of it
  bool cold_cache = false;
  bool energy = false;
  std::vector<PlannedCase> cases;
  std::vector<std::string> backend_paths;
  std::vector<std::string> backend_files;  // those the cases need, as found then; workers look no further if they are there

  bool operator==(const Plan&) const = default;
};

// Whether the problem's calls are to find their operands outside the caches. A peak has no operands: it stays as it is, and
// is the ceiling of a cold run too.
bool runs_cold(const Plan& plan, std::string_view problem);

topology::ThreadWish thread_wish(const Plan& plan, std::size_t placement);
topology::HugePages huge_pages(const Plan& plan);

// hbmark.plan/1, one line. plan_from_json(plan_to_json(p)) == p for every p whose text is UTF-8.
std::string plan_to_json(const Plan& plan);
// Errors (environment): not JSON, another schema, a member absent or of another type; the error names it.
Result<Plan> plan_from_json(const std::string& text);

}  // namespace hbmark
