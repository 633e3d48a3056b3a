// A run as a person reads it: the table of results, and beneath it where it was measured, how, and what was not.
//
// Pure: records in, text out; thread-safe. Everything shown comes from the records, so any old store shows the same way.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/text.h"
#include "results/records.h"

namespace hbmark::cli {

struct RunView {
  RunRecord run;
  std::vector<ResultRecord> results;  // by case index
  std::optional<NodeRecord> node;
  std::optional<EnvironmentRecord> environment;
  std::vector<ConfigurationRecord> configurations;
};

// Fits style.width. `verbose`: whole problem strings, intervals as [low, high], implementation and check of each result.
std::string render_run(const RunView& view, const Style& style, bool verbose);

// One result on one line: "gemm:... ok 1.234 ms +-0.8 % 87.1 GFLOP/s", "... crashed: signal 11".
std::string result_line(const ResultRecord& result, const Style& style);

struct Rate {
  double per_s = 0;
  std::string unit;  // "FLOP/s", "B/s", "load/s"
};
// What the kernel is judged by, more is better: bytes for those that move data, loads for a chase, else FLOP; nullopt when
// none is known.
std::optional<Rate> rate_of(const ResultRecord& result);

// "87.1 GFLOP/s"; of loads, what people ask for: "4.21 ns/load".
std::string rate_text(const Rate& rate, const Style& style);

// "+-0.83 %" (half the interval over the median), ">100 %" where it is wider than the median itself, "-" where there is
// none; verbose: "[low, high]".
std::string interval_text(const TimeSummary& time, const Style& style, bool verbose);

// "Run 3f2a9c1e "label", suite quick, 2026-11-30 20:41 UTC", its state if not finished, and an empty line.
std::string run_heading(const RunView& view, const Style& style);

// Half the interval over the median; nullopt when there is no interval.
std::optional<double> half_width_of(const TimeSummary& time);

}  // namespace hbmark::cli
