// From a suite and the backends that are there to a plan: which backend runs which case, in what order, for how long.
//
// make_plan is pure. inspect_backends asks plugins for their devices in a child process, so that a plugin that crashes or
// hangs while probing is reported instead of taking the program with it; call it from a program with one thread.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "backends/loader/loader.h"
#include "bench/problems/suite.h"
#include "bench/run/plan.h"
#include "results/base/result.h"
#include "topology/node.h"

namespace hbmark {

class Store;

struct BackendDevice {
  std::string id;    // "cpu"
  std::string name;  // for a person
};

struct BackendFacts {
  std::string name;
  std::string version;
  std::vector<std::string> capabilities;  // "hbmark.gemm/1": those of kernels()
  std::vector<BackendDevice> devices;     // empty: see unavailable
  std::string unavailable;                // why there is no device; empty when there is one
  std::string library;                    // from describe_backends, as the next two: "oneDNN 2.6.3"
  std::string isa;                        // the best the library uses here
  std::string warning;                    // what the user must know of it
};

// One entry a loaded backend, in its order. `timeout_s` is for one plugin's answer.
std::vector<BackendFacts> inspect_backends(const LoadReport& loaded, double timeout_s = 20);

// Opens each one's first device, in a child process too, and asks what hbmark.info/1 says; what goes wrong is its warning.
// `facts` are those of inspect_backends(loaded).
void describe_backends(const LoadReport& loaded, std::vector<BackendFacts>& facts, double timeout_s = 20);

struct PlanRequest {
  Suite suite;
  std::vector<std::string> backends;   // by name; empty: every available one but `reference`, the oracle
  std::vector<BackendFacts> known;     // from inspect_backends
  std::vector<RejectedFile> rejected;  // from the loader: the reason a named backend is not there
  std::vector<std::string> filters;    // keep a case that any of them matches; empty: keep all
  double budget_s = 0;                 // for the whole run; 0: the suite's, or 3 s a case
  double precision = 0;                // 0: the suite's
  double timeout_s = 60;
  int threads = 0;
  int launches = 1;
  int replicas = 1;
  bool replicas_split = false;
  std::vector<PlacementWish> placements = {PlacementWish{}};  // every problem is measured under each
  std::vector<std::string> refused_placements;  // one a placement: why this node cannot; empty: it can. May be shorter
  std::string pin = "scatter";
  std::string pages;
  bool cold_cache = false;
  bool energy = false;
  std::uint64_t seed = 1;
  std::string label;
  std::vector<std::string> backend_paths;
};

// By placement, then ceilings first (peak, then stream), then by backend, so that a worker serves a row of cases; within
// that in suite order. A backend named but not there, and a problem no backend can run, are planned as decided cases with
// their reason. Errors: kNothingRan (no case left; names the nearest problems), usage (budget or precision out of range).
Result<Plan> make_plan(const PlanRequest& request);

// Of all last-level caches of the node together, which is what arrays must exceed; 0: not told.
std::uint64_t last_level_cache_bytes(const topology::Node& node);

// A filter with * ? or [ is a glob over the whole canonical string, any other a piece of it.
bool filter_matches(std::string_view filter, const std::string& problem);

// Cases of the run that ended with an outcome of their own: what --resume leaves alone.
Result<std::vector<std::int64_t>> finished_cases(const Store& store, const std::string& run_uuid);

}  // namespace hbmark
