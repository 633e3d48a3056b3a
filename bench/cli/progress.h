// How far a run is: one line that is redrawn on a terminal, a line a case elsewhere.
//
// Knows the planned budgets and learns from what cases really took; the bar never goes back, and the time left is an
// estimate and is marked so. Takes its clock, its width and its way to write, so tests need no terminal. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/text.h"
#include "results/records.h"

namespace hbmark::cli {

// Pure arithmetic of the estimate: what is done, what is left.
class Estimate {
 public:
  explicit Estimate(std::vector<double> budgets_s);

  void start(std::size_t position, double now_s);
  void progress(double fraction);
  void finish(double now_s);

  double fraction() const { return fraction_; }  // of all budgets, never going back
  double left_s(double now_s) const;
  std::size_t total() const { return budgets_s_.size(); }
  std::size_t finished() const { return finished_; }

 private:
  void advance(double within);
  double pace() const;  // seconds a case takes for each second of its budget

  std::vector<double> budgets_s_;
  double total_budget_s_ = 0;
  std::size_t finished_ = 0;
  double finished_budget_s_ = 0;
  double finished_wall_s_ = 0;
  std::size_t current_ = 0;
  bool running_ = false;
  double within_ = 0;
  double started_s_ = 0;
  double fraction_ = 0;
};

struct ProgressOptions {
  bool redraw = false;  // a terminal
  bool quiet = false;
  Style style;                    // its width is not used
  std::function<double()> now_s;  // a steady clock
  std::function<int()> columns;   // of the terminal, asked at each redraw
  std::function<void(std::string_view)> write;
};

class Progress {
 public:
  Progress(std::vector<double> budgets_s, ProgressOptions options);
  ~Progress() { clear(); }
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void start(std::size_t position, const std::string& problem);
  void update(const std::string& phase, double fraction);  // redraws, at most ten times a second
  void tick();                                             // redraws what is shown: its clock goes on
  void finish(const ResultRecord& result);
  void message(std::string_view line);  // a whole line, above the bar
  void clear();                         // takes the bar away; a later event draws it again

 private:
  void draw();
  std::string bar_line(int columns, double now_s) const;
  std::string case_line(const ResultRecord& result) const;

  Estimate estimate_;
  ProgressOptions options_;
  double began_s_ = 0;
  double drawn_s_ = -1;
  bool shown_ = false;
  std::size_t position_ = 0;
  std::string problem_;
  std::string phase_;
};

}  // namespace hbmark::cli
