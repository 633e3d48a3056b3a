// What replicas did while all of them ran: the window common to their runs, and the calls inside it.
//
// Plain data; pure, thread-safe. Errors (environment): no replica, one without a run, or no window common to all.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "results/base/result.h"

namespace hbmark {

// One run of calls, on the monotonic clock, which is the same in all processes of a node.
struct ReplicaStamp {
  double start_s = 0;
  double end_s = 0;
  std::int64_t calls = 0;
};

struct ReplicaWindow {
  double window_s = 0;        // from the last start to the first end
  std::vector<double> calls;  // of each replica inside it; a run across an edge counts by its share
  double total_calls() const;
  // Seconds for one call on every replica, at the rate of all together.
  double call_s() const { return window_s * static_cast<double>(calls.size()) / total_calls(); }
};

// The runs of each replica, in order of time.
Result<ReplicaWindow> common_window(const std::vector<std::span<const ReplicaStamp>>& replicas);

}  // namespace hbmark
