// Machines that lack what others have: switched-off CPUs, two kinds of cores, files nobody may read, cgroups of every make.
#include <gmock/gmock.h>

#include "tests/unit/topology/fixtures.h"
#include "tests/unit/topology/temp_tree.h"
#include "topology/cgroup.h"
#include "topology/doctor.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;

Finding find(const TempTree& tree, const std::string& id, const Node& node = {}) {
  DoctorOptions options;
  options.root = tree.root();
  const auto findings = examine(node, options);
  if (findings) {
    for (const auto& each : *findings) {
      if (each.id == id) return each;
    }
  }
  return {id, Severity::kGood, "no such finding", ""};
}

const std::string kCpu = "/sys/devices/system/cpu/";

struct Seen {
  const char* title;
  TempTree::Files files;
  const char* id;
  Severity severity;
  const char* observed;  // part of it
  const char* advice;    // part of it
};

const Seen kSeen[] = {
    // Offline CPUs
    {"none offline", {{kCpu + "offline", ""}}, "offline-cpus", Severity::kGood, "none", ""},
    {"one offline by hand",
     {{kCpu + "offline", "3"}, {kCpu + "present", "0-7"}},
     "offline-cpus",
     Severity::kWarning,
     "1 CPU(s) are switched off: 3",
     "online"},
    {"SMT off takes the siblings off",
     {{kCpu + "offline", "4-7"}, {kCpu + "present", "0-7"}, {kCpu + "smt/control", "off"}},
     "offline-cpus",
     Severity::kGood,
     "4 CPU(s) are switched off: 4-7 (SMT is off by this)",
     ""},
    {"places for CPUs that are not there",
     {{kCpu + "offline", "8-63"}, {kCpu + "present", "0-7"}},
     "offline-cpus",
     Severity::kGood,
     "none",
     ""},
    {"several ranges", {{kCpu + "offline", "1,3-5,9"}}, "offline-cpus", Severity::kWarning, "5 CPU(s)", "online"},
    // Hybrid
    {"hybrid",
     {{"/sys/devices/cpu_core/cpus", "0-11"}, {"/sys/devices/cpu_atom/cpus", "12-19"}},
     "hybrid-cpu",
     Severity::kWarning,
     "fast cores are CPUs 0-11, slow ones 12-19",
     "taskset -c 0-11"},
    {"only the list of fast cores",
     {{"/sys/devices/cpu_core/cpus", "0-11"}},
     "hybrid-cpu",
     Severity::kGood,
     "no such finding",
     ""},
    // Governor and turbo of drivers other than intel_pstate
    {"AMD with boost",
     {{kCpu + "cpufreq/boost", "1"}},
     "turbo",
     Severity::kNote,
     "on (/sys/devices/system/cpu/cpufreq/boost",
     "firmware"},
    {"AMD without", {{kCpu + "cpufreq/boost", "0"}}, "turbo", Severity::kGood, "off", ""},
    {"mixed governors",
     {{kCpu + "cpu0/cpufreq/scaling_governor", "performance"}, {kCpu + "cpu1/cpufreq/scaling_governor", "schedutil"}},
     "governor",
     Severity::kWarning,
     "performance on 1 CPU(s), schedutil on 1 CPU(s)",
     "cpupower"},
    // Clock sources
    {"hpet",
     {{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "hpet"}},
     "clock-source",
     Severity::kWarning,
     "hpet",
     "tsc"},
    {"acpi_pm",
     {{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "acpi_pm"}},
     "clock-source",
     Severity::kWarning,
     "acpi_pm",
     "tsc"},
    {"Arm",
     {{"/sys/devices/system/clocksource/clocksource0/current_clocksource", "arch_sys_counter"}},
     "clock-source",
     Severity::kGood,
     "arch_sys_counter",
     ""},
    // Containers
    {"own cgroup namespace, mounted hosts file",
     {{"/proc/1/cgroup", "0::/"},
      {"/proc/self/mountinfo", "41 30 8:1 /var/lib/containers/x/hosts /etc/hosts rw,relatime - ext4 /dev/sda1 rw"}},
     "container",
     Severity::kNote,
     "/etc/hosts is mounted from outside",
     "quota"},
    {"a host",
     {{"/proc/1/cgroup", "0::/init.scope"}, {"/proc/self/mountinfo", "22 1 8:1 / / rw - ext4 /dev/sda1 rw"}},
     "container",
     Severity::kGood,
     "no sign of one",
     ""},
    {"LXC", {{"/proc/1/cgroup", "4:memory:/lxc/web\n"}}, "container", Severity::kNote, "names lxc", "quota"},
    {"systemd-nspawn",
     {{"/run/systemd/container", "systemd-nspawn"}},
     "container",
     Severity::kNote,
     "/run/systemd/container",
     "quota"},
    // Virtual machines
    {"Xen without the flag",
     {{"/proc/cpuinfo", "flags : fpu"}, {"/sys/hypervisor/type", "xen"}},
     "virtual-machine",
     Severity::kNote,
     "/sys/hypervisor/type is xen",
     "hypervisor"},
    {"VMware on Arm",
     {{"/proc/cpuinfo", "Features : fp"}, {"/sys/class/dmi/id/product_name", "VMware20,1"}},
     "virtual-machine",
     Severity::kNote,
     "product VMware20,1",
     "hypervisor"},
    {"bare", {{"/proc/cpuinfo", "flags : fpu hypervisorless"}}, "virtual-machine", Severity::kGood, "no sign", ""},
    // Energy
    {"no RAPL", {{"/sys/class/powercap/dtpm", ""}}, "energy", Severity::kNote, "cannot be read: ", "modprobe"},
    {"RAPL",
     {{"/sys/class/powercap/intel-rapl:0/name", "package-0"},
      {"/sys/class/powercap/intel-rapl:0/energy_uj", "1"},
      {"/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "65532610987"}},
     "energy",
     Severity::kGood,
     "readable: package 0",
     ""},
    // Swap
    {"swap in use",
     {{"/proc/meminfo", "SwapTotal: 1048576 kB\nSwapFree: 524288 kB"}},
     "swap",
     Severity::kWarning,
     "0.50 GiB of 1.00 GiB used",
     "swapoff"},
    // NUMA balancing
    {"balancing on two nodes",
     {{"/proc/sys/kernel/numa_balancing", "1"}, {"/sys/devices/system/node/online", "0-1"}},
     "numa-balancing",
     Severity::kWarning,
     "on",
     "sysctl"},
};

TEST(StrangeMachines, EachOddityIsFoundAndAdvised) {
  for (const Seen& seen : kSeen) {
    const TempTree tree(seen.files);
    const Finding finding = find(tree, seen.id);
    EXPECT_EQ(finding.severity, seen.severity) << seen.title << ": " << finding.observed;
    EXPECT_THAT(finding.observed, HasSubstr(seen.observed)) << seen.title;
    EXPECT_THAT(finding.advice, HasSubstr(seen.advice)) << seen.title;
    if (seen.severity == Severity::kGood) {
      EXPECT_EQ(finding.advice, "") << seen.title;
    }
  }
}

TEST(StrangeMachines, FilesThatCannotBeReadAreNotesWithTheirReason) {
  const std::pair<const char*, const char*> files[] = {
      {"smt", "/sys/devices/system/cpu/smt/active"},
      {"offline-cpus", "/sys/devices/system/cpu/offline"},
      {"thp", "/sys/kernel/mm/transparent_hugepage/enabled"},
      {"numa-balancing", "/proc/sys/kernel/numa_balancing"},
      {"clock-source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"},
      {"container", "/proc/1/cgroup"},
      {"virtual-machine", "/proc/cpuinfo"},
      {"turbo", "/sys/devices/system/cpu/cpufreq/boost"}};
  for (const auto& [id, file] : files) {
    const TempTree tree;
    tree.make_unreadable(file);
    const Finding finding = find(tree, id);
    EXPECT_EQ(finding.severity, Severity::kNote) << id;
    EXPECT_EQ(finding.observed, std::string("cannot be read: ") + file + ": it is a folder") << id;
    EXPECT_FALSE(finding.advice.empty()) << id;
  }
}

TEST(StrangeMachines, AMachineWithoutSysOrProcHasNoVerdictOnAnything) {
  const TempTree tree;
  DoctorOptions options;
  options.root = tree.root();
  const auto findings = examine(Node{}, options);
  ASSERT_TRUE(findings);
  EXPECT_GE(findings->size(), 15U);
  for (const auto& each : *findings) EXPECT_EQ(each.severity, Severity::kNote) << each.id << ": " << each.observed;
}

TEST(StrangeMachines, OldKnightsLandingWithoutTheToolSaysHowToGetIt) {
  const TempTree tree;
  Node node;
  node.cpu_family = 6;
  for (const int model : {87, 133}) {
    node.cpu_model_number = model;
    EXPECT_EQ(find(tree, "knl-hwdata", node).severity, Severity::kWarning) << model;
    EXPECT_THAT(find(tree, "knl-hwdata", node).advice, HasSubstr("hwloc-dump-hwdata"));
  }
  node.cpu_model_number = 85;  // Skylake
  EXPECT_EQ(find(tree, "knl-hwdata", node).observed, "no such finding");
}

TEST(StrangeMachines, ACgroupThatCannotBeSeenIsNotNoLimit) {
  const TempTree hidden{{"/proc/self/cgroup", "0::/"},
                        {"/proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw"}};
  for (const char* id : {"cgroup-quota", "cgroup-memory"}) {
    EXPECT_EQ(find(hidden, id).severity, Severity::kNote) << id;
    EXPECT_THAT(find(hidden, id).observed, HasSubstr("/sys/fs/cgroup: nothing is mounted there")) << id;
  }
  std::filesystem::create_directories(hidden.path("/sys/fs/cgroup"));  // a sandbox's empty folder
  EXPECT_EQ(find(hidden, "cgroup-quota").severity, Severity::kNote);
  hidden.write("/sys/fs/cgroup/cgroup.controllers", "cpu memory");
  for (const char* id : {"cgroup-quota", "cgroup-memory"}) {
    EXPECT_EQ(find(hidden, id).severity, Severity::kGood) << id;
    EXPECT_EQ(find(hidden, id).observed, "no limit") << id;
  }
}

TEST(Cpuset, Version2IsThatOfTheOwnGroup) {
  const TempTree tree{{"/proc/self/cgroup", "0::/job/step"},
                      {"/sys/fs/cgroup/cgroup.controllers", "cpuset cpu memory"},
                      {"/sys/fs/cgroup/cpuset.cpus.effective", "0-63"},
                      {"/sys/fs/cgroup/cpuset.mems.effective", "0-1"},
                      {"/sys/fs/cgroup/job/cpuset.cpus.effective", "0-15"},
                      {"/sys/fs/cgroup/job/step/cpuset.cpus.effective", "0-3,8"}};
  const auto limits = read_cgroup(tree.root());
  EXPECT_EQ(limits.cpus, "0-3,8");
  EXPECT_EQ(limits.memory_nodes, "0-1");  // the group itself does not say
}

TEST(Cpuset, Version1PrefersWhatIsInForce) {
  const TempTree tree{{"/proc/self/cgroup", "7:cpuset:/slurm/job1\n4:memory:/slurm/job1"},
                      {"/proc/self/mountinfo", "30 25 0:26 / /sys/fs/cgroup/cpuset rw - cgroup cgroup rw,cpuset"},
                      {"/sys/fs/cgroup/cpuset/slurm/job1/cpuset.cpus", "0-7"},
                      {"/sys/fs/cgroup/cpuset/slurm/job1/cpuset.effective_cpus", "0-5"},
                      {"/sys/fs/cgroup/cpuset/slurm/job1/cpuset.mems", "1"}};
  const auto limits = read_cgroup(tree.root());
  EXPECT_EQ(limits.cpus, "0-5");
  EXPECT_EQ(limits.memory_nodes, "1");
}

TEST(Cpuset, NoneIsAbsent) {
  const auto limits = read_cgroup(TempTree().root());
  EXPECT_FALSE(limits.cpus || limits.memory_nodes);
}

TEST(Cpuset, ReachesTheNode) {
  const TempTree tree{{"/proc/self/cgroup", "0::/"}, {"/sys/fs/cgroup/cpuset.cpus.effective", "0-3"}};
  const Node node = describe_xml(std::string(HBMARK_TOPOLOGY_DATA) + "/knl7250-snc4-flat-cgroup-local.xml", tree.root());
  EXPECT_EQ(node.cgroup_cpus, "0-3");
  EXPECT_FALSE(node.cgroup_memory_nodes);
}

}  // namespace
}  // namespace hbmark::topology::tests
