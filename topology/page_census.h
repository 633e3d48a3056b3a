// The proof of placement: where all anonymous pages of this process are, and how many of them are huge.
//
// Heap, stacks, generated code, a library's packing buffers and scratch all count; file-backed text does not. Reads
// /proc/self; changes nothing. Thread-safe; pages may move while they are counted. Failures (environment): the kernel does
// not tell (no NUMA support, a sandbox).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "results/base/result.h"
#include "topology/memory_policy.h"

namespace hbmark::topology {

using BytesByNode = std::map<int, std::uint64_t>;  // NUMA os index -> bytes

// Counts anonymous pages. A private mapping of a file can hold both kinds of page on several nodes, which numa_maps does not
// tell apart: those are asked for one by one.
Result<BytesByNode> count_anonymous_bytes();

// A line of /proc/self/numa_maps: its anonymous bytes are `bytes`, unless `mixed`, when they must be asked for.
struct NumaMapsLine {
  std::uintptr_t begin = 0;
  BytesByNode bytes;
  bool mixed = false;
};
// Lines without anonymous pages are left out. Errors (environment): a line that is none of the kernel's.
Result<std::vector<NumaMapsLine>> parse_numa_maps(const std::string& text);

// Bytes of [address, address + bytes) on huge pages, from /proc/self/smaps; at most `bytes`.
Result<std::uint64_t> count_huge_bytes(const void* address, std::uint64_t bytes);
// Transparent huge pages of the whole process, bytes.
Result<std::uint64_t> count_transparent_huge_bytes();

// Errors (environment): this kernel gives no transparent huge pages, not even advised ones.
Status transparent_huge_pages(const std::string& root = "");

// Free pages of 2 MiB in the pool of these nodes (empty: of the machine). 0 where there is no pool.
std::uint64_t free_pool_pages(const std::vector<int>& nodes, const std::string& root = "");

// Shares of 1 by node; empty when there is nothing.
std::map<int, double> shares(const BytesByNode& bytes);
// OK when a strict or interleaved placement holds all of `found`; else an error whose `why` has the shares.
Status check_bytes(const MemoryPlacement& memory, const BytesByNode& found, const std::string& what);

}  // namespace hbmark::topology
