// Which PUs the threads of a configuration get, how OpenMP is told, and the proof that it did as told.
//
// Plan: in the parent, from a Node. Verify: in the worker, after the OpenMP team exists. Nothing here starts threads but
// verify_threads, which uses the caller's OpenMP team through the callback it is given (this folder links no OpenMP).
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/base/result.h"
#include "topology/memory_policy.h"
#include "topology/node.h"

namespace hbmark::topology {

enum class Pin {
  kScatter,  // over the cores first, as far apart as they are; then over the second PU of each core
  kCompact,  // all PUs of one core before the next
  kNone,     // the kernel's to decide
};

struct ThreadWish {
  int threads = 0;   // 0: per_core (or one) on each core that has an allowed PU
  int per_core = 0;  // PUs of a core to use at most; 0: as many as the threads need
  Pin pin = Pin::kScatter;
};

inline constexpr int kUnpinned = -1;  // in the place of a PU

struct Placement {
  std::vector<int> thread_pus;  // os index for each thread, in thread order; kUnpinned for all with Pin::kNone
  std::string omp_places;       // "{0},{2},{4}"; empty when unpinned
  // Environment the worker is started with: OMP_NUM_THREADS, OMP_PLACES, OMP_PROC_BIND, OMP_WAIT_POLICY, OMP_DYNAMIC, ...
  std::vector<std::pair<std::string, std::string>> environment;
  std::vector<Warning> warnings;  // "more threads than the cgroup's quota", ...
  MemoryPlacement memory;         // plan_memory's; plan_threads leaves first touch
  std::vector<Placement> parts;   // of replicas (topology/partition.h): one each; empty: the whole is one process
};

// Errors (usage): negative, more threads than allowed PUs, a topology that is not this machine's.
Result<Placement> plan_threads(const Node& node, const ThreadWish& wish);
inline Result<Placement> plan_threads(const Node& node, int threads) {
  return plan_threads(node, ThreadWish{threads, 0, Pin::kScatter});
}

struct ThreadFinding {
  int thread = 0;
  std::vector<int> allowed;  // the PUs its affinity mask holds
  int running_on = -1;       // sched_getcpu
};

// The affinity mask and current PU of the calling thread. Thread-safe.
ThreadFinding find_this_thread(int thread_number);

// OK when thread i is allowed exactly thread_pus[i] and runs there (unpinned ones may be anywhere); else an error that names
// the first that is not.
Status check_threads(const Placement& placement, const std::vector<ThreadFinding>& found);

struct PageFinding {
  std::map<int, std::uint64_t> pages_by_node;  // NUMA os index -> pages
  std::uint64_t not_present = 0;               // never touched, or swapped out
};

// Where the pages of [address, address + bytes) are, by move_pages(2) with no target. Thread-safe.
// Errors: the kernel refuses (old kernel, seccomp): environment.
Result<PageFinding> find_pages(const void* address, std::size_t bytes);

}  // namespace hbmark::topology
