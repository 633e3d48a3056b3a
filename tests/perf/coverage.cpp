// Coverage of the reported 95 % interval with the whole stopping rule, at length: more series, more noise levels and larger
// numbers of samples than the unit test. Exit 1 when a promised figure is under 93 % by more than Monte Carlo error.
//   perf_coverage [series [first_seed]]
#include <fmt/format.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tests/unit/measure/coverage_simulation.h"

int main(int argc, char** argv) {
  using namespace hbmark;
  constexpr double kPromise = 0.93;
  simulation::Setting setting;
  setting.levels = {0.005, 0.01, 0.015, 0.02, 0.03, 0.05, 0.1, 0.2};
  setting.max_samples = {10, 20, 40, 80, 160, 640, 2560};
  setting.series = argc > 1 ? std::atoi(argv[1]) : 4000;
  setting.first_seed = argc > 2 ? std::strtoull(argv[2], nullptr, 10) : 0;
  if (setting.series < 100) {
    std::fputs("perf_coverage: the number of series must be at least 100; give none for 4000\n", stderr);
    return 2;
  }
  const double tolerance = 3 * std::sqrt(kPromise * (1 - kPromise) / setting.series);
  std::vector<simulation::Cell> all;
  int below = 0;
  for (const simulation::NoiseModel& noise : simulation::noise_models()) {
    for (const simulation::Cell& cell : simulation::simulate(noise, setting, look_at)) {
      all.push_back(cell);
      below += cell.promised && cell.coverage < kPromise - tolerance;
    }
  }
  fmt::print("{}{} series a line, three standard errors are {:.2f} %; promised figures under 93 %: {}\n",
             simulation::table(all), setting.series, 100 * tolerance, below);
  return below > 0 ? 1 : 0;
}
