// The verdict as text, JSON Lines (hbmark.summary/1) or CSV.
//
// Pure, thread-safe. Text fits style.width.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "bench/cli/verdict.h"
#include "topology/doctor.h"

namespace hbmark::cli {

// The doctor's findings, and when they were taken or why there are none.
struct Findings {
  std::vector<topology::Finding> list;
  std::string when;
};

// A level of the memory hierarchy as a sweep found it.
struct MemoryLevel {
  std::string sweep;  // "stream triad f64, 1 thread"
  std::string text;   // "up to 512 KiB: 3.1 ns, n 5 (...); the CPU has L2 512 KiB"
};

std::string render_verdict(const RunView& view, const Verdict& verdict, const Findings& findings,
                           const std::vector<MemoryLevel>& levels, const Style& style);
std::string verdict_as_json(const RunView& view, const Verdict& verdict, const Findings& findings,
                            const std::vector<MemoryLevel>& levels);
std::string verdict_as_csv(const RunView& view, const Verdict& verdict, const Findings& findings,
                           const std::vector<MemoryLevel>& levels);

}  // namespace hbmark::cli
