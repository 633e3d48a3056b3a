// Carrying out a plan: one worker process a configuration, a new one after each crash or hang, every result committed to the
// store by the parent as it comes.
//
// The caller's thread drives everything; SIGINT and SIGTERM end the run after killing the worker's process group, with
// everything committed so far kept. Never touches stdout.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "bench/measure/effective_clock.h"
#include "bench/measure/energy_window.h"
#include "bench/run/plan.h"
#include "results/base/result.h"
#include "results/records.h"
#include "topology/node.h"
#include "topology/page_census.h"
#include "topology/placement.h"

namespace hbmark {

class Store;

// What a front end is told, in order, from the caller's thread.
struct RunObserver {
  std::function<void(const PlannedCase&)> case_started;
  std::function<void(const PlannedCase&, const std::string& phase, double fraction)> case_progress;
  std::function<void(const PlannedCase&, const ResultRecord&)> case_finished;
  std::function<void(const std::string& text)> warning;
  std::function<void()> tick;  // five times a second while nothing else is told
};

struct RunRequest {
  Plan plan;
  const topology::Node* node = nullptr;
  std::vector<topology::Placement> placements;  // one for each of the plan's; those of decided cases are not looked at
  RunRecord run;                                // with its uuid; its node and environment are in the store already
  std::vector<std::int64_t> finished_cases;     // of a resumed run: not run again
  std::string worker_program;                   // absolute path of hbmark itself
  double lock_patience_s = 600;                 // how long a store that another process keeps locked is waited for
};

struct RunSummary {
  std::int64_t ok = 0, failed = 0, unsupported = 0, unavailable = 0, skipped = 0, not_run = 0;
  bool interrupted = false;
  double wall_s = 0;
  double timed_s = 0;
};

// Saves the run (running, then finished or interrupted), configurations and results. An interrupted run keeps its missing
// cases as `not_run`. A store that is locked is waited for, with the result in memory. Errors: the store cannot be written
// (what was committed stays), no worker can be started.
Result<RunSummary> carry_out(const RunRequest& request, Store& store, const RunObserver& observer);

// What a worker asks of the machine beside its plugins; tests script them. Empty: the real ones.
struct WorkerProbes {
  std::function<ClockReading()> clock;
  std::function<Result<EnergyProbe>()> energy;
  std::function<Result<topology::BytesByNode>()> anonymous_bytes;  // of the worker, by NUMA node
  double energy_window_s = kEnergyWindowS;
};

// Entry of the hidden `hbmark worker FILE` command: reads the job (bench/run/job.h), runs its cases, streams events
// (bench/run/protocol.h) on what was its stdout. Returns an exit code.
int worker_main(const std::string& plan_file, const WorkerProbes& probes = {});

}  // namespace hbmark
