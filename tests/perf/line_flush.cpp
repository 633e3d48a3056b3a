#include "tests/perf/line_flush.h"

#include <cstdint>

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hbmark::perf {

#if defined(__x86_64__)

namespace {

constexpr std::size_t kLineBytes = 64;

bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kClflushopt = 1U << 23;  // EBX of leaf 7: Intel SDM volume 2A, CPUID
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kClflushopt) != 0;
}

__attribute__((target("clflushopt"))) void flush_optimized(const char* first, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLineBytes) _mm_clflushopt(const_cast<char*>(first + i));
}

}  // namespace

bool can_flush_lines() { return true; }

void flush_lines(const void* address, std::size_t bytes) {
  static const bool optimized = has_clflushopt();
  const auto* first = static_cast<const char*>(address);
  if (optimized) {
    flush_optimized(first, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; i += kLineBytes) _mm_clflush(first + i);
  }
  _mm_mfence();
}

#else

bool can_flush_lines() { return false; }
void flush_lines(const void*, std::size_t) {}

#endif

}  // namespace hbmark::perf
