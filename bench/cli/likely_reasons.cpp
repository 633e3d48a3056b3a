// Each rule looks at one thing that was recorded and says what it saw; none is more than likely.
#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "bench/cli/verdict.h"
#include "bench/problems/problem.h"

namespace hbmark::cli {
namespace {

// A call this short is largely its own start: waking a team of threads costs some microseconds, and so do a library's
// dispatch and packing. Rules of thumb, hence "likely": ten times such a start.
constexpr double kShortCallS = 20e-6;
constexpr double kShortTeamCallS = 100e-6;
constexpr std::int64_t kThin = 16;  // narrower than a vector register's f32: lanes stay empty

bool has_flag(const ResultRecord& result, std::string_view flag) {
  return std::find(result.flags.begin(), result.flags.end(), flag) != result.flags.end();
}

std::string unsteady(const ResultRecord& result) {
  for (const std::string_view flag : {"throttled", "drifting", "bimodal", "noisy"}) {
    if (!has_flag(result, flag)) continue;
    const auto half_width = half_width_of(*result.time);
    return fmt::format("{}: {} samples{}, so the machine was not quiet", flag, result.time->samples,
                       half_width ? fmt::format(" leave +-{}", percent(*half_width)) : "");
  }
  return "";
}

std::string short_call(const ResultRecord& result) {
  const double limit = result.threads > 1 ? kShortTeamCallS : kShortCallS;
  if (result.time->median >= limit) return "";
  return fmt::format("small problem: a call takes {}, much of it starting{}", si(result.time->median, "s", {}, 3),
                     result.threads > 1 ? fmt::format(" {} threads", result.threads) : " and packing");
}

// The bandwidth another result of the run had as its ceiling, with the same threads.
std::optional<double> bandwidth_beside(const ResultRecord& result, const RunView& view) {
  std::optional<double> best;
  for (const ResultRecord& other : view.results) {
    if (other.threads != result.threads || other.device != result.device || !other.ceiling_bytes_per_s) continue;
    best = std::max(best.value_or(0), *other.ceiling_bytes_per_s);
  }
  return best;
}

std::string bandwidth(const ResultRecord& result, const RunView& view) {
  if (!result.flop || !result.bytes || !(*result.bytes > 0) || !result.ceiling_flop_per_s) return "";
  const double intensity = *result.flop / *result.bytes;
  if (result.ceiling_bytes_per_s) {
    const double ridge = *result.ceiling_flop_per_s / *result.ceiling_bytes_per_s;
    if (intensity >= ridge) return "";
    return fmt::format("bandwidth-bound: {:.3g} FLOP/B, and the peak needs {:.3g}", intensity, ridge);
  }
  const auto beside = bandwidth_beside(result, view);
  if (!beside || intensity * *beside >= *result.ceiling_flop_per_s) return "";
  return fmt::format("few operations a byte: {:.3g} FLOP/B, and from memory the peak would need {:.3g}", intensity,
                     *result.ceiling_flop_per_s / *beside);
}

std::string shape(const ResultRecord& result) {
  const auto problem = parse_problem(result.problem);
  if (!problem) return "";
  if (result.kernel == "gemm") {
    for (const char* name : {"m", "n", "k"}) {
      const std::int64_t size = problem->number(name);
      if (size < kThin) return fmt::format("thin matrices: {} is {}", name, size);
    }
  }
  if (result.kernel != "conv") return "";
  const std::int64_t channels = problem->number("c");
  const std::int64_t groups = problem->number("g");
  if (groups > 1 && channels / groups < kThin) {
    return fmt::format("grouped: an output channel reads {} of {} input channels", channels / groups, channels);
  }
  return channels < kThin ? fmt::format("{} input channels fill no vector", channels) : "";
}

// AVX2 code beside a peak that was measured with AVX-512.
std::string narrow_code(const ResultRecord& result, const RunView& view) {
  const std::string& name = result.implementation;
  if (name.find("ref") != std::string::npos) {
    return fmt::format("the library chose '{}', its plain reference code", printable(name));
  }
  const auto wide = [](const std::string& text) { return text.find("avx512") != std::string::npos; };
  const bool wide_peak = std::any_of(view.results.begin(), view.results.end(), [&](const ResultRecord& other) {
    return other.kernel == "peak" && (wide(other.isa) || wide(other.implementation));
  });
  constexpr std::array<std::string_view, 3> kNarrow = {"avx2", "avx:", "sse"};
  const bool narrow = std::any_of(kNarrow.begin(), kNarrow.end(),
                                  [&](std::string_view word) { return name.find(word) != std::string::npos; });
  if (!wide_peak || !narrow || wide(name)) return "";
  return fmt::format("'{}' does not use AVX-512, which the peak does", printable(name));
}

std::string crowded(const ResultRecord& result, const topology::Node& node) {
  const auto cores = static_cast<std::int64_t>(node.cores.size());
  if (cores == 0 || result.threads * result.replicas <= cores) return "";
  return fmt::format("SMT: {} threads share {} cores", result.threads * result.replicas, cores);
}

}  // namespace

std::vector<std::string> likely_reasons(const ResultRecord& result, const RunView& view, const topology::Node& node) {
  if (!result.time) return {};
  std::vector<std::string> reasons = {unsteady(result),        short_call(result),        shape(result),
                                      bandwidth(result, view), narrow_code(result, view), crowded(result, node)};
  std::erase(reasons, "");
  return reasons;
}

}  // namespace hbmark::cli
