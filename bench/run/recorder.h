// What the parent keeps of a run (a store that another process has locked is waited for): completes each result, compares it
// with the ceilings, commits it, counts it, tells of it.
//
// Borrows the request, the store and the observer, which must outlive it. One thread.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <vector>

#include "bench/run/ceilings.h"
#include "bench/run/launches.h"
#include "bench/run/plan.h"
#include "bench/run/protocol.h"
#include "bench/run/run.h"
#include "results/records.h"

namespace hbmark {

class Store;

class Recorder {
 public:
  // `interrupted` ends the waiting for a locked store.
  Recorder(const RunRequest& request, Store& store, const RunObserver& observer, std::function<bool()> interrupted);

  Status begin();                                        // the run is running; ceilings of what a resumed run has already
  Status end(const std::string& state);                  // "finished" or "interrupted"
  Status use_configuration(const PlannedCase& planned);  // before results of its backend and device
  Status finish(const PlannedCase& planned, ResultRecord result, const std::vector<double>& samples, const CaseFacts& facts);
  Status finish(const PlannedCase& planned, Outcome outcome, std::string reason);

  void started(const PlannedCase& planned) const;
  void progress(const PlannedCase& planned, const std::string& phase, double fraction) const;
  void warn(const std::string& text) const;
  void tick() const;
  RunSummary& summary() { return summary_; }
  bool is_over(const PlannedCase& planned) const { return over_.contains(planned.index); }  // with all its launches
  // Launches of a case that is not over; they are stored.
  std::int64_t launches_so_far(const PlannedCase& planned) const { return launches_.so_far(planned.index); }

 private:
  Status persist(const char* kept, const std::function<Status()>& save);
  void complete(const PlannedCase& planned, ResultRecord& result) const;
  void count(const ResultRecord& result);

  const RunRequest& request_;
  Store& store_;
  const RunObserver& observer_;
  std::function<bool()> interrupted_;
  bool gave_up_ = false;  // waiting for the lock
  RunRecord run_;
  Ceilings ceilings_;
  RunSummary summary_;
  LaunchGatherer launches_;
  std::set<std::int64_t> over_;
  using ConfigurationKey = std::tuple<std::string, std::string, std::size_t, bool>;  // backend, device, placement, cold
  ConfigurationKey key_of(const PlannedCase& planned) const;
  std::map<ConfigurationKey, std::string> configurations_;  // -> uuid
};

}  // namespace hbmark
