#include "topology/doctor_checks.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <map>
#include <set>
#include <sstream>

#include "topology/cgroup.h"
#include "topology/energy.h"
#include "topology/modes.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

std::string size_text(std::uint64_t bytes) {
  constexpr double kGiB = 1024.0 * 1024 * 1024;
  return fmt::format("{:.2f} GiB", static_cast<double>(bytes) / kGiB);
}

Finding unread(const std::string& id, const std::string& file, const std::string& reason, const std::string& meaning) {
  return {id, Severity::kNote, fmt::format("cannot be read: {}: {}", file, reason), meaning};
}

// "always [madvise] never" -> "madvise"
std::string chosen(const std::string& text) {
  const auto open = text.find('[');
  const auto close = text.find(']', open == std::string::npos ? 0 : open);
  if (open == std::string::npos || close == std::string::npos) return text;
  return text.substr(open + 1, close - open - 1);
}

// governor -> how many CPUs have it, over every CPU with a cpufreq folder.
std::map<std::string, int> governors(const std::string& root) {
  std::map<std::string, int> counts;
  std::error_code error;
  const auto folder = under_root(root, "/sys/devices/system/cpu");
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.size() < 4 || name.rfind("cpu", 0) != 0 || !to_integer(name.substr(3))) continue;
    const auto read = read_text(root, "/sys/devices/system/cpu/" + name + "/cpufreq/scaling_governor");
    if (read.ok) ++counts[read.text];
  }
  return counts;
}

// "0-3,8" -> {0,1,2,3,8}; what does not parse is left out.
std::set<int> cpu_list(const std::string& text) {
  std::set<int> cpus;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    const auto dash = part.find('-');
    const auto first = to_integer(part.substr(0, dash));
    const auto last = dash == std::string::npos ? first : to_integer(part.substr(dash + 1));
    if (!first || !last || *first < 0 || *last > 1 << 20) continue;
    for (auto cpu = *first; cpu <= *last; ++cpu) cpus.insert(static_cast<int>(cpu));
  }
  return cpus;
}

bool exists(const std::string& root, const std::string& path) {
  std::error_code error;
  return std::filesystem::exists(under_root(root, path), error);
}

}  // namespace

Finding check_governor(const std::string& root) {
  const std::string id = "governor";
  const auto counts = governors(root);
  if (counts.empty()) {
    return unread(id, "/sys/devices/system/cpu/cpu*/cpufreq/scaling_governor", "no such file",
                  "usual in a virtual machine: the host sets the clock; ask its owner");
  }
  std::string observed;
  for (const auto& [governor, cpus] : counts)
    observed += fmt::format("{}{} on {} CPU(s)", observed.empty() ? "" : ", ", governor, cpus);
  const auto driver = read_text(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver");
  if (driver.ok) observed += ", driver " + driver.text;
  if (counts.size() == 1 && counts.begin()->first == "performance") return {id, Severity::kGood, observed, ""};
  return {id, Severity::kWarning, observed,
          "the clock follows the load, and short measurements run before it has risen: `cpupower frequency-set -g "
          "performance` as root"};
}

Finding check_turbo(const std::string& root) {
  const std::string id = "turbo";
  const std::string advice =
      "the clock depends on temperature and on how many cores are busy: fine for the best this node can do; switch it off "
      "in the "
      "firmware or in /sys to compare nodes at their nominal clock";
  const std::string intel = "/sys/devices/system/cpu/intel_pstate/no_turbo";
  const std::string other = "/sys/devices/system/cpu/cpufreq/boost";
  if (const auto read = read_text(root, intel); read.ok) {
    const bool on = read.text == "0";
    return {id, on ? Severity::kNote : Severity::kGood, fmt::format("{} ({} is {})", on ? "on" : "off", intel, read.text),
            on ? advice : ""};
  }
  const auto read = read_text(root, other);
  if (!read.ok)
    return unread(id, other, read.reason, "this CPU or its driver does not tell; assume that the clock may vary");
  const bool on = read.text == "1";
  return {id, on ? Severity::kNote : Severity::kGood, fmt::format("{} ({} is {})", on ? "on" : "off", other, read.text),
          on ? advice : ""};
}

Finding check_smt(const std::string& root) {
  const std::string file = "/sys/devices/system/cpu/smt/active";
  const auto read = read_text(root, file);
  if (!read.ok) return unread("smt", file, read.reason, "an old kernel; see cores and PUs in `hbmark node`");
  if (read.text == "0") return {"smt", Severity::kGood, "off: one PU a core", ""};
  return {"smt", Severity::kNote, "on: cores have several PUs",
          "hbmark puts one thread on each core unless told otherwise; anything else that runs lands on the siblings and "
          "slows them"};
}

Finding check_thp(const std::string& root) {
  const std::string file = "/sys/kernel/mm/transparent_hugepage/enabled";
  const auto read = read_text(root, file);
  if (!read.ok)
    return unread("thp", file, read.reason, "a kernel without transparent huge pages: large arrays cost more translation");
  const std::string mode = chosen(read.text);
  if (mode == "never") {
    return {"thp", Severity::kWarning, "transparent huge pages: never",
            "large arrays run on 4 KiB pages and lose bandwidth to translation: `echo madvise > " + file + "` as root"};
  }
  return {"thp", Severity::kGood, "transparent huge pages: " + mode + " (hbmark asks for them)", ""};
}

Finding check_numa_balancing(const std::string& root) {
  const std::string file = "/proc/sys/kernel/numa_balancing";
  const auto read = read_text(root, file);
  if (!read.ok) return unread("numa-balancing", file, read.reason, "a kernel without it, which is well");
  if (read.text == "0") return {"numa-balancing", Severity::kGood, "off", ""};
  const auto online = read_text(root, "/sys/devices/system/node/online");  // "0" or "0-7"
  if (online.ok && to_integer(online.text)) {
    return {"numa-balancing", Severity::kGood, "on, without effect: there is one NUMA node", ""};
  }
  return {"numa-balancing", Severity::kWarning, fmt::format("on ({} is {})", file, read.text),
          "the kernel moves pages between nodes during a measurement: `sysctl kernel.numa_balancing=0` as root"};
}

Finding check_swap(const std::string& root) {
  const auto memory = read_meminfo(root);
  const auto total = memory.find("SwapTotal");
  const auto rest = memory.find("SwapFree");
  if (total == memory.end() || rest == memory.end()) {
    return unread("swap", "/proc/meminfo", "it holds no SwapTotal and SwapFree", "see `swapon --show`");
  }
  const std::uint64_t used = total->second > rest->second ? total->second - rest->second : 0;
  if (total->second == 0) return {"swap", Severity::kGood, "none", ""};
  if (used == 0) return {"swap", Severity::kGood, size_text(total->second) + ", none of it used", ""};
  return {"swap", Severity::kWarning, fmt::format("{} of {} used", size_text(used), size_text(total->second)),
          "memory has been short: free some, then `swapoff -a && swapon -a` as root"};
}

Finding check_clock_source(const std::string& root) {
  const std::string file = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
  const auto read = read_text(root, file);
  if (!read.ok) return unread("clock-source", file, read.reason, "the cost of reading the clock is unknown");
  // These are read without entering the kernel (vDSO): x86 arch/x86/entry/vdso, arm64, powerpc.
  constexpr std::array kQuick = {"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter", "timebase"};
  const bool quick = std::any_of(kQuick.begin(), kQuick.end(), [&](const char* name) { return read.text == name; });
  if (quick) return {"clock-source", Severity::kGood, read.text, ""};
  return {
      "clock-source", Severity::kWarning, read.text + ": reading the clock is a system call, or slower",
      "the kernel distrusts the CPU's counter (see `dmesg | grep -i tsc`): update the firmware, or boot with tsc=reliable"};
}

Finding check_container(const std::string& root) {
  const std::string advice =
      "its quota, cpuset and seccomp profile apply: see the other lines; others may share the machine";
  for (const char* file : {"/.dockerenv", "/run/.containerenv", "/run/systemd/container"}) {
    if (exists(root, file)) {
      return {"container", Severity::kNote, fmt::format("in a container ({} is there)", file), advice};
    }
  }
  // Engines give a container its own /etc/hosts; with its own cgroup namespace nothing else may tell.
  for (const auto& line : lines(read_text(root, "/proc/self/mountinfo").text)) {
    const auto parts = words(line);
    if (parts.size() > 4 && (parts[4] == "/etc/hosts" || parts[4] == "/etc/hostname")) {
      return {"container", Severity::kNote, fmt::format("in a container ({} is mounted from outside)", parts[4]), advice};
    }
  }
  const auto groups = read_text(root, "/proc/1/cgroup");
  for (const char* word : {"docker", "kubepods", "lxc", "libpod", "containerd"}) {
    if (groups.ok && groups.text.find(word) != std::string::npos) {
      return {"container", Severity::kNote, fmt::format("in a container (/proc/1/cgroup names {})", word), advice};
    }
  }
  if (!groups.ok) return unread("container", "/proc/1/cgroup", groups.reason, "whether this is a container is unknown");
  return {"container", Severity::kGood, "no sign of one", ""};
}

Finding check_virtual_machine(const std::string& root) {
  const std::string advice =
      "caches, cores and NUMA nodes are what the hypervisor says they are, and other guests may share them: repeat the run "
      "at other "
      "times before you believe a difference";
  const auto cpuinfo = read_text(root, "/proc/cpuinfo");
  const auto all = lines(cpuinfo.text);
  const bool flagged = std::any_of(all.begin(), all.end(), [](const std::string& line) {
    return line.rfind("flags", 0) == 0 && (line + " ").find(" hypervisor ") != std::string::npos;
  });
  const auto product = read_text(root, "/sys/class/dmi/id/product_name");
  const auto xen = read_text(root, "/sys/hypervisor/type");
  if (flagged || xen.ok) {
    const std::string how = flagged ? "the CPU says so (flag hypervisor)" : "/sys/hypervisor/type is " + xen.text;
    return {"virtual-machine", Severity::kNote,
            fmt::format("in a virtual machine: {}{}", how, product.ok ? ", product " + product.text : ""), advice};
  }
  // Machines without the flag (Arm, POWER) tell by their product name alone.
  for (const char* word : {"KVM", "QEMU", "VMware", "VirtualBox", "Virtual Machine", "HVM domU"}) {
    if (product.ok && product.text.find(word) != std::string::npos) {
      return {"virtual-machine", Severity::kNote, "in a virtual machine: product " + product.text, advice};
    }
  }
  if (!cpuinfo.ok)
    return unread("virtual-machine", "/proc/cpuinfo", cpuinfo.reason, "whether this is a virtual machine is unknown");
  return {"virtual-machine", Severity::kGood, "no sign of one", ""};
}

Finding check_cgroup_quota(const std::string& root, const Node& node) {
  if (!exists(root, "/proc/self/cgroup")) {
    return unread("cgroup-quota", "/proc/self/cgroup", "no such file", "whether CPU time is limited is unknown");
  }
  const auto limits = read_cgroup(root);
  if (!limits.visible) {
    return unread("cgroup-quota", "/sys/fs/cgroup", "nothing is mounted there",
                  "whether CPU time is limited is unknown: mount it, or ask who started this container");
  }
  if (!limits.cpu_quota) return {"cgroup-quota", Severity::kGood, "no limit", ""};
  const std::size_t pus = node.allowed_pus.size();
  const std::string observed = fmt::format("{:.2f} CPUs' worth of time for {} allowed PU(s)", *limits.cpu_quota, pus);
  if (*limits.cpu_quota >= static_cast<double>(pus)) return {"cgroup-quota", Severity::kGood, observed, ""};
  return {"cgroup-quota", Severity::kProblem, observed,
          fmt::format("threads are stopped when the quota is used up, so times are not the machine's: give --threads {}, or "
                      "raise the quota",
                      std::max(1, static_cast<int>(*limits.cpu_quota)))};
}

Finding check_cgroup_memory(const std::string& root) {
  if (!exists(root, "/proc/self/cgroup")) {
    return unread("cgroup-memory", "/proc/self/cgroup", "no such file", "whether memory is limited is unknown");
  }
  const auto limits = read_cgroup(root);
  if (!limits.visible) {
    return unread("cgroup-memory", "/sys/fs/cgroup", "nothing is mounted there",
                  "whether memory is limited is unknown: mount it, or ask who started this container");
  }
  if (!limits.memory_limit_bytes) return {"cgroup-memory", Severity::kGood, "no limit", ""};
  const std::uint64_t room = limits.memory_room_bytes.value_or(*limits.memory_limit_bytes);
  const std::string observed =
      fmt::format("limit {}, {} of it free", size_text(*limits.memory_limit_bytes), size_text(room));
  // A bandwidth triad out of a 256 MiB last level wants 3 arrays of 4 times that size.
  constexpr std::uint64_t kEnough = std::uint64_t{3} << 30;
  if (room < kEnough) {
    return {"cgroup-memory", Severity::kWarning, observed,
            "large problems are skipped, and a process beyond the limit is killed: raise the group's memory limit"};
  }
  return {"cgroup-memory", Severity::kNote, observed, "larger problems than that are skipped"};
}

Finding check_offline_cpus(const std::string& root) {
  const std::string file = "/sys/devices/system/cpu/offline";
  const auto read = read_text(root, file);
  if (!read.ok) return unread("offline-cpus", file, read.reason, "whether CPUs are switched off is unknown");
  // The kernel also lists places for CPUs that could be added: only what is present can be offline.
  const auto present = cpu_list(read_text(root, "/sys/devices/system/cpu/present").text);
  const auto off = cpu_list(read.text);
  const auto count =
      std::count_if(off.begin(), off.end(), [&](int cpu) { return present.empty() || present.count(cpu) > 0; });
  if (count == 0) return {"offline-cpus", Severity::kGood, "none", ""};
  const std::string observed = fmt::format("{} CPU(s) are switched off: {}", count, read.text);
  const auto smt = read_text(root, "/sys/devices/system/cpu/smt/control").text;
  if (smt == "off" || smt == "forceoff") {
    return {"offline-cpus", Severity::kGood, observed + " (SMT is off by this)", ""};
  }
  return {"offline-cpus", Severity::kWarning, observed,
          "the node is measured without them: `echo 1 > /sys/devices/system/cpu/cpuN/online` as root"};
}

std::optional<Finding> check_hybrid(const std::string& root) {
  // Perf's own lists, there on x86 with two kinds of cores only.
  const auto fast = read_text(root, "/sys/devices/cpu_core/cpus");
  const auto slow = read_text(root, "/sys/devices/cpu_atom/cpus");
  if (!fast.ok || !slow.ok || fast.text.empty() || slow.text.empty()) return std::nullopt;
  return Finding{"hybrid-cpu", Severity::kWarning, fmt::format("fast cores are CPUs {}, slow ones {}", fast.text, slow.text),
                 fmt::format("a result over both kinds waits for the slow ones: `taskset -c {} hbmark run ...`", fast.text)};
}

Finding check_energy(const std::string& root) {
  const auto meter = EnergyMeter::open(root);
  if (meter) return {"energy", Severity::kGood, "readable: " + meter->scope(), ""};
  return {"energy", Severity::kNote, "cannot be read: " + meter.error().why, meter.error().next};
}

Finding check_knl_hwdata(const std::string& root) {
  if (const auto hwdata = read_knl_hwdata(root)) {
    return {"knl-hwdata", Severity::kGood,
            fmt::format("{}: memory mode {}, cluster mode {}", hwdata->file, hwdata->memory_mode, hwdata->cluster_mode), ""};
  }
  return {"knl-hwdata", Severity::kWarning, "/run/hwloc/knl_memoryside_cache is absent: memory and cluster mode are guesses",
          "run `hwloc-dump-hwdata` once as root after each boot (package hwloc)"};
}

}  // namespace hbmark::topology
