#include "bench/measure/stopwatch.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace hbmark {
namespace {

double seconds_since(Stopwatch::Clock::time_point begin) {
  return std::chrono::duration<double>(Stopwatch::Clock::now() - begin).count();
}

}  // namespace

Result<double> Stopwatch::run(std::int64_t calls) {
  const Clock::time_point cost_begin = Clock::now();
  if (before_) before_();
  const Clock::time_point begin = Clock::now();
  Result<double> returned = run_calls_(calls);
  const double elapsed_s = seconds_since(begin);
  if (!returned) return returned;
  const double seconds = device_clock_ ? *returned : elapsed_s;
  if (!std::isfinite(seconds) || seconds <= 0) {
    return environment_error(
        fmt::format("cannot time {} call{}", calls, calls == 1 ? "" : "s"),
        fmt::format("the {} clock says they took {} s", device_clock_ ? "device's" : "monotonic", seconds),
        "a clock must advance: update the driver, or report it to the backend's author");
  }
  timed_s_ += seconds;
  last_cost_s_ = std::max(seconds, seconds_since(cost_begin));
  return seconds;
}

double Stopwatch::spent_s() const { return std::max(seconds_since(start_), timed_s_); }

}  // namespace hbmark
