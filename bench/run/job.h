// What a worker is handed: the cases of one configuration and all it needs to know of the node. JSON, hbmark.job/1.
// Plain data; the two functions are exact inverses and pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "bench/run/plan.h"
#include "results/base/result.h"

namespace hbmark {

struct WorkerJob {
  Plan plan;                    // with only the cases to run, in order
  std::vector<int> thread_pus;  // os index for each thread; topology::kUnpinned: any
  std::string omp_places;
  topology::MemoryPlacement memory;
  std::optional<std::uint64_t> memory_room_bytes;  // what the control group leaves; absent: no limit
  std::uint64_t sweep_bytes = 0;                   // of a cold run: how much a sweep of the caches reads
  int replica = 0;                                 // of plan.replicas, from 0
  int replica_block = -1;                          // descriptor of the memory they share; -1: there is one
  int replicas_on_nodes = 1;                       // that share the memory nodes of this one
  std::string program;                             // where plugins are looked for beside
};

std::string job_to_json(const WorkerJob& job);
Result<WorkerJob> job_from_json(const std::string& text);

}  // namespace hbmark
