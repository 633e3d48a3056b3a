#include "bench/run/candidate_search.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <limits>

namespace hbmark {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kShareOfBudget = 0.2;
constexpr double kEnoughS = 0.01;  // of calls for one candidate, after its warm-up call
constexpr int kMostCalls = 20;
constexpr double kLongCallS = 1;  // what a first call does besides is nothing against it

// Seconds of the best call.
Step<double> time_candidate(BoundCase& bound, std::span<const HostArray> inputs, std::uint32_t candidate) {
  if (auto selected = bound.select(candidate); !selected) return tl::make_unexpected(selected.error());
  if (auto bytes = bound.load_operands(); !bytes) return tl::make_unexpected(bytes.error());
  if (auto allocated = bound.allocate_and_bind(); !allocated) return tl::make_unexpected(allocated.error());
  if (auto written = bound.write_inputs(inputs); !written) return tl::make_unexpected(written.error());
  bound.announce("search");
  const auto warm = bound.run(1);
  if (!warm || *warm > kLongCallS) return warm;
  double best_s = std::numeric_limits<double>::infinity();
  double total_s = 0;
  for (int call = 0; call < kMostCalls && (call == 0 || total_s < kEnoughS); ++call) {
    auto elapsed_s = bound.run(1);
    if (!elapsed_s) return elapsed_s;
    if (!(*elapsed_s > 0)) return case_ends(Outcome::kFailed, "its clock did not advance");
    total_s += *elapsed_s;
    best_s = std::min(best_s, *elapsed_s);
  }
  return best_s;
}

}  // namespace

Step<CandidateChoice> search_candidates(BoundCase& bound, std::span<const HostArray> inputs, double budget_s) {
  const auto candidates = bound.candidates();
  if (!candidates) return tl::make_unexpected(candidates.error());
  if (candidates->size() < 2) return CandidateChoice{};
  const auto start = Clock::now();
  std::string note = fmt::format("searched {} candidates:", candidates->size());
  std::uint32_t best = 0;
  double best_s = std::numeric_limits<double>::infinity();
  for (std::uint32_t i = 0; i < candidates->size(); ++i) {
    if (i > 0 && std::chrono::duration<double>(Clock::now() - start).count() > kShareOfBudget * budget_s) {
      note += fmt::format(" {} not tried for lack of time;", candidates->size() - i);
      break;
    }
    const auto time_s = time_candidate(bound, inputs, i);
    if (!time_s) {
      note += fmt::format(" {} passed over ({});", (*candidates)[i].name, time_s.error().reason);
      continue;
    }
    note += fmt::format(" {} {:.4g} s;", (*candidates)[i].name, *time_s);
    if (*time_s < best_s) {
      best_s = *time_s;
      best = i;
    }
  }
  if (auto selected = bound.select(best); !selected) return tl::make_unexpected(selected.error());
  return CandidateChoice{best, note + fmt::format(" chose {}", (*candidates)[best].name)};
}

}  // namespace hbmark
