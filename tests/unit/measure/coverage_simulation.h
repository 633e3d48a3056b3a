// Simulates sampling with the whole stopping rule (looks at 10, 20, 40, ..., precision 2 %, an end at a largest number of
// samples) and counts how often the reported interval holds the true median. Used by a fast test and by tests/perf/coverage.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "bench/measure/stopping.h"

namespace hbmark::simulation {

struct NoiseModel {
  std::string name;
  double median = 0;                                                 // of the noise: times are 1 + level * noise
  std::function<std::function<double()>(std::uint64_t seed)> start;  // a new series
  bool promised = true;                                              // false: shown, not judged
};

// Independent normal, autocorrelated (AR(1)) 0.6 normal, and heavy-tailed: Student's t with 2 degrees of freedom,
// log-normal, and normal with every tenth sample a slow outlier. Beyond what is promised: AR(1) 0.3 and 0.8.
const std::vector<NoiseModel>& noise_models();

using Rule = std::function<Look(std::span<const double> samples, double precision)>;

struct Cell {
  std::string noise;
  bool promised = true;
  double level = 0;
  std::int64_t max_samples = 0;
  double coverage = 0;       // of series that got an interval
  double with_interval = 0;  // share of series that did
  double mean_samples = 0;
  double at_first_look = 0;  // share of series that stopped at 10 samples
};

struct Setting {
  std::vector<double> levels = {0.01, 0.05, 0.2};
  std::vector<std::int64_t> max_samples = {10, 20, 40, 160, 640};  // rising, each a look
  int series = 1000;
  double precision = 0.02;
  std::uint64_t first_seed = 0;  // series i draws from seed first_seed + i: others judge a rule that was chosen on these
};

std::vector<Cell> simulate(const NoiseModel& noise, const Setting& setting, const Rule& rule);

std::string table(std::span<const Cell> cells);

}  // namespace hbmark::simulation
