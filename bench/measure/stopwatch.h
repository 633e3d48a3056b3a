// Times calls by the clock in charge and keeps the books of what they cost. One thread; borrows what it runs.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <utility>

#include "bench/measure/sampler.h"
#include "results/base/result.h"

namespace hbmark {

class Stopwatch {
 public:
  using Clock = std::chrono::steady_clock;

  // device_clock: what run_calls returns is the time; else the monotonic clock round it is. `before` is called before each
  // run, outside its time and inside its cost; may be empty. run_calls outlives this.
  Stopwatch(const RunCalls& run_calls, bool device_clock, std::function<void()> before = {})
      : run_calls_(run_calls), before_(std::move(before)), device_clock_(device_clock) {}

  // Seconds that so many calls took. Errors: run_calls', or a clock that gave no finite time above 0.
  Result<double> run(std::int64_t calls);

  // Wall time since construction; a device's clock that ran ahead of it (a scripted one) counts as well.
  double spent_s() const;
  double timed_s() const { return timed_s_; }          // inside timed calls
  double last_cost_s() const { return last_cost_s_; }  // of the last run, with what is not timed (a cache flush, a wait)

 private:
  const RunCalls& run_calls_;
  const std::function<void()> before_;
  const bool device_clock_;
  const Clock::time_point start_ = Clock::now();
  double timed_s_ = 0;
  double last_cost_s_ = 0;
};

}  // namespace hbmark
