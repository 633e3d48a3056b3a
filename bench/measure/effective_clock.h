// How fast the core really runs now, from a chain of dependent integer additions: one a cycle, whatever the frequency
// governor, a power limit or a hypervisor say.
//
// Measures the calling thread's core and takes about 5 ms of it. Thread-safe. Where no chain of known latency is written for
// the architecture there is no figure, and `note` says so.
#pragma once

#include <optional>
#include <string>

namespace hbmark {

struct ClockReading {
  std::optional<double> hz;
  std::string note;  // why there is none; empty when there is one

  bool operator==(const ClockReading&) const = default;
};

ClockReading effective_clock();

// The clock at a case's end, or all through the case, was lower than it was before by more than a turbo step or two.
// `at_start`: when the worker began. What is absent is not compared with.
bool is_throttled(std::optional<double> at_start, std::optional<double> before, std::optional<double> after);

}  // namespace hbmark
