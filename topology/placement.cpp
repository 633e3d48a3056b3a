#include "topology/placement.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <memory>

namespace hbmark::topology {
namespace {

// The PUs of each core that this process may use, cores in the topology's order, cores without any left out.
std::vector<std::vector<int>> usable_cores(const Node& node) {
  std::vector<std::vector<int>> cores;
  for (const auto& core : node.cores) {
    std::vector<int> pus;
    for (int pu : core.pus) {
      if (std::find(node.allowed_pus.begin(), node.allowed_pus.end(), pu) != node.allowed_pus.end()) pus.push_back(pu);
    }
    if (!pus.empty()) cores.push_back(std::move(pus));
  }
  return cores;
}

// First one PU of every core, then the second of every core, and so on; fewer threads than cores lie at even distances.
std::vector<int> spread(const std::vector<std::vector<int>>& cores, std::size_t threads) {
  std::vector<int> pus;
  if (threads < cores.size()) {
    for (std::size_t i = 0; i < threads; ++i) pus.push_back(cores[i * cores.size() / threads].front());
    return pus;
  }
  for (std::size_t round = 0; pus.size() < threads; ++round) {
    const std::size_t before = pus.size();
    for (const auto& core : cores) {
      if (round < core.size() && pus.size() < threads) pus.push_back(core[round]);
    }
    if (pus.size() == before) break;
  }
  return pus;
}

std::vector<int> fill(const std::vector<std::vector<int>>& cores, std::size_t threads) {
  std::vector<int> pus;
  for (const auto& core : cores) {
    for (int pu : core) {
      if (pus.size() < threads) pus.push_back(pu);
    }
  }
  return pus;
}

std::string places(const std::vector<int>& pus) {
  std::string text;
  for (int pu : pus) text += fmt::format("{}{{{}}}", text.empty() ? "" : ",", pu);
  return text;
}

// Each variable is here because its absence, or a value inherited from the user's shell, would change what is measured.
std::vector<std::pair<std::string, std::string>> environment(const Placement& placement, bool throttled) {
  const std::string count = std::to_string(placement.thread_pus.size());
  std::vector<std::pair<std::string, std::string>> variables = {
      {"OMP_NUM_THREADS", count},
      {"OMP_THREAD_LIMIT", count},  // an inherited smaller one would shrink the team in silence
      {"OMP_DYNAMIC", "false"},     // or the runtime may use fewer threads when the machine is loaded
      // Kernels of microseconds would otherwise measure the waking of sleeping threads. Under a quota spinning is paid for
      // with the time the kernels need.
      {"OMP_WAIT_POLICY", throttled ? "passive" : "active"},
      {"OMP_DISPLAY_ENV", "false"},  // prints to the worker's output
      // memkind makes 4 arenas a CPU for each kind by default: with 64 CPUs the first allocation took 5.9 s and 543 MB.
      {"MEMKIND_ARENA_NUM_PER_KIND", "1"},
  };
  if (placement.omp_places.empty()) {
    variables.emplace_back("OMP_PROC_BIND", "false");
  } else {
    variables.emplace_back("OMP_PLACES", placement.omp_places);
    // With as many places as threads, close puts thread i on place i (OpenMP 5.0, 2.6.2); "true" leaves it to the runtime.
    variables.emplace_back("OMP_PROC_BIND", "close");
  }
  return variables;
}

std::vector<int> affinity_of_this_thread() {
  // The kernel refuses a mask smaller than its own: grow until it fits.
  for (int capacity = 1024; capacity <= 1 << 20; capacity *= 4) {
    const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> mask(CPU_ALLOC(capacity), [](cpu_set_t* set) { CPU_FREE(set); });
    if (!mask) return {};
    const std::size_t size = CPU_ALLOC_SIZE(capacity);
    CPU_ZERO_S(size, mask.get());
    if (sched_getaffinity(0, size, mask.get()) != 0) {
      if (errno == EINVAL) continue;
      return {};
    }
    std::vector<int> allowed;
    for (int cpu = 0; cpu < static_cast<int>(size * 8); ++cpu) {
      if (CPU_ISSET_S(static_cast<std::size_t>(cpu), size, mask.get())) allowed.push_back(cpu);
    }
    return allowed;
  }
  return {};
}

// A core with fewer PUs than asked for would make the threads uneven without saying so.
Status keep_per_core(std::vector<std::vector<int>>& cores, int per_core) {
  if (per_core <= 0) return {};
  const auto wanted = static_cast<std::size_t>(per_core);
  const auto narrow =
      std::min_element(cores.begin(), cores.end(), [](const auto& a, const auto& b) { return a.size() < b.size(); });
  if (narrow->size() < wanted) {
    return usage_error(fmt::format("cannot place {} threads on each core", per_core),
                       fmt::format("a core has {} PU(s) that this process may use", narrow->size()),
                       fmt::format("give --threads-per-core {} or fewer", narrow->size()));
  }
  for (auto& core : cores) core.resize(wanted);
  return {};
}

tl::unexpected<Error> misplaced(std::string what, std::string why) {
  return environment_error(
      std::move(what), std::move(why),
      "another runtime or launcher rebinds threads: unset KMP_AFFINITY and GOMP_CPU_AFFINITY, and start hbmark "
      "with the launcher's own binding off (mpirun --bind-to none, srun --cpu-bind=none)");
}

}  // namespace

Result<Placement> plan_threads(const Node& node, const ThreadWish& wish) {
  const int threads = wish.threads;
  const std::string what = fmt::format("cannot place {} thread(s)", threads);
  if (!node.this_system) {
    return environment_error("cannot place threads", "the topology was read from a file: it is not this machine's",
                             "measure on the machine itself, with HWLOC_XMLFILE and HWLOC_SYNTHETIC unset");
  }
  if (threads < 0) return usage_error(what, "a negative number", "give --threads 1 or more, or leave it out for one a core");
  auto cores = usable_cores(node);
  if (cores.empty()) {
    return environment_error("cannot place threads", "this process may use none of the CPUs it sees",
                             "check the affinity (taskset -cp $$) and the cpuset it runs in");
  }
  if (auto kept = keep_per_core(cores, wish.per_core); !kept) return tl::make_unexpected(kept.error());
  std::size_t usable = 0;
  for (const auto& core : cores) usable += core.size();
  const std::size_t by_default = wish.per_core > 0 ? usable : cores.size();
  const std::size_t wanted = threads == 0 ? by_default : static_cast<std::size_t>(threads);
  if (wanted > usable) {
    return usage_error(what,
                       fmt::format("this process may use {} PUs on {} cores{}", usable, cores.size(),
                                   wish.per_core > 0 ? fmt::format(" with {} a core", wish.per_core) : ""),
                       fmt::format("give --threads {} or fewer, or leave it out for one on each core", usable));
  }
  Placement placement;
  if (wish.pin == Pin::kNone) {
    placement.thread_pus.assign(wanted, kUnpinned);
  } else {
    placement.thread_pus = wish.pin == Pin::kCompact ? fill(cores, wanted) : spread(cores, wanted);
    placement.omp_places = places(placement.thread_pus);
  }
  const bool throttled = node.cpu_quota && *node.cpu_quota < static_cast<double>(wanted);
  placement.environment = environment(placement, throttled);
  if (throttled) {
    placement.warnings.push_back(
        {"threads-over-quota",
         fmt::format("{} threads, but the control group gives {:.2f} CPUs' worth of time: they are stopped when it is "
                     "used up, and times are not the machine's; give --threads {} or raise the quota",
                     wanted, *node.cpu_quota, std::max(1, static_cast<int>(*node.cpu_quota)))});
  }
  return placement;
}

ThreadFinding find_this_thread(int thread_number) {
  ThreadFinding finding;
  finding.thread = thread_number;
  finding.allowed = affinity_of_this_thread();
  finding.running_on = sched_getcpu();
  return finding;
}

Status check_threads(const Placement& placement, const std::vector<ThreadFinding>& found) {
  const std::size_t wanted = placement.thread_pus.size();
  if (found.size() != wanted) {
    return misplaced("the threads are not as planned",
                     fmt::format("{} were planned and {} are there", wanted, found.size()));
  }
  std::vector<bool> seen(wanted, false);
  for (const auto& finding : found) {
    if (finding.thread < 0 || static_cast<std::size_t>(finding.thread) >= wanted ||
        seen[static_cast<std::size_t>(finding.thread)]) {
      return misplaced("the threads are not as planned",
                       fmt::format("thread number {} is unplanned or twice there", finding.thread));
    }
    seen[static_cast<std::size_t>(finding.thread)] = true;
    const int planned = placement.thread_pus[static_cast<std::size_t>(finding.thread)];
    if (planned == kUnpinned) continue;
    if (finding.allowed != std::vector<int>{planned}) {
      return misplaced(fmt::format("thread {} is not bound to PU {}", finding.thread, planned),
                       fmt::format("its affinity allows PU {}", fmt::join(finding.allowed, ",")));
    }
    if (finding.running_on != planned) {
      return misplaced(fmt::format("thread {} does not run on PU {}", finding.thread, planned),
                       fmt::format("it runs on PU {}", finding.running_on));
    }
  }
  return {};
}

}  // namespace hbmark::topology
