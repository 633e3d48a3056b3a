#include "bench/run/job.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>

#include "bench/run/whole_number.h"

namespace hbmark {

namespace {
using nlohmann::json;
constexpr const char* kSchema = "hbmark.job/1";

constexpr std::array<std::string_view, 4> kRules = {"first_touch", "strict", "preferred", "interleave"};

json memory_to_json(const topology::MemoryPlacement& memory) {
  return {{"asked", memory.asked},
          {"kind", memory.kind},
          {"rule", kRules[static_cast<std::size_t>(memory.rule)]},
          {"nodes", memory.nodes}};
}

topology::MemoryPlacement memory_from_json(const json& line) {
  topology::MemoryPlacement memory;
  line.at("asked").get_to(memory.asked);
  line.at("kind").get_to(memory.kind);
  const auto rule = std::find(kRules.begin(), kRules.end(), line.at("rule").get<std::string>());
  if (rule == kRules.end()) throw json::other_error::create(501, "'rule' is none of memory's", nullptr);
  memory.rule = static_cast<topology::MemoryRule>(rule - kRules.begin());
  read_whole(line, "nodes", memory.nodes);
  return memory;
}

}  // namespace

std::string job_to_json(const WorkerJob& job) {
  const json document = {{"schema", kSchema},
                         {"plan", plan_to_json(job.plan)},
                         {"thread_pus", job.thread_pus},
                         {"omp_places", job.omp_places},
                         {"memory", memory_to_json(job.memory)},
                         {"memory_room_bytes", job.memory_room_bytes ? json(*job.memory_room_bytes) : json(nullptr)},
                         {"sweep_bytes", job.sweep_bytes},
                         {"replica", job.replica},
                         {"replica_block", job.replica_block},
                         {"replicas_on_nodes", job.replicas_on_nodes},
                         {"program", job.program}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<WorkerJob> job_from_json(const std::string& text) {
  const auto unreadable = [](std::string why) {
    return usage_error("the worker cannot read its plan", std::move(why),
                       "`hbmark worker` is started by `hbmark run`, not by hand; use `hbmark run`");
  };
  try {
    const json document = json::parse(text);
    if (document.at("schema").get<std::string>() != kSchema) return unreadable("its schema is another");
    WorkerJob job;
    auto plan = plan_from_json(document.at("plan").get<std::string>());
    if (!plan) return unreadable(plan.error().why);
    job.plan = std::move(*plan);
    read_whole(document, "thread_pus", job.thread_pus);
    document.at("omp_places").get_to(job.omp_places);
    job.memory = memory_from_json(document.at("memory"));
    if (const json& room = document.at("memory_room_bytes"); !room.is_null())
      job.memory_room_bytes = to_whole<std::uint64_t>(room, "memory_room_bytes");
    read_whole(document, "sweep_bytes", job.sweep_bytes);
    read_whole(document, "replica", job.replica);
    read_whole(document, "replica_block", job.replica_block);
    read_whole(document, "replicas_on_nodes", job.replicas_on_nodes);
    document.at("program").get_to(job.program);
    return job;
  } catch (const json::exception& error) {
    return unreadable(error.what());
  }
}

}  // namespace hbmark
