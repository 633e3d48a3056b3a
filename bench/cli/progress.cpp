#include "bench/cli/progress.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "bench/cli/render_results.h"

namespace hbmark::cli {
namespace {

constexpr double kRedrawInterval_s = 0.1;
constexpr double kDefaultBudget_s = 3;  // of a case that says none: plan.h
constexpr double kPriorCases = 2;       // how many cases the belief "a case takes its budget" weighs against experience
constexpr int kMaxBarColumns = 24;
constexpr int kMinBarColumns = 8;
constexpr int kMinNameColumns = 12;
constexpr std::string_view kEraseLine = "\r\x1b[K";

std::string clock_text(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::round(std::clamp(seconds, 0.0, 1e9)));
  if (whole < 3600) return fmt::format("{}:{:02}", whole / 60, whole % 60);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole % 3600 / 60, whole % 60);
}

std::string bar(double fraction, int columns, const Style& style) {
  const int full = std::clamp(static_cast<int>(fraction * columns), 0, columns);
  std::string text;
  for (int i = 0; i < columns; ++i) {
    if (style.utf8) {
      text += i < full ? "█" : "░";
    } else {
      text += i < full ? '#' : '.';
    }
  }
  return style.utf8 ? text : fmt::format("[{}]", text);
}

}  // namespace

Estimate::Estimate(std::vector<double> budgets_s) : budgets_s_(std::move(budgets_s)) {
  for (double& budget : budgets_s_) {
    if (!(budget > 0)) budget = kDefaultBudget_s;
  }
  total_budget_s_ = std::accumulate(budgets_s_.begin(), budgets_s_.end(), 0.0);
}

void Estimate::start(std::size_t position, double now_s) {
  if (position >= budgets_s_.size()) return;
  current_ = position;
  running_ = true;
  within_ = 0;
  started_s_ = now_s;
}

void Estimate::progress(double fraction) {
  if (running_) advance(std::clamp(fraction, 0.0, 1.0));
}

void Estimate::finish(double now_s) {
  if (!running_) return;
  running_ = false;
  ++finished_;
  finished_budget_s_ += budgets_s_[current_];
  finished_wall_s_ += now_s - started_s_;
  within_ = 0;
  advance(0);
}

void Estimate::advance(double within) {
  within_ = std::max(within_, within);
  if (total_budget_s_ <= 0) return;
  const double done_s = finished_budget_s_ + (running_ ? within_ * budgets_s_[current_] : 0);
  fraction_ = std::max(fraction_, std::min(1.0, done_s / total_budget_s_));
}

double Estimate::pace() const {
  const double prior_s = kPriorCases * total_budget_s_ / static_cast<double>(std::max<std::size_t>(1, budgets_s_.size()));
  return (finished_wall_s_ + prior_s) / (finished_budget_s_ + prior_s);
}

double Estimate::left_s(double now_s) const {
  if (budgets_s_.empty()) return 0;
  double waiting_s = total_budget_s_ - finished_budget_s_;
  double current_s = 0;
  if (running_) {
    waiting_s -= budgets_s_[current_];
    current_s = std::max(0.0, budgets_s_[current_] * pace() - (now_s - started_s_));
  }
  return std::max(0.0, waiting_s) * pace() + current_s;
}

Progress::Progress(std::vector<double> budgets_s, ProgressOptions options)
    : estimate_(std::move(budgets_s)), options_(std::move(options)), began_s_(options_.now_s()) {}

void Progress::start(std::size_t position, const std::string& problem) {
  estimate_.start(position, options_.now_s());
  position_ = position;
  problem_ = problem;
  phase_.clear();
  draw();
}

void Progress::update(const std::string& phase, double fraction) {
  phase_ = phase;
  estimate_.progress(fraction);
  draw();
}

void Progress::tick() {
  if (shown_) draw();
}

void Progress::finish(const ResultRecord& result) {
  if (result.outcome == Outcome::kNotRun) return;  // left undone by an interruption: told once, at the end
  estimate_.finish(options_.now_s());
  if (options_.quiet) return;
  if (!options_.redraw || result.outcome != Outcome::kOk) {
    message(case_line(result));
  } else {
    draw();
  }
}

void Progress::message(std::string_view line) {
  const bool was_shown = shown_;
  clear();
  options_.write(fmt::format("{}\n", line));
  drawn_s_ = -1;
  if (was_shown) draw();
}

void Progress::clear() {
  if (shown_) options_.write(kEraseLine);
  shown_ = false;
}

void Progress::draw() {
  if (!options_.redraw || options_.quiet) return;
  const double now_s = options_.now_s();
  if (drawn_s_ >= 0 && now_s - drawn_s_ < kRedrawInterval_s) return;
  drawn_s_ = now_s;
  shown_ = true;
  // The last column stays empty: writing there makes some terminals wrap.
  options_.write(fmt::format("\r{}\x1b[K", bar_line(options_.columns() - 1, now_s)));
}

std::string Progress::bar_line(int columns, double now_s) const {
  const int percent_done = static_cast<int>(estimate_.fraction() * 100);
  const std::string counts = fmt::format("{}/{} {:3} %", estimate_.finished(), estimate_.total(), percent_done);
  const std::string elapsed = clock_text(now_s - began_s_);
  const std::string left = fmt::format("~{} left", clock_text(estimate_.left_s(now_s)));
  const std::string name = phase_.empty() ? problem_ : fmt::format("{} {}", problem_, phase_);
  const std::string middle = fmt::format(" {}  {} {}", counts, elapsed, left);

  const int edges = options_.style.utf8 ? 0 : 2;
  const int without_bar = display_width(middle) + edges;
  // Of the terminal's width only, so that the bar does not jump from name to name.
  const int bar_columns = std::min(std::clamp(columns / 5, kMinBarColumns, kMaxBarColumns), columns - without_bar);
  if (bar_columns < kMinBarColumns) return elide_middle(middle.substr(1), columns, options_.style);
  std::string line = bar(estimate_.fraction(), bar_columns, options_.style) + middle;
  const int room = columns - without_bar - bar_columns - 2;
  if (room >= kMinNameColumns) line += "  " + elide_middle(name, room, options_.style);
  return line;
}

std::string Progress::case_line(const ResultRecord& result) const {
  const std::string total = fmt::format("{}", estimate_.total());
  return fmt::format("[{:>{}}/{}] {}", estimate_.finished(), total.size(), total, result_line(result, options_.style));
}

}  // namespace hbmark::cli
