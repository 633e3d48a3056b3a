#include "bench/run/replica_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <numeric>

namespace hbmark {

double ReplicaWindow::total_calls() const { return std::accumulate(calls.begin(), calls.end(), 0.0); }

Result<ReplicaWindow> common_window(const std::vector<std::span<const ReplicaStamp>>& replicas) {
  const auto no_window = [](std::string why) {
    return environment_error("replicas have no window in common", std::move(why),
                             "the node is too loaded for them to run side by side: free it, or give fewer replicas");
  };
  double from_s = -std::numeric_limits<double>::infinity();
  double until_s = std::numeric_limits<double>::infinity();
  for (const auto& runs : replicas) {
    if (runs.empty()) return no_window("one of them ran nothing");
    from_s = std::max(from_s, runs.front().start_s);
    until_s = std::min(until_s, runs.back().end_s);
  }
  if (replicas.empty() || !(until_s > from_s)) {
    return no_window(fmt::format("the last started {:.3g} s after the first had ended", from_s - until_s));
  }
  ReplicaWindow window;
  window.window_s = until_s - from_s;
  for (const auto& runs : replicas) {
    double calls = 0;
    for (const ReplicaStamp& run : runs) {
      const double inside_s = std::min(run.end_s, until_s) - std::max(run.start_s, from_s);
      if (inside_s > 0) calls += static_cast<double>(run.calls) * inside_s / (run.end_s - run.start_s);
    }
    if (!(calls > 0)) return no_window("one of them ran no call in it");
    window.calls.push_back(calls);
  }
  return window;
}

}  // namespace hbmark
