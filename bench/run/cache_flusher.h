// Makes operands cold: out of every on-core cache, by each pinned thread of the worker's team, outside the timed part. Why
// so, and how it is known to be cold: docs/adr/0007-cold-cache.md.
//
// Line by line where the architecture lets a user do that (x86-64), else by reading other memory until nothing else can be
// left. Called from the worker's main thread. Owns the memory that it reads, and borrows what it flushes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>

#include "results/base/result.h"
#include "topology/node.h"
#include "topology/placed_memory.h"

namespace hbmark {

class CacheFlusher {
 public:
  using Buffer = std::span<const std::byte>;

  // The better way that there is here; `sweep_bytes` is for the other.
  static Result<CacheFlusher> make(std::uint64_t sweep_bytes, int threads);
  static bool can_flush_lines();
  static CacheFlusher by_lines(int threads) { return {{}, 0, threads}; }
  // Each thread reads all of so many bytes. Errors (environment): no memory for it.
  static Result<CacheFlusher> by_sweep(std::uint64_t bytes, int threads);

  void flush(std::span<const Buffer> buffers) const;

 private:
  CacheFlusher(topology::PlacedMemory memory, std::uint64_t bytes, int threads)
      : memory_(std::move(memory)), bytes_(bytes), threads_(threads) {}
  void flush_lines(std::span<const Buffer> buffers) const;
  void sweep() const;

  topology::PlacedMemory memory_;
  std::uint64_t bytes_ = 0;  // 0: line by line
  int threads_ = 1;
};

// How much a thread must read to sweep: four times the largest cache of one core.
std::uint64_t sweep_bytes_for(const topology::Node& node);

// How it is done here, and what stays warm: "...; the memory-side cache of 16 GiB (NUMA node 0) stays warm".
std::string describe_cold(const topology::Node& node);

}  // namespace hbmark
