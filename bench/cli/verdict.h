// What a run says of its node: how far each class of kernels comes, where it falls short and probably why, and what the run
// did not find out.
//
// Pure: records in, plain data out; thread-safe. Pointers point into the RunView, which has to outlive the verdict. A class
// is a kernel with its type and kind of work ("conv bwd_data f32"), apart by backend, memory and threads where a run has
// several.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/render_results.h"
#include "topology/devices.h"
#include "topology/node.h"

namespace hbmark::cli {

// Over the cases of a class; not an interval: these are different problems.
struct Spread {
  double median = 0, low = 0, high = 0;
  std::int64_t cases = 0;
};

struct ClassVerdict {
  std::string name;
  std::string kernel;
  std::int64_t cases = 0;
  std::int64_t ok = 0;
  const ResultRecord* fastest = nullptr;  // by rate; null when none has one
  const ResultRecord* slowest = nullptr;  // by share of its ceiling; null when none has one
  std::optional<Spread> of_ceiling;
  std::optional<double> of_nominal;  // of `fastest`
  std::vector<std::string> reasons;  // why `slowest` may be slow; empty: nothing recorded tells
};

struct Gap {
  std::string what;  // "3 of 12 cases of conv fwd bf16: unsupported"
  std::string why;
};

struct Verdict {
  std::vector<ClassVerdict> classes;           // in the run's order
  std::vector<const ClassVerdict*> shortfall;  // below kGood of their ceiling, the lowest first
  std::vector<std::string> doubts;             // about the ceilings: shares of them that cannot be, or that mean little
  std::vector<Gap> gaps;
  std::string nominal;  // which figures and their source, or why there are none
};

// A class whose median case reaches this share of its ceiling is not called slow: large products reach 83 to 95 % of the
// measured peak with a good library.
inline constexpr double kGood = 0.8;

struct Nominal {
  std::optional<topology::NominalFigures> figures;
  std::string missing;  // why there are none
};

Verdict judge(const RunView& view, const topology::Node& node, const Nominal& nominal);

inline constexpr std::string_view kInCaches = ", in caches";  // ends the name of a memory kernel that fits them

// Kernels that show a level of memory: stream and chase.
bool is_memory_kernel(std::string_view kernel);

// What the call of a memory kernel works on; of others, their operands once.
std::optional<double> bytes_in_use(const ResultRecord& result);

// "gemm f32", "stream triad f64, in caches"; a problem this program cannot parse is its first word.
std::string class_name(const ResultRecord& result, const topology::Node& node);

// Why a result may fall short of its ceiling, from what was recorded with it and with the rest of the run.
std::vector<std::string> likely_reasons(const ResultRecord& result, const RunView& view, const topology::Node& node);

}  // namespace hbmark::cli
