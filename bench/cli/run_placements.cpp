#include "bench/cli/run_placements.h"

#include <fmt/core.h>

#include <utility>

#include "bench/cli/report.h"
#include "topology/memory_policy.h"
#include "topology/page_census.h"
#include "topology/partition.h"

namespace hbmark::cli {
namespace {

// Where the memory of these threads goes; a refusal to bind there is the second.
struct PlacedMemory {
  topology::MemoryPlacement memory;
  Status possible;
};

Result<PlacedMemory> place_memory(const topology::Node& node, const std::string& asked, const std::vector<int>& thread_pus) {
  auto memory = topology::plan_memory(node, asked, thread_pus);
  if (!memory && memory.error().kind == ErrorKind::kUsage) return tl::make_unexpected(memory.error());
  Status possible = memory ? topology::try_binding(*memory) : tl::make_unexpected(memory.error());
  return PlacedMemory{memory.value_or(topology::MemoryPlacement{asked, asked, topology::MemoryRule::kFirstTouch, {}}),
                      std::move(possible)};
}

}  // namespace

Result<Placements> place_run(const topology::Node& node, const Plan& wanted, const Context& context) {
  Placements placements;
  for (std::size_t i = 0; i < wanted.placements.size(); ++i) {
    auto placement = wanted.replicas > 1 ? topology::plan_replicas(node, wanted.replicas, thread_wish(wanted, i))
                                         : topology::plan_threads(node, thread_wish(wanted, i));
    if (!placement) return tl::make_unexpected(placement.error());
    for (const topology::Warning& warning : placement->warnings) {
      if (!context.quiet && i == 0) print_warning(warning.text, context.err);
    }
    const std::string& asked = wanted.placements[i].memory;
    auto placed = place_memory(node, asked, placement->thread_pus);
    if (!placed) return tl::make_unexpected(placed.error());
    Status possible = std::move(placed->possible);
    placement->memory = placed->memory;
    for (topology::Placement& part : placement->parts) {  // each has the memory that is near its own cores
      auto near_it = place_memory(node, asked, part.thread_pus);
      if (!near_it) return tl::make_unexpected(near_it.error());
      part.memory = near_it->memory;
      if (possible) possible = std::move(near_it->possible);
    }
    if (possible && wanted.pages == "thp") possible = topology::transparent_huge_pages();
    placements.all.push_back(std::move(*placement));
    placements.refused.push_back(
        possible ? "" : fmt::format("{}: {}; {}", possible.error().what, possible.error().why, possible.error().next));
  }
  return placements;
}

}  // namespace hbmark::cli
