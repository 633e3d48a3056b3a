#include "tests/unit/stats/false_alarms.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/distributions/normal.hpp>
#include <cmath>
#include <numeric>

namespace hbmark::simulation {
namespace {

constexpr double kNoise = 0.02;
constexpr double kAlpha = 0.05;

using Random = std::mt19937_64;

// `launch(random)` is drawn once a launch, `sample(random, first)` for each of its samples; both are added to 1.
template <class Launch, class Sample>
auto two_levels(Launch launch, Sample sample) {
  return [launch, sample](Random& random, int launches, int samples) {
    stats::Launches all(static_cast<std::size_t>(launches));
    for (std::vector<double>& one : all) {
      const double level = launch(random);
      Sample in_launch = sample;
      for (int i = 0; i < samples; ++i) one.push_back(1 + level + in_launch(random));
    }
    return all;
  };
}

struct Normal {
  double size = kNoise;
  double operator()(Random& random) const { return size * std::normal_distribution<double>()(random); }
};

// Two levels, 30 % on the slow one; mean 0.
struct Bimodal {
  double size = kNoise;
  double operator()(Random& random) const {
    constexpr double kSlow = 0.3;
    const double apart = size / std::sqrt(kSlow * (1 - kSlow));
    return (std::bernoulli_distribution(kSlow)(random) ? apart : 0) - kSlow * apart;
  }
};

struct Autocorrelated {
  double last = 0;
  bool first = true;
  double operator()(Random& random) {
    constexpr double kPhi = 0.6;
    const double fresh = kNoise * std::normal_distribution<double>()(random);
    last = first ? fresh : kPhi * last + std::sqrt(1 - kPhi * kPhi) * fresh;
    first = false;
    return last;
  }
};

struct BimodalSample {  // the levels themselves jitter a little
  double operator()(Random& random) const { return Bimodal{}(random) + Normal{0.1 * kNoise}(random); }
};

double none(Random& /*random*/) { return 0; }

std::vector<double> all_samples(const stats::Launches& launches) {
  std::vector<double> all;
  for (const std::vector<double>& one : launches) all.insert(all.end(), one.begin(), one.end());
  return all;
}

stats::Launches each_its_own(const std::vector<double>& samples) {
  stats::Launches launches;
  for (const double sample : samples) launches.push_back({sample});
  return launches;
}

struct Case {
  bool changed = false;
  stats::RatioEstimate estimate;
  double u_p = 1, t_p = 1;
};

Case draw_case(const LaunchNoise& noise, const Setting& setting, bool changed, Random& random) {
  const stats::Launches a = noise.draw(random, setting.launches, setting.samples);
  stats::Launches b = noise.draw(random, setting.launches, setting.samples);
  if (changed) {
    for (std::vector<double>& one : b) {
      for (double& sample : one) sample *= 1 + setting.change;
    }
  }
  const std::vector<double> samples_a = all_samples(a);
  const std::vector<double> samples_b = all_samples(b);
  return {changed, stats::compare_launches(a, b), u_test(samples_a, samples_b),
          stats::compare_launches(each_its_own(samples_a), each_its_own(samples_b)).p.value_or(1)};
}

}  // namespace

const std::vector<LaunchNoise>& launch_noises() {
  static const std::vector<LaunchNoise> noises = {
      {"independent", two_levels(none, Normal{})},
      {"autocorrelated 0.6", two_levels(none, Autocorrelated{})},
      {"bimodal samples", two_levels(none, BimodalSample{})},
      {"bimodal launches", two_levels(Bimodal{}, Normal{0.5 * kNoise})},
      {"between launches", two_levels(Normal{}, Normal{0.5 * kNoise})},
  };
  return noises;
}

double u_test(std::span<const double> a, std::span<const double> b) {
  std::vector<std::pair<double, bool>> all;
  for (const double value : a) all.emplace_back(value, true);
  for (const double value : b) all.emplace_back(value, false);
  std::sort(all.begin(), all.end());
  const auto n_a = static_cast<double>(a.size());
  const auto n_b = static_cast<double>(b.size());
  const double n = n_a + n_b;
  double rank_sum = 0;
  double ties = 0;
  for (std::size_t first = 0; first < all.size();) {
    std::size_t last = first;
    while (last < all.size() && all[last].first == all[first].first) ++last;
    const auto count = static_cast<double>(last - first);
    ties += count * count * count - count;
    for (std::size_t i = first; i < last; ++i) rank_sum += all[i].second ? 0.5 * static_cast<double>(first + 1 + last) : 0;
    first = last;
  }
  const double u = rank_sum - n_a * (n_a + 1) / 2;
  const double larger = std::max(u, n_a * n_b - u);
  const double deviation = std::sqrt(n_a * n_b / 12 * (n + 1 - ties / (n * (n - 1))));
  if (!(deviation > 0)) return 1;
  const double z = (larger - n_a * n_b / 2 - 0.5) / deviation;
  return std::min(1.0, 2 * boost::math::cdf(boost::math::complement(boost::math::normal(), z)));
}

Tally simulate(const LaunchNoise& noise, const Setting& setting) {
  Tally tally;
  tally.noise = noise.name;
  int asked = 0;
  for (int pair = 0; pair < setting.pairs; ++pair) {
    Random random((setting.first_seed + static_cast<std::uint64_t>(pair)) * 7919 + 17);
    std::vector<Case> cases;
    std::vector<double> p;
    for (int i = 0; i < setting.problems; ++i) {
      cases.push_back(draw_case(noise, setting, i < setting.changed, random));
      p.push_back(cases.back().estimate.p.value_or(1));
    }
    const std::vector<double> adjusted = stats::adjust_p_values(p);
    for (std::size_t i = 0; i < cases.size(); ++i) {
      const Case& one = cases[i];
      if (setting.changed > 0 && !one.changed) continue;
      ++asked;
      const stats::Verdict verdict = stats::judge_ratio(one.estimate, adjusted[i], setting.margin);
      const double truth = one.changed ? 1 + setting.change : 1;
      tally.different += verdict == stats::Verdict::kFaster || verdict == stats::Verdict::kSlower;
      tally.same += verdict == stats::Verdict::kSame;
      tally.covered += one.estimate.low && *one.estimate.low <= truth && truth <= *one.estimate.high;
      tally.welch_unadjusted += p[i] < kAlpha;
      tally.u_test += one.u_p < kAlpha;
      tally.t_test += one.t_p < kAlpha;
    }
  }
  for (double* share :
       {&tally.different, &tally.same, &tally.covered, &tally.welch_unadjusted, &tally.u_test, &tally.t_test})
    *share /= asked;
  return tally;
}

std::string table(std::span<const Tally> rows) {
  std::string out = fmt::format("{:20}{:>11}{:>9}{:>9}{:>14}{:>9}{:>9}\n", "noise", "different", "same", "covered",
                                "before BH", "U test", "t test");
  for (const Tally& row : rows) {
    out +=
        fmt::format("{:20}{:>9.2f} %{:>7.1f} %{:>7.1f} %{:>12.1f} %{:>7.1f} %{:>7.1f} %\n", row.noise, 100 * row.different,
                    100 * row.same, 100 * row.covered, 100 * row.welch_unadjusted, 100 * row.u_test, 100 * row.t_test);
  }
  return out;
}

}  // namespace hbmark::simulation
