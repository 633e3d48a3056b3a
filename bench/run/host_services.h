// What this worker offers its plugins: log, placed memory, cancel. One a process: a plugin's services have no other owner.
//
// The services may be called from any thread; the functions here from the worker's main thread. Memory is first-touched in
// parallel by the pinned OpenMP team, so that a loop with the same static schedule finds its pages near.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backends/abi/host.h"
#include "topology/placed_memory.h"
#include "topology/placement.h"

namespace hbmark {

struct HostMemory {
  std::optional<std::uint64_t> room_bytes;  // what the control group leaves; absent: no limit
  topology::MemoryPlacement placement;      // which this process is bound to already
  topology::HugePages huge_pages = topology::HugePages::kAdvise;
};

// `threads`: size of the OpenMP team that touches. Call once, before any plugin is opened.
const hbmark_host* offer_host_services(int threads, HostMemory memory);

// What plugins have logged since the last call, a line each.
std::string take_plugin_log();

// Makes the cancel service say yes. Async-signal-safe.
void request_cancel() noexcept;
bool cancel_requested() noexcept;

// Bytes that may still be allocated: the node's available memory, not above what the cgroup leaves nor what the nodes of a
// strict placement have room for. nullopt: cannot be told.
std::optional<std::uint64_t> available_memory_bytes();

// Where each thread of the OpenMP team is now.
std::vector<topology::ThreadFinding> find_team(int threads);

}  // namespace hbmark
