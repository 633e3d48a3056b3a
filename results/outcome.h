// How a case ended. Stored as it is, never remapped: "not implemented" is not "skipped", and a crash is not a failure.
// Plain data, thread-safe.
#pragma once

#include <array>
#include <optional>
#include <string_view>

namespace hbmark {

enum class Outcome {
  kOk,
  kUnsupported,  // this backend cannot do this problem
  kUnavailable,  // no such device, driver, library or memory kind
  kSkipped,      // would not fit: needs X, has Y
  kMisplaced,    // pages or threads were not where asked
  kWrongResult,
  kFailed,   // the library reported an error, or the worker ended without a word
  kCrashed,  // a signal
  kTimeout,
  kNotRun,  // planned, and the run ended first
};

inline constexpr std::array<std::string_view, 10> kOutcomeNames = {
    "ok", "unsupported", "unavailable", "skipped", "misplaced", "wrong_result", "failed", "crashed", "timeout", "not_run"};

constexpr std::string_view outcome_name(Outcome outcome) { return kOutcomeNames[static_cast<std::size_t>(outcome)]; }

constexpr std::optional<Outcome> outcome_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    if (kOutcomeNames[i] == name) return static_cast<Outcome>(i);
  }
  return std::nullopt;
}

// A case that ended so makes `hbmark run` exit with 1.
constexpr bool is_failure(Outcome outcome) {
  return outcome == Outcome::kMisplaced || outcome == Outcome::kWrongResult || outcome == Outcome::kFailed ||
         outcome == Outcome::kCrashed || outcome == Outcome::kTimeout;
}

}  // namespace hbmark
