#include "bench/run/cache_flusher.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "bench/problems/suite.h"
#include "bench/problems/text.h"
#include "bench/run/host_services.h"
#include "bench/run/plugin_calls.h"

#if defined(__x86_64__)
#include <cpuid.h>
#include <immintrin.h>
#endif

namespace hbmark {

namespace {

// Once the last level is not enough where it is a victim cache or its replacement resists scans; four times is (measured:
// the ADR). It is STREAM's rule as well.
constexpr std::uint64_t kTimesLargestCache = 4;
constexpr std::size_t kLineBytes = 64;  // of every x86-64; a larger line is read twice
constexpr std::size_t kPageBytes = 4096;

#if defined(__x86_64__)

// EBX of leaf 7: Intel SDM volume 2A, CPUID. Knights Landing has only the older clflush, which does the same in order.
bool has_clflushopt() {
  unsigned a = 0, b = 0, c = 0, d = 0;
  constexpr unsigned kClflushopt = 1U << 23;
  return __get_cpuid_count(7, 0, &a, &b, &c, &d) != 0 && (b & kClflushopt) != 0;
}

__attribute__((target("clflushopt"))) void flush_unordered(const std::byte* first, std::size_t bytes) {
  for (std::size_t i = 0; i < bytes; i += kLineBytes) _mm_clflushopt(const_cast<std::byte*>(first + i));
}

void flush_piece(const std::byte* first, std::size_t bytes) {
  static const bool unordered = has_clflushopt();
  if (unordered) {
    flush_unordered(first, bytes);
  } else {
    for (std::size_t i = 0; i < bytes; i += kLineBytes) _mm_clflush(first + i);
  }
  if (bytes > 0) _mm_clflush(first + bytes - 1);  // a buffer need not begin with its first line
  _mm_mfence();                                   // done before the barrier, and so before the clock starts
}

#else

void flush_piece(const std::byte*, std::size_t) {}

#endif

}  // namespace

bool CacheFlusher::can_flush_lines() {
#if defined(__x86_64__)
  return true;
#else
  return false;
#endif
}

std::uint64_t sweep_bytes_for(const topology::Node& node) {
  std::uint64_t largest = 0;
  for (const topology::Cache& cache : node.caches) largest = std::max(largest, cache.size_bytes);
  return kTimesLargestCache * (largest > 0 ? largest : kAssumedLastLevelBytes);
}

std::string describe_cold(const topology::Node& node) {
  std::string text = CacheFlusher::can_flush_lines()
                         ? "before each call, outside its time, the threads flush all operands from every cache"
                         : fmt::format("before each call, outside its time, each thread reads {} of other memory",
                                       text::bytes_text(sweep_bytes_for(node)));
  for (const topology::MemorySideCache& cache : node.memory_side_caches) {
    text += fmt::format("; the memory-side cache of {} (NUMA node {}) stays warm", text::bytes_text(cache.size_bytes),
                        cache.os_index);
  }
  return text;
}

Result<CacheFlusher> CacheFlusher::make(std::uint64_t sweep_bytes, int threads) {
  if (can_flush_lines()) return by_lines(threads);
  return by_sweep(sweep_bytes, threads);
}

Result<CacheFlusher> CacheFlusher::by_sweep(std::uint64_t bytes, int threads) {
  constexpr const char* kWhat = "cannot make caches cold";
  constexpr const char* kNext = "free memory, or measure without --cold-cache";
  const auto available = available_memory_bytes();
  if (available && bytes > *available) {
    return environment_error(
        kWhat, fmt::format("the flush needs {}, has {}", text::bytes_text(bytes), text::bytes_text(*available)), kNext);
  }
  auto memory = topology::PlacedMemory::allocate(bytes, kPageBytes);
  if (!memory) return environment_error(kWhat, memory.error().what + ": " + memory.error().why, kNext);
  // Written, so that there are pages of its own to read: untouched ones are all the one page of zeros.
  auto* first = static_cast<volatile std::byte*>(memory->address());
  const auto end = static_cast<std::int64_t>(bytes);
#pragma omp parallel for schedule(static) num_threads(threads)
  for (std::int64_t offset = 0; offset < end; offset += static_cast<std::int64_t>(kPageBytes)) first[offset] = std::byte{1};
  return CacheFlusher(std::move(*memory), bytes, threads);
}

void CacheFlusher::flush(std::span<const Buffer> buffers) const {
  if (bytes_ > 0) {
    sweep();
  } else {
    flush_lines(buffers);
  }
}

// A flush reaches every cache of the machine, so the threads share the work, a page at a time.
void CacheFlusher::flush_lines(std::span<const Buffer> buffers) const {
  for (const Buffer& buffer : buffers) {
    const auto end = static_cast<std::int64_t>(buffer.size());
#pragma omp parallel for schedule(static) num_threads(threads_)
    for (std::int64_t offset = 0; offset < end; offset += static_cast<std::int64_t>(kPageBytes)) {
      const auto first = static_cast<std::size_t>(offset);
      flush_piece(buffer.data() + first, std::min(kPageBytes, buffer.size() - first));
    }
  }
}

void CacheFlusher::sweep() const {
  const auto* first = static_cast<const volatile std::uint64_t*>(memory_.address());
  const std::size_t words = bytes_ / sizeof(std::uint64_t);
#pragma omp parallel num_threads(threads_)
  {
    // All of it by each thread: whichever caches a thread reaches, alone or with others, see as much as they must.
    std::uint64_t sum = 0;
    for (std::size_t i = 0; i < words; i += kLineBytes / sizeof(std::uint64_t)) sum += first[i];
    std::atomic_signal_fence(std::memory_order_seq_cst);
    static_cast<void>(sum);
  }
}

}  // namespace hbmark
