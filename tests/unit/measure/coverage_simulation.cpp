#include "tests/unit/measure/coverage_simulation.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <boost/math/tools/toms748_solve.hpp>
#include <cmath>
#include <random>

namespace hbmark::simulation {
namespace {

template <class Draw>
std::function<std::function<double()>(std::uint64_t)> series(Draw draw) {
  return [draw](std::uint64_t seed) { return [draw, random = std::mt19937_64(seed)]() mutable { return draw(random); }; };
}

struct Autoregressive {
  double phi;
  std::normal_distribution<double> normal = {};
  double last = 0;
  bool first = true;
  double operator()(std::mt19937_64& random) {
    last = first ? normal(random) : phi * last + std::sqrt(1 - phi * phi) * normal(random);
    first = false;
    return last;
  }
};

struct Contaminated {
  static constexpr double kShare = 0.1, kScale = 10;
  std::normal_distribution<double> normal = {};
  std::uniform_real_distribution<double> uniform = {};
  double operator()(std::mt19937_64& random) {
    const double x = normal(random);
    return uniform(random) < kShare ? std::abs(x) * kScale : x;
  }
  static double median() {
    const boost::math::normal standard;
    const auto excess = [&](double m) {
      return (1 - kShare) * cdf(standard, m) + kShare * (2 * cdf(standard, m / kScale) - 1) - 0.5;
    };
    std::uintmax_t steps = 100;
    return boost::math::tools::toms748_solve(excess, 0.0, 1.0, boost::math::tools::eps_tolerance<double>(40), steps).first;
  }
};

struct Tally {
  int covered = 0, with_interval = 0, at_first = 0;
  double samples = 0;
};

}  // namespace

const std::vector<NoiseModel>& noise_models() {
  static const std::vector<NoiseModel> models = {
      {"independent", 0, series(std::normal_distribution<double>())},
      {"AR(1) 0.6", 0, series(Autoregressive{0.6})},
      {"Student 2", 0, series(std::student_t_distribution<double>(2))},
      {"log-normal", 1, series(std::lognormal_distribution<double>())},
      {"contaminated", Contaminated::median(), series(Contaminated{})},
      {"AR(1) 0.3", 0, series(Autoregressive{0.3}), false},
      {"AR(1) 0.8", 0, series(Autoregressive{0.8}), false},
  };
  return models;
}

std::vector<Cell> simulate(const NoiseModel& noise, const Setting& setting, const Rule& rule) {
  std::vector<Cell> cells;
  for (const double level : setting.levels) {
    const double truth = 1 + level * noise.median;
    std::vector<Tally> tallies(setting.max_samples.size());
    for (int i = 0; i < setting.series; ++i) {
      const std::function<double()> draw = noise.start((setting.first_seed + static_cast<std::uint64_t>(i)) * 7919 + 13);
      std::vector<double> samples;
      Look look;
      for (std::size_t end = 0; end < tallies.size(); ++end) {
        while (!look.precise && static_cast<std::int64_t>(samples.size()) < setting.max_samples[end]) {
          const std::int64_t next = next_look(static_cast<std::int64_t>(samples.size()));
          // Times are positive; cutting there leaves the median where it is.
          while (static_cast<std::int64_t>(samples.size()) < next) samples.push_back(std::max(1e-3, 1 + level * draw()));
          look = rule(samples, setting.precision);
        }
        Tally& tally = tallies[end];
        const bool has = look.interval.low.has_value();
        tally.with_interval += has;
        tally.covered += has && *look.interval.low <= truth && truth <= *look.interval.high;
        tally.at_first += look.precise && samples.size() == 10;
        tally.samples += static_cast<double>(samples.size());
      }
    }
    for (std::size_t end = 0; end < tallies.size(); ++end) {
      const Tally& tally = tallies[end];
      const auto count = static_cast<double>(setting.series);
      cells.push_back({noise.name, noise.promised, level, setting.max_samples[end],
                       tally.with_interval > 0 ? static_cast<double>(tally.covered) / tally.with_interval : 0,
                       tally.with_interval / count, tally.samples / count, tally.at_first / count});
    }
  }
  return cells;
}

std::string table(std::span<const Cell> cells) {
  std::string text = fmt::format("{:<13}{:>6}{:>12}{:>10}{:>14}{:>14}\n", "noise", "level", "max samples", "coverage",
                                 "with interval", "mean samples");
  for (const Cell& cell : cells) {
    text += fmt::format("{:<13}{:>5.1f}%{:>12}{:>9.1f}%{:>13.1f}%{:>14.1f}{}\n", cell.noise, 100 * cell.level,
                        cell.max_samples, 100 * cell.coverage, 100 * cell.with_interval, cell.mean_samples,
                        cell.promised ? "" : "  (not promised)");
  }
  return text;
}

}  // namespace hbmark::simulation
