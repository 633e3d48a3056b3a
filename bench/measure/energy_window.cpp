#include "bench/measure/energy_window.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>

namespace hbmark {

Result<EnergyWindow> measure_energy(const RunCalls& run_calls, const EnergyProbe& probe, double call_s, double least_s) {
  using Clock = std::chrono::steady_clock;
  // Looked at twenty times a window: calls in one go, so that looking costs no energy.
  const auto calls = static_cast<std::int64_t>(std::clamp(std::ceil(least_s / 20 / call_s), 1.0, 1e9));
  EnergyWindow window;
  if (auto begun = probe.begin(); !begun) return tl::make_unexpected(begun.error());
  const Clock::time_point start = Clock::now();
  do {
    const Result<double> run = run_calls(calls);
    if (!run) return tl::make_unexpected(run.error());
    window.calls += calls;
    window.window_s = std::chrono::duration<double>(Clock::now() - start).count();
  } while (window.window_s < least_s);
  const Result<double> used = probe.used_j();
  if (!used) return tl::make_unexpected(used.error());
  if (!std::isfinite(*used) || *used <= 0) {
    return environment_error("cannot measure energy",
                             fmt::format("the meter says that {:.3g} s took {} J", window.window_s, *used),
                             "a counter must advance: hypervisors pass on some that do not");
  }
  window.call_j = *used / static_cast<double>(window.calls);
  return window;
}

}  // namespace hbmark
