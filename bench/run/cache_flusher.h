// Makes caches cold: each pinned thread of the worker's team reads memory of its own until nothing else is left in any
// on-core cache. Why so, and how it is known to be cold: docs/adr/0007-cold-cache.md.
//
// Called from the worker's main thread, outside the timed part. Owns its memory (one piece that all threads read).
#pragma once

#include <cstdint>
#include <string>

#include "results/base/result.h"
#include "topology/node.h"
#include "topology/placed_memory.h"

namespace hbmark {

// How much each thread reads: four times the largest cache that a core can reach.
std::uint64_t flush_bytes_for(const topology::Node& node);

// "each call follows a read of 128 MiB by each thread; the memory-side cache of 16 GiB (NUMA node 0) stays warm".
std::string describe_cold(const topology::Node& node);

class CacheFlusher {
 public:
  // Errors (environment): no memory for it.
  static Result<CacheFlusher> make(std::uint64_t bytes, int threads);

  void flush() const;

 private:
  CacheFlusher(topology::PlacedMemory memory, std::uint64_t bytes, int threads)
      : memory_(std::move(memory)), bytes_(bytes), threads_(threads) {}

  topology::PlacedMemory memory_;
  std::uint64_t bytes_ = 0;
  int threads_ = 1;
};

}  // namespace hbmark
