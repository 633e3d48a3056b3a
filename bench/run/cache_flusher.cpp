#include "bench/run/cache_flusher.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <utility>

#include "bench/run/host_services.h"
#include "bench/run/plugin_calls.h"

namespace hbmark {

namespace {

// Once the last level is not enough where it is a victim cache or its replacement resists scans; four times is (measured:
// the ADR). It is STREAM's rule as well.
constexpr std::uint64_t kTimesLargestCache = 4;
constexpr std::uint64_t kAssumedCacheBytes = std::uint64_t{32} << 20;  // as bench/run/ceilings.cpp assumes
constexpr std::size_t kLineBytes = 64;                                 // of every x86-64; a larger line is read twice
constexpr std::size_t kPageBytes = 4096;

}  // namespace

std::uint64_t flush_bytes_for(const topology::Node& node) {
  std::uint64_t largest = 0;
  for (const topology::Cache& cache : node.caches) largest = std::max(largest, cache.size_bytes);
  return kTimesLargestCache * (largest > 0 ? largest : kAssumedCacheBytes);
}

std::string describe_cold(const topology::Node& node) {
  std::string text = fmt::format("each call follows a read of {} by each thread, outside the timed part",
                                 bytes_text(flush_bytes_for(node)));
  for (const topology::MemorySideCache& cache : node.memory_side_caches) {
    text +=
        fmt::format("; the memory-side cache of {} (NUMA node {}) stays warm", bytes_text(cache.size_bytes), cache.os_index);
  }
  return text;
}

Result<CacheFlusher> CacheFlusher::make(std::uint64_t bytes, int threads) {
  constexpr const char* kWhat = "cannot make caches cold";
  constexpr const char* kNext = "free memory, or measure without --cold-cache";
  const auto available = available_memory_bytes();
  if (available && bytes > *available) {
    return environment_error(kWhat, fmt::format("the flush needs {}, has {}", bytes_text(bytes), bytes_text(*available)),
                             kNext);
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

void CacheFlusher::flush() const {
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
