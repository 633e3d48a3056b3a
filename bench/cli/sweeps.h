// Results of a run that differ in one number: a sweep over sizes, and the levels of memory a sweep shows.
//
// Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/render_results.h"
#include "results/stats/knees.h"
#include "topology/node.h"

namespace hbmark::cli {

struct Sweep {
  std::string name;        // "stream triad f64, 2 threads"
  std::string over;        // "bytes in use", "m = n = k"
  std::string unit;        // of the values: "B/s", "FLOP/s", "s/load"
  bool of_memory = false;  // stream, chase: the numbers are bytes in use
  std::int64_t threads = 0;
  std::vector<stats::CurvePoint> points;  // sorted by x; the median of each result
  std::vector<const ResultRecord*> results;
};

// At least `least` sizes; in the run's order. Pointers point into `view`.
std::vector<Sweep> find_sweeps(const RunView& view, std::size_t least = 4);

// "16 KiB to 512 KiB: 61.0 GB/s (60.5 to 63.0 over 6 sizes); the CPU has L2 512 KiB". Empty for other sweeps.
std::vector<std::string> level_texts(const Sweep& sweep, const topology::Node& node, const Style& style);

}  // namespace hbmark::cli
