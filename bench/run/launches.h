// The launches of a case, each by a worker process of its own, gathered into one result that keeps both levels.
//
// Plain values, one thread, nothing fails. What is gathered is a whole result after every launch, so that an interrupted run
// keeps those it had.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "bench/run/plan.h"
#include "bench/run/protocol.h"
#include "results/records.h"

namespace hbmark {

struct LaunchedResult {
  ResultRecord result;  // its uuid stays the same from launch to launch
  std::vector<SampleRecord> samples;
  bool is_last = false;  // no further launch of this case: it failed, or all are there
};

class LaunchGatherer {
 public:
  explicit LaunchGatherer(std::int64_t launches) : launches_(launches) {}

  // One launch more of the case. The first that is not ok becomes the case's outcome, with the launch in its reason.
  LaunchedResult add(const PlannedCase& planned, ResultRecord result, const std::vector<double>& samples);
  std::int64_t so_far(std::int64_t case_index) const;  // launches of a case that waits for more; else 0

 private:
  std::int64_t launches_;
  std::map<std::int64_t, LaunchedResult> by_case_;
};

// The rows of cases (each for one worker) that a round of launches carries out, shuffled: what drifts over a run then falls
// on no configuration alone. Pure; the same seed and round give the same order.
std::vector<std::vector<PlannedCase>> shuffled_round(std::vector<std::vector<PlannedCase>> rows, std::uint64_t seed,
                                                     std::int64_t round);

}  // namespace hbmark
