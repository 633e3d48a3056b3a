// One case in a worker, from its string to its result: open, prepare, fit, search, place, check, measure, check again.
//
// One thread (the OpenMP team's first). Everything a case takes is given back before its result is told.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/measure/sampler.h"
#include "bench/run/bound_case.h"
#include "bench/run/cache_flusher.h"
#include "bench/run/job.h"
#include "bench/run/open_backend.h"
#include "bench/run/protocol.h"
#include "bench/run/replica_team.h"
#include "bench/run/run.h"
#include "topology/placement.h"

namespace hbmark {

struct CaseListener {
  PhaseListener phase;
  std::function<void(double fraction)> progress;
  std::function<void(const std::string&)> warning;
};

// What each replica did in the common windows so far.
struct ReplicaRates {
  std::vector<std::vector<double>> call_s;  // by replica, of each window
  double calls = 0;                         // of all replicas, in all of their runs
};

class CaseRunner {
 public:
  // `team`: the replicas this worker is one of; null: it is alone. Outlives this.
  CaseRunner(Backends& backends, const WorkerJob& job, Status placed, const WorkerProbes& probes, CaseListener listener,
             ReplicaTeam* team = nullptr);

  // The kResult event. Its outcome means nothing once cancel_requested().
  Event run(const PlannedCase& planned);

 private:
  struct Work;  // what one case holds while it runs
  Step<void> carry_out(const PlannedCase& planned, Event& event);
  Step<OpenBackend*> open(const PlannedCase& planned);
  Step<void> make_arrays(Work& work);
  Step<void> search(Work& work, Event& event);
  Step<void> place(Work& work, Event& event);
  Step<void> check_outputs(Work& work, Event& event, bool again);
  Step<void> measure(Work& work, Event& event);
  Step<void> meet_replicas();
  Step<std::int64_t> follow_first(std::int64_t said = 0);
  Step<void> agree_on_candidate(Work& work, std::uint32_t& candidate);
  Step<Measurement> sample_alone(Work& work, const SamplingOptions& options, const SamplingProgress& progress);
  Step<Measurement> sample_together(Work& work, const SamplingOptions& options, Event& event);
  Step<void> serve(Work& work, Event* event);
  RunCalls calls_of_all(Work& work, std::optional<CaseEnd>& end, ReplicaRates& rates);
  static RunCalls calls_of(Work& work, std::optional<CaseEnd>& end);
  Step<void> ready_flusher(const Work& work);
  void note_clock(const ClockReading& before, Event& event) const;
  Step<void> measure_energy(Work& work, Event& event);
  Step<void> read_meter(Work& work, Event& event);
  Step<void> check_team(Event& event);
  Step<void> must_fit(std::uint64_t needed) const;
  Step<void> must_fit_pool(const BoundCase& bound) const;
  Step<void> check_pages(const BoundCase& bound, Event& event, const char* when) const;
  Step<void> check_page_sizes(const BoundCase& bound, Event& event) const;
  Step<void> describe(Work& work, Event& event);
  void time_conversion(Work& work, Event& event);

  Backends& backends_;
  const WorkerJob& job_;
  topology::Placement placement_;
  Status placed_;  // as found when the worker started
  const WorkerProbes& probes_;
  ClockReading clock_at_start_;
  std::optional<Result<EnergyProbe>> energy_;  // opened when the run wants it
  std::optional<CacheFlusher> flusher_;        // made at the first cold case
  CaseListener listener_;
  ReplicaTeam* team_;
};

}  // namespace hbmark
