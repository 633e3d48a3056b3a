#include "bench/measure/effective_clock.h"

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace hbmark {
namespace {

// Turbo steps come and go as neighbours wake and sleep: 2.7 to 3.0 GHz within seconds was seen on a shared machine with
// nothing wrong. A power or thermal limit takes more.
constexpr double kThrottled = 0.85;

#if defined(__x86_64__)

// A chain must be short against a time slice, so that some chain runs whole beside a busy neighbour, and long against
// reading the clock twice (50 ns): 64,000 cycles are 13 to 50 us from 5 GHz to 1.3 GHz.
constexpr std::int64_t kAddsARound = 64;
constexpr std::int64_t kRounds = 1000;
// The best of all chains in so long a time. Longer than a scheduler's slice (3 to 4 ms on Linux), and than a core takes to
// leave the lower clock that wide vectors give it (about 0.7 ms: Intel 64 and IA-32 Optimization Reference Manual, section
// on Skylake Server power management): that one is the case's own, and no throttling.
constexpr std::chrono::microseconds kFor{5000};

#define HBMARK_ADD_4 "add %[one], %[sum]\n\tadd %[one], %[sum]\n\tadd %[one], %[sum]\n\tadd %[one], %[sum]\n\t"
#define HBMARK_ADD_16 HBMARK_ADD_4 HBMARK_ADD_4 HBMARK_ADD_4 HBMARK_ADD_4

// An addition of two registers takes one cycle on every x86-64 (uops.info; Agner Fog, "Instruction tables"), Knights Landing
// included. A constant would not do: Golden Cove and later add small constants while renaming, in no time. All in one asm,
// the loop as well, so that no compiler setting changes it: it counts down beside the chain.
void add_chain(std::int64_t rounds) {
  std::int64_t sum = 0;
  const std::int64_t one = 1;
  asm volatile("1:\n\t" HBMARK_ADD_16 HBMARK_ADD_16 HBMARK_ADD_16 HBMARK_ADD_16
               "sub $1, %[left]\n\t"
               "jnz 1b"
               : [sum] "+r"(sum), [left] "+r"(rounds)
               : [one] "r"(one)
               : "cc");
}

#undef HBMARK_ADD_16
#undef HBMARK_ADD_4

#endif

}  // namespace

#if defined(__x86_64__)

ClockReading effective_clock() {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point start = Clock::now();
  double best_s = 0;
  for (Clock::time_point now = start; now - start < kFor;) {
    add_chain(kRounds);
    const Clock::time_point end = Clock::now();
    const double elapsed_s = std::chrono::duration<double>(end - now).count();
    if (elapsed_s > 0 && (best_s <= 0 || elapsed_s < best_s)) best_s = elapsed_s;
    now = end;
  }
  if (best_s <= 0) return {std::nullopt, "the clock did not advance while a chain of additions ran"};
  return {static_cast<double>(kAddsARound * kRounds) / best_s, ""};
}

#else

ClockReading effective_clock() {
  return {std::nullopt, "hbmark has no chain of additions of known latency for this architecture, only for x86-64"};
}

#endif

bool is_throttled(std::optional<double> at_start, std::optional<double> before, std::optional<double> after) {
  if (!before || !after) return false;
  const double reference = std::max(*before, at_start.value_or(0));
  return *after < kThrottled * reference || *before < kThrottled * reference;
}

}  // namespace hbmark
