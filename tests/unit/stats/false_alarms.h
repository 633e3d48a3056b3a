// Simulates comparisons of runs: problems of 8 launches x 10 samples under four kinds of noise of 2 %, identical or with a
// true change, and counts what each of three methods calls different. Used by a fast test and by tests/perf/false_alarms.
//
// Pure; fixed seeds.
#pragma once

#include <cstdint>
#include <functional>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "results/stats/compare.h"

namespace hbmark::simulation {

struct LaunchNoise {
  std::string name;
  std::function<stats::Launches(std::mt19937_64&, int launches, int samples)> draw;  // about 1, standard deviation 2 %
};

// Independent; autocorrelated (0.6) in a launch; two levels between samples; two levels between launches; between launches.
const std::vector<LaunchNoise>& launch_noises();

// The U test as google/benchmark's compare.py makes it (tools/gbench/report.py, calc_utest): scipy.stats.mannwhitneyu over
// all repetitions, two-sided. SciPy takes the normal approximation with corrections for ties and continuity as soon as both
// sides have more than 8 values. Returns p.
double u_test(std::span<const double> a, std::span<const double> b);

struct Setting {
  int pairs = 1000;      // of runs
  int problems = 20;     // a run
  int changed = 0;       // of them, by `change`
  double change = 0.05;  // B is slower by so much
  int launches = 8, samples = 10;
  double margin = 0.02;
  std::uint64_t first_seed = 0;
};

struct Tally {  // shares of the problems asked about: the changed ones, or all where none is
  std::string noise;
  double different = 0;         // called faster or slower by `compare`
  double same = 0;              // called the same within the margin
  double covered = 0;           // the interval holds the true ratio
  double welch_unadjusted = 0;  // p under 5 %, before Benjamini-Hochberg
  double u_test = 0;            // p under 5 %, over all samples
  double t_test = 0;            // Welch's t over all samples, as if each were a launch
};

Tally simulate(const LaunchNoise& noise, const Setting& setting);
std::string table(std::span<const Tally> rows);

}  // namespace hbmark::simulation
