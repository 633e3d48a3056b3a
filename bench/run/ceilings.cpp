#include "bench/run/ceilings.h"

#include <algorithm>

#include "backends/abi/kernel.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"

namespace hbmark {

namespace {

// STREAM's rule: arrays of at least four times the last-level cache (J. McCalpin,
// https://www.cs.virginia.edu/stream/ref.html).
constexpr std::uint64_t kTimesLastLevel = 4;

std::optional<double> rate(const ResultRecord& result, const std::optional<double>& amount) {
  if (!result.time || !amount || result.time->median <= 0 || *amount <= 0) return std::nullopt;
  return *amount / result.time->median;
}

}  // namespace

std::string type_word(const Problem& problem) {
  for (const auto& [name, word] : problem.words) {
    if (name == "type") return word;
  }
  return {};
}

bool beyond_caches(std::uint64_t bytes, std::uint64_t last_level_cache_bytes) {
  return bytes / kTimesLastLevel >= (last_level_cache_bytes > 0 ? last_level_cache_bytes : kAssumedLastLevelBytes);
}

bool Ceilings::comes_from_memory(const ResultRecord& result, const CaseFacts& facts) const {
  const auto& flags = result.flags;
  return std::find(flags.begin(), flags.end(), "cold") != flags.end() ||
         beyond_caches(facts.working_set_bytes, last_level_cache_bytes_);
}

void Ceilings::learn(const ResultRecord& result, const Problem& problem) {
  if (result.outcome != Outcome::kOk) return;
  if (problem.kernel->name == "peak") {
    if (const auto reached = rate(result, result.flop)) {
      double& best = flop_per_s_[{place_of(result), type_word(problem)}];
      best = std::max(best, *reached);
    }
  } else if (problem.kernel->name == "stream" &&
             beyond_caches(static_cast<std::uint64_t>(result.bytes.value_or(0)), last_level_cache_bytes_)) {
    if (const auto reached = rate(result, result.bytes)) {
      double& best = bytes_per_s_[place_of(result)];
      best = std::max(best, *reached);
    }
  }
}

void Ceilings::apply_stream(ResultRecord& result, const CaseFacts& facts) const {
  const auto best = bytes_per_s_.find(place_of(result));
  const auto reached = rate(result, result.bytes);
  // A stream is itself the ceiling: it is compared with others, and never with itself alone.
  if (best == bytes_per_s_.end() || !reached || !comes_from_memory(result, facts)) return;
  result.ceiling_bytes_per_s = std::max(best->second, *reached);
  result.ceiling_fraction = *reached / *result.ceiling_bytes_per_s;
}

void Ceilings::apply_roofline(ResultRecord& result, const Problem& problem, const CaseFacts& facts) const {
  const auto peak = flop_per_s_.find({place_of(result), type_word(problem)});
  if (peak != flop_per_s_.end()) result.ceiling_flop_per_s = peak->second;
  const auto stream = bytes_per_s_.find(place_of(result));
  if (stream != bytes_per_s_.end() && comes_from_memory(result, facts)) result.ceiling_bytes_per_s = stream->second;

  const auto reached = rate(result, result.flop);
  if (!reached || !result.ceiling_flop_per_s) return;
  double roof = *result.ceiling_flop_per_s;
  if (result.ceiling_bytes_per_s && result.bytes && *result.bytes > 0) {
    roof = std::min(roof, *result.flop / *result.bytes * *result.ceiling_bytes_per_s);
  }
  result.ceiling_fraction = *reached / roof;
  if (*result.ceiling_fraction > 1 && facts.algorithm_class != HBMARK_ALGORITHM_DIRECT)
    result.flags.push_back("algorithmic");
}

void Ceilings::apply(ResultRecord& result, const Problem& problem, const CaseFacts& facts) const {
  result.ceiling_flop_per_s.reset();
  result.ceiling_bytes_per_s.reset();
  result.ceiling_fraction.reset();
  if (result.outcome != Outcome::kOk || problem.kernel->name == "peak") return;
  if (problem.kernel->name == "stream") {
    apply_stream(result, facts);
  } else {
    apply_roofline(result, problem, facts);
  }
}

}  // namespace hbmark
