#include "bench/measure/sampler.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "bench/measure/block.h"
#include "bench/measure/stopping.h"
#include "bench/measure/stopwatch.h"
#include "results/stats/summary.h"

namespace hbmark {
namespace {

constexpr double kWarmUpShare = 0.1;      // of the budget, at most (one call always)
constexpr double kSettled = 0.95;         // warm-up ends when a round is no more than 5 % faster than the one before
constexpr std::int64_t kCallGrowth = 10;  // a first call may be slow for reasons of its own: do not trust it for more
constexpr double kLongestBlock_s = 0.5;   // progress is shown between blocks
constexpr std::int64_t kLongestBlock = 1000;
constexpr int kFewestSamples = 10;    // those of the first look; samples are shortened when so many do not fit
constexpr double kOverBudget = 1.05;  // spent over the budget by more than this share is flagged

// Progress that never goes back and reaches 1 only at the end.
class Progress {
 public:
  explicit Progress(const SamplingProgress& callback) : callback_(callback) {}
  void show(double fraction) {
    shown_ = std::max(shown_, std::clamp(fraction, 0.0, 0.99));
    if (callback_) callback_(shown_);
  }
  void finish() {
    if (callback_) callback_(1);
  }

 private:
  const SamplingProgress& callback_;
  double shown_ = 0;
};

// A first call may cost more than any after it; a second is tried when so much of its cost fits the budget.
constexpr double kSecondCall = 0.5;

struct WarmUp {
  std::int64_t calls = 1;       // of a sample
  double first_s = 0;           // the very first call
  double cost_s = 0;            // what a sample of `calls` calls will cost
  std::vector<double> samples;  // of slow calls: the second, when one call is all the warm-up that the budget allows
};

std::int64_t calls_for(double seconds, double per_call_s) {
  return static_cast<std::int64_t>(std::clamp(std::ceil(seconds / per_call_s), 1.0, 1e12));
}

// One call, then rounds that grow to the length of a sample, until they are settled or the warm-up's share is spent.
Result<WarmUp> warm_up(Stopwatch& watch, const SamplingOptions& options) {
  WarmUp result;
  const Result<double> first = watch.run(1);
  if (!first) return tl::make_unexpected(first.error());
  result.first_s = *first;
  double per_call_s = *first;
  double cost_per_call_s = watch.last_cost_s();
  std::int64_t calls = 1;
  int rounds = 1;
  bool full_length = per_call_s >= options.min_sample_s;
  while (true) {
    if (!full_length) calls = std::min(calls_for(1.05 * options.min_sample_s, per_call_s), calls * kCallGrowth);
    const double expected_s = static_cast<double>(calls) * cost_per_call_s;
    const bool within_share = watch.spent_s() + expected_s <= kWarmUpShare * options.budget_s;
    const bool second =
        rounds == 1 && !within_share && kSecondCall * cost_per_call_s <= (options.budget_s - watch.spent_s());
    if (second) calls = 1;
    if (!within_share && !second) break;
    const Result<double> round = watch.run(calls);
    if (!round) return tl::make_unexpected(round.error());
    ++rounds;
    const double before_s = per_call_s;
    const bool comparable = full_length;
    per_call_s = *round / static_cast<double>(calls);
    cost_per_call_s = watch.last_cost_s() / static_cast<double>(calls);
    full_length = *round >= options.min_sample_s;
    if (second && full_length) {
      result.samples = {*round};
      break;
    }
    if (full_length && comparable && per_call_s >= kSettled * before_s) break;
  }
  // Where samples of the length asked would be few, more and shorter ones say more.
  const double affordable = std::max(0.0, (options.budget_s - watch.spent_s())) / kFewestSamples / cost_per_call_s;
  const auto most = static_cast<std::int64_t>(std::clamp(affordable, 1.0, 1e12));
  result.calls = std::min(calls_for(options.min_sample_s, per_call_s), most);
  result.cost_s = static_cast<double>(result.calls) * cost_per_call_s;
  return result;
}

class Sampler {
 public:
  Sampler(Stopwatch& watch, const SamplingOptions& options, Progress& progress, const WarmUp& warm)
      : watch_(watch),
        options_(options),
        progress_(progress),
        calls_(warm.calls),
        cost_s_(warm.cost_s),
        samples_(warm.samples) {}

  // Samples until precise, or until the next sample would go past the budget.
  Status run() {
    double total_s = options_.budget_s;  // what sampling is expected to take in all
    while (!precise_ && count() < options_.max_samples) {
      const std::int64_t look = std::min(next_look(count()), options_.max_samples);
      while (count() < look && affordable()) {
        if (Status status = run_block_towards(look); !status) return status;
        progress_.show(watch_.spent_s() / total_s);
      }
      if (count() < look) break;
      const Look seen = look_at(samples_, options_.precision);
      precise_ = seen.precise;
      total_s = std::min(options_.budget_s, expected_total_s(seen));
    }
    return {};
  }

  std::vector<double> take_samples() { return std::move(samples_); }
  bool precise() const { return precise_; }

 private:
  std::int64_t count() const { return static_cast<std::int64_t>(samples_.size()); }
  double left_s() const { return options_.budget_s - watch_.spent_s(); }
  bool affordable() const { return cost_s_ <= left_s(); }

  Status run_block_towards(std::int64_t look) {
    const double fitting = std::min(kLongestBlock_s, left_s()) / cost_s_;
    const auto most = static_cast<std::int64_t>(std::clamp(fitting, 1.0, static_cast<double>(kLongestBlock)));
    Block block;
    block.samples = std::min(look - count(), most);
    block.calls_per_sample = calls_;
    block.timed_calls = [this](std::int64_t calls) { return watch_.run(calls); };
    block.may_go_on = [this] {
      cost_s_ = 0.5 * (cost_s_ + watch_.last_cost_s());  // follows samples that become slower
      return affordable();
    };
    Result<std::vector<double>> taken = run_block(block);
    if (!taken) return tl::make_unexpected(taken.error());
    samples_.insert(samples_.end(), taken->begin(), taken->end());
    cost_s_ = 0.5 * (cost_s_ + watch_.last_cost_s());
    return {};
  }

  // The width shrinks with the root of the number of samples, and looks come at doublings.
  double expected_total_s(const Look& seen) const {
    const double ratio = seen.interval.half_width_relative() / options_.precision;
    const double needed = std::max(2.0, std::exp2(std::ceil(2 * std::log2(std::max(1.0, ratio)))));
    return watch_.spent_s() * needed;  // infinity when there is no interval yet
  }

  Stopwatch& watch_;
  const SamplingOptions& options_;
  Progress& progress_;
  const std::int64_t calls_;
  double cost_s_;
  std::vector<double> samples_;
  bool precise_ = false;
};

}  // namespace

Result<Measurement> sample(const RunCalls& run_calls, const SamplingOptions& wanted, const SamplingProgress& callback) {
  SamplingOptions options = wanted;
  if (options.before_sample) options.min_sample_s = 0;
  if (!(options.budget_s > 0) || !(options.precision > 0) || !(options.min_sample_s >= 0) || options.max_samples < 1) {
    return usage_error("cannot sample", "precision, budget and number of samples must be above 0",
                       "give a --precision and a --budget above 0");
  }
  Stopwatch watch(run_calls, options.device_clock, options.before_sample);
  Progress progress(callback);
  progress.show(0);
  const Result<WarmUp> warm = warm_up(watch, options);
  if (!warm) return tl::make_unexpected(warm.error());
  progress.show(watch.spent_s() / options.budget_s);

  Sampler sampler(watch, options, progress, *warm);
  if (const Status status = sampler.run(); !status) return tl::make_unexpected(status.error());
  Measurement result;
  result.samples = sampler.take_samples();
  std::int64_t calls = warm->calls;
  const bool only_first = result.samples.empty();
  if (only_first) {  // no second call fits: better the first, cold as it is, than nothing
    result.samples.push_back(warm->first_s);
    calls = 1;
  }
  const stats::MedianInterval interval = stats::median_interval(result.samples);
  result.summary = stats::time_summary(result.samples, interval, calls);
  if (only_first) {
    result.summary.interval_method +=
        fmt::format("; it is the first call, without warm-up: no second fits the budget of {:.4g} s", options.budget_s);
  }
  const bool few = result.summary.samples < std::min<std::int64_t>(kFewestSamples, options.max_samples);
  if (few && !only_first) {
    result.summary.interval_method += fmt::format("; no more fit the budget of {:.4g} s", options.budget_s);
  }
  result.flags = stats::flags(result.samples, interval, options.precision);
  if (watch.spent_s() > kOverBudget * options.budget_s) result.flags.emplace_back("over_budget");
  if (few) result.flags.emplace_back("few_samples");
  result.stopped_by = sampler.precise() ? "precision" : "budget";
  result.timed_s = watch.timed_s();
  progress.finish();
  return result;
}

}  // namespace hbmark
