// The part of a case that asks whether memory is there, and proves where it is: before and after the samples.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/problems/text.h"
#include "bench/run/case_runner.h"
#include "bench/run/host_services.h"
#include "topology/page_census.h"

namespace hbmark {

namespace {

// What comes and goes inside calls and is nobody's operand: a convolution of oneDNN took 1,352 pages (5.3 MiB) with two
// threads beside 470 that stay.
constexpr std::uint64_t kReservedBytes = std::uint64_t{8} << 20;
constexpr std::uint64_t kReservedPerThreadBytes = std::uint64_t{1} << 20;
constexpr std::uint64_t kPoolPageBytes = std::uint64_t{2} << 20;
constexpr double kSpilledShare = 1e-3;

bool proof_is_due(const topology::MemoryPlacement& memory) {
  return memory.rule == topology::MemoryRule::kStrict || memory.rule == topology::MemoryRule::kInterleave;
}

std::string where(const topology::MemoryPlacement& memory) {
  if (memory.nodes.empty()) return "";
  return fmt::format(" on NUMA node {}", fmt::join(memory.nodes, ","));
}

bool spilled(const topology::MemoryPlacement& memory, const std::map<int, double>& shares) {
  double elsewhere = 0;
  for (const auto& [node, share] : shares) {
    if (std::find(memory.nodes.begin(), memory.nodes.end(), node) == memory.nodes.end()) elsewhere += share;
  }
  return memory.rule == topology::MemoryRule::kPreferred && elsewhere > kSpilledShare;
}

CaseEnd unproven(const Error& error) {
  return {Outcome::kUnavailable,
          fmt::format("the placement cannot be proved: {}: {}; {}", error.what, error.why, error.next)};
}

}  // namespace

Step<void> CaseRunner::must_fit(std::uint64_t needed) const {
  const auto here = static_cast<std::uint64_t>(std::max(job_.replicas_on_nodes, 1));
  const auto replicas = static_cast<std::uint64_t>(std::max(job_.plan.replicas, 1));
  const auto of_replicas = [](std::uint64_t count) {
    return count > 1 ? fmt::format(" for {} replicas", count) : std::string();
  };
  if (const auto room = topology::room_for(job_.memory)) {
    const std::uint64_t reserved = here * (kReservedBytes + kReservedPerThreadBytes * job_.thread_pus.size());
    const std::uint64_t free_bytes = *room > reserved ? *room - reserved : 0;
    if (needed > free_bytes / here) {
      return case_ends(
          Outcome::kSkipped,
          fmt::format("needs {}{} of {}, {} free{}: choose a smaller problem, free that memory, or let it spill "
                      "with --memory fast-preferred",
                      text::bytes_text(here * needed), of_replicas(here), job_.memory.kind, text::bytes_text(free_bytes),
                      where(job_.memory)));
    }
  }
  const auto available = available_memory_bytes();
  if (!available || needed <= *available / replicas) return {};
  return case_ends(Outcome::kSkipped,
                   fmt::format("needs {}{}, has {} available: free memory or choose a smaller problem",
                               text::bytes_text(replicas * needed), of_replicas(replicas), text::bytes_text(*available)));
}

// A page of a pool that turns out to be empty ends the process when it is touched (SIGBUS).
Step<void> CaseRunner::must_fit_pool(const BoundCase& bound) const {
  if (job_.plan.pages != "2m") return {};
  std::uint64_t needed = 0;
  for (const hbmark_operand& operand : bound.operands())
    needed += (operand.device_bytes + kPoolPageBytes - 1) / kPoolPageBytes;
  needed *= static_cast<std::uint64_t>(std::max(job_.replicas_on_nodes, 1));
  const std::uint64_t there = topology::free_pool_pages(job_.memory.nodes);
  if (needed <= there) return {};
  const std::string mend =
      job_.memory.nodes.empty()
          ? fmt::format("sysctl vm.nr_hugepages={}", needed)
          : fmt::format(
                "echo {} > /sys/devices/system/node/node{}/hugepages/hugepages-2048kB/nr_hugepages (sysctl "
                "vm.nr_hugepages spreads them over all nodes)",
                needed, job_.memory.nodes.front());
  return case_ends(Outcome::kSkipped, fmt::format("needs {} pages of 2 MiB{}, {} free in the pool: as root, {}", needed,
                                                  where(job_.memory), there, mend));
}

Step<void> CaseRunner::check_pages(const BoundCase& bound, Event& event, const char* when) const {
  ResultRecord& result = event.result;
  const auto operands = bound.bytes_by_node();
  const auto all = probes_.anonymous_bytes();
  if (operands) result.pages = topology::shares(*operands);
  if (all) result.worker_pages = topology::shares(*all);
  if (spilled(job_.memory, result.pages) &&
      std::find(result.flags.begin(), result.flags.end(), "spilled") == result.flags.end())
    result.flags.emplace_back("spilled");
  if (!proof_is_due(job_.memory)) return check_page_sizes(bound, event);
  if (!operands) return tl::make_unexpected(unproven(operands.error()));
  if (!all) return tl::make_unexpected(unproven(all.error()));
  Status right = topology::check_bytes(job_.memory, *operands, fmt::format("{}, the operands' pages", when));
  if (right) right = topology::check_bytes(job_.memory, *all, fmt::format("{}, the worker's anonymous pages", when));
  if (!right) {
    return case_ends(Outcome::kMisplaced,
                     fmt::format("{}: {}; {}", right.error().what, right.error().why, right.error().next));
  }
  return check_page_sizes(bound, event);
}

Step<void> CaseRunner::check_page_sizes(const BoundCase& bound, Event& event) const {
  std::uint64_t all_bytes = 0;
  std::uint64_t huge_bytes = 0;
  for (const auto& buffer : bound.buffers()) {
    const auto huge = topology::count_huge_bytes(buffer.data(), buffer.size());
    if (!huge) {
      if (job_.plan.pages.empty()) return {};
      return tl::make_unexpected(unproven(huge.error()));
    }
    huge_bytes += *huge;
    all_bytes += buffer.size();
  }
  if (all_bytes == 0) return {};
  const double share = static_cast<double>(huge_bytes) / static_cast<double>(all_bytes);
  event.result.huge_pages = share;
  if (job_.plan.pages == "2m" && huge_bytes != all_bytes) {
    return case_ends(Outcome::kMisplaced,
                     fmt::format("--pages 2m: {:.4g} % of the operands are on such pages", 100 * share));
  }
  if (job_.plan.pages == "4k") {
    const auto transparent = topology::count_transparent_huge_bytes();
    if (transparent && *transparent > 0) {
      return case_ends(Outcome::kMisplaced,
                       fmt::format("--pages 4k: {} of the worker are on huge pages", text::bytes_text(*transparent)));
    }
  }
  return {};
}

}  // namespace hbmark
