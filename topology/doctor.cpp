#include "topology/doctor.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "topology/cpu_times.h"
#include "topology/doctor_checks.h"

namespace hbmark::topology {
namespace {

// A pinned thread that shares its core loses what the other uses: from a tenth of one CPU up that is more than the 2 % a
// result is asked to be precise to.
constexpr double kQuietCpus = 0.1;
// A hypervisor that takes more than this delays enough samples to be seen in the interval.
constexpr double kQuietSteal = 0.005;
// CPUID models of family 6 (Intel SDM volume 4, table 2-1).
constexpr int kKnightsLanding = 87;
constexpr int kKnightsMill = 133;

Finding judge_load(const Load& load, int cpus, double window_s) {
  const std::string observed =
      fmt::format("others use {:.2f} of {} CPUs (over {:.1f} s, this process aside)", load.others_cpus, cpus, window_s);
  if (load.others_cpus < kQuietCpus) return {"other-load", Severity::kGood, observed, ""};
  const bool heavy = load.others_cpus > 0.5 * cpus;
  return {"other-load", heavy ? Severity::kProblem : Severity::kWarning, observed,
          "see who it is with `top`, and measure when it is gone; threads that share a core with it are slowed"};
}

Finding judge_steal(double share, const std::string& when) {
  const std::string observed = fmt::format("the hypervisor took {:.2f} % of the CPU time {}", 100 * share, when);
  if (share < kQuietSteal) return {"steal", Severity::kGood, observed, ""};
  return {"steal", Severity::kWarning, observed,
          "other guests use the same cores: ask for dedicated ones, or repeat the run at other times"};
}

std::string unmeasured(const std::string& root, double window_s) {
  if (!root.empty()) return "not measured: this is a recorded machine";
  return window_s > 0 ? "cannot be read: /proc/stat did not advance" : "not measured: the window is 0 s";
}

}  // namespace

void check_load(const std::string& root, double window_s, std::vector<Finding>& findings) {
  const auto before = read_cpu_times(root);
  const auto own_before = own_ticks(root);
  if (!before) {
    findings.push_back({"other-load", Severity::kNote, "cannot be read: /proc/stat", "see `uptime`"});
    findings.push_back({"steal", Severity::kNote, "cannot be read: /proc/stat", "see `top`"});
    return;
  }
  std::optional<Load> load;
  if (root.empty() && window_s > 0) {
    std::this_thread::sleep_for(std::chrono::duration<double>(window_s));
    const auto after = read_cpu_times(root);
    const auto own_after = own_ticks(root);
    if (after && own_before && own_after) load = load_between(*before, *after, *own_after - *own_before);
  }
  findings.push_back(load ? judge_load(*load, before->cpus, window_s)
                          : Finding{"other-load", Severity::kNote, unmeasured(root, window_s), "see `uptime`"});
  const auto since_boot = load_between(CpuTimes{}, *before, 0);
  const double boot_share = since_boot ? since_boot->steal_share : 0;
  // A guest that was idle since boot shows no steal yet, and a window may miss what comes in bursts: the worse of both.
  findings.push_back(load && load->steal_share > boot_share
                         ? judge_steal(load->steal_share, fmt::format("over {:.1f} s", window_s))
                         : judge_steal(boot_share, "since boot"));
}

Result<std::vector<Finding>> examine(const Node& node, const DoctorOptions& options) {
  if (!(options.window_s >= 0) || options.window_s > 60) {
    return usage_error("cannot watch the load", fmt::format("a window of {} s", options.window_s), "give 0 to 60 seconds");
  }
  const std::string& root = options.root;
  std::vector<Finding> findings = {check_governor(root), check_turbo(root), check_smt(root), check_offline_cpus(root)};
  if (auto hybrid = check_hybrid(root)) findings.push_back(std::move(*hybrid));
  findings.push_back(check_thp(root));
  findings.push_back(check_numa_balancing(root));
  findings.push_back(check_swap(root));
  check_load(root, options.window_s, findings);
  findings.push_back(check_container(root));
  findings.push_back(check_virtual_machine(root));
  findings.push_back(check_cgroup_quota(root, node));
  findings.push_back(check_cgroup_memory(root));
  findings.push_back(check_clock_source(root));
  findings.push_back(check_energy(root));
  const int model = node.cpu_family == 6 ? node.cpu_model_number.value_or(0) : 0;
  if (model == kKnightsLanding || model == kKnightsMill) findings.push_back(check_knl_hwdata(root));
  return findings;
}

}  // namespace hbmark::topology
