#include "backends/fake/script.h"

#include <fnmatch.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numbers>
#include <thread>

namespace hbmark::fake {
namespace {

constexpr double kOutlierFactor = 10;
constexpr std::chrono::duration<double> kSlice{0.005};

bool applies(const Rule& rule, const std::string& problem) { return fnmatch(rule.match.c_str(), problem.c_str(), 0) == 0; }

// A handler (of a sanitizer, say) would turn the crash into something else. Dying is what this is for.
[[noreturn]] void die_of(int number) {
  signal(number, SIG_DFL);
  raise(number);
  _exit(127);
}

[[noreturn]] void hang() {
  for (;;) pause();
}

void print(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

sdk::Status strike(const Fault& fault, bool deaf, const sdk::Host& host, std::vector<FaultKind>& falsify) {
  switch (fault.kind) {
    case FaultKind::kSignal:
      die_of(fault.number);
    case FaultKind::kExit:
      _exit(fault.number);
    case FaultKind::kHang:
      hang();
    case FaultKind::kSlow:
      if (!sleep_for(fault.seconds, host, deaf)) return sdk::cancelled();
      return {};
    case FaultKind::kPrint:
      print(STDOUT_FILENO, fault.to_stdout);
      print(STDERR_FILENO, fault.to_stderr);
      return {};
    case FaultKind::kCode:
      return sdk::failure(fault.number, fault.message, fault.vendor_code);
    default:
      falsify.push_back(fault.kind);
      return {};
  }
}

}  // namespace

bool sleep_for(double seconds, const sdk::Host& host, bool deaf) {
  using Clock = std::chrono::steady_clock;
  const auto end = Clock::now() + std::chrono::duration<double>(seconds);
  while (Clock::now() < end) {
    if (!deaf && host.cancel_requested()) return false;
    std::this_thread::sleep_for(std::min<std::chrono::duration<double>>(kSlice, end - Clock::now()));
  }
  return true;
}

Behaviour Script::behaviour(const std::string& problem) const {
  Behaviour result;
  bool timed = false;
  for (const Rule& rule : rules) {
    if (!applies(rule, problem)) continue;
    if (!timed && (!rule.times_s.empty() || rule.distribution)) {
      timed = true;
      result.times_s = rule.times_s;
      result.distribution = rule.distribution;
    }
    if (result.candidates.empty()) result.candidates = rule.candidates;
    if (!result.unsupported) result.unsupported = rule.unsupported;
    if (!result.conversion_s) result.conversion_s = rule.conversion_s;
    result.sleep |= rule.sleep;
    result.deaf |= rule.deaf;
  }
  if (result.candidates.empty()) result.candidates.emplace_back();
  return result;
}

sdk::Expected<std::vector<FaultKind>> Script::pass(Step step, const std::string& problem, const sdk::Host& host) {
  std::vector<FaultKind> falsify;
  for (Rule& rule : rules) {
    if (!applies(rule, problem)) continue;
    for (Fault& fault : rule.faults) {
      if (fault.at != step) continue;
      const std::uint64_t passage = fault.passages++;
      if (passage < fault.after || passage - fault.after >= fault.count) continue;
      HBMARK_SDK_TRY(strike(fault, rule.deaf, host, falsify));
    }
  }
  return falsify;
}

TimeSource::TimeSource(const Behaviour& behaviour, std::uint32_t candidate, const std::string& problem, double default_s)
    : times_s_(behaviour.times_s), distribution_(behaviour.distribution) {
  const CandidateRule& chosen = behaviour.candidates[candidate];
  factor_ = chosen.time_factor;
  if (!chosen.times_s.empty()) {
    times_s_ = chosen.times_s;
    distribution_.reset();
  }
  if (times_s_.empty()) times_s_.push_back(default_s);
  if (distribution_) {
    std::seed_seq seed(problem.begin(), problem.end());
    std::vector<std::uint32_t> words(2);
    seed.generate(words.begin(), words.end());
    random_.seed(distribution_->seed ^ (std::uint64_t{words[0]} << 32 | words[1]));
  }
}

double TimeSource::next(std::uint64_t calls) {
  if (distribution_) return factor_ * draw() * static_cast<double>(calls);
  double sum = 0;
  for (const double time : times_s_) sum += time;
  const std::uint64_t rounds = calls / times_s_.size();
  double result = sum * static_cast<double>(rounds);
  for (std::uint64_t i = 0; i < calls % times_s_.size(); ++i) {
    result += times_s_[position_];
    position_ = (position_ + 1) % times_s_.size();
  }
  return factor_ * result;
}

// Box and Muller's transform: std::normal_distribution gives other numbers in other libraries.
double TimeSource::draw() {
  const Distribution& d = *distribution_;
  const auto uniform = [&] { return (static_cast<double>(random_() >> 11) + 0.5) * 0x1p-53; };
  const double radius = std::sqrt(-2 * std::log(uniform()));
  const double innovation = radius * std::cos(2 * std::numbers::pi * uniform());
  const double rho = d.autocorrelation;
  last_normal_ = drawn_ == 0 ? innovation : rho * last_normal_ + std::sqrt(1 - rho * rho) * innovation;
  const double trend = 1 + d.drift * static_cast<double>(drawn_++);
  const double outlier = uniform() < d.outliers ? kOutlierFactor : 1;
  return d.median_s * std::exp(d.sigma * last_normal_) * trend * outlier;
}

}  // namespace hbmark::fake
