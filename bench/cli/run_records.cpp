#include "bench/cli/run_records.h"

#include <fmt/core.h>
#include <fmt/ranges.h>
#include <gnu/libc-version.h>
#include <sys/utsname.h>

#include <fstream>

#include "results/store/store.h"
#include "topology/identity.h"
#include "topology/node_json.h"

namespace hbmark::cli {
namespace {

// The first line of a file of the kernel's, or "" where there is none.
std::string first_line(const char* file) {
  std::ifstream in(file);
  std::string line;
  std::getline(in, line);
  return line;
}

std::string compiler() {
#if defined(__clang__)
  return "clang " __clang_version__;
#else
  return "gcc " __VERSION__;
#endif
}

std::string microcode() {
  std::ifstream in("/proc/cpuinfo");
  for (std::string line; std::getline(in, line) && !line.empty();) {
    if (line.starts_with("microcode")) return line.substr(std::min(line.size(), line.find(':') + 2));
  }
  return "";
}

}  // namespace

std::string this_node_uuid() { return topology::this_machine().fingerprint; }

NodeRecord node_record(const topology::Node& node) {
  NodeRecord record;
  record.hostname = node.hostname;
  record.uuid = node.identity.fingerprint;
  record.description = topology::node_to_json_line(node);
  return record;
}

EnvironmentRecord environment_with(const topology::Placement& placement, const std::map<std::string, std::string>& facts) {
  EnvironmentRecord record;
  const auto set = [&](const std::string& name, const std::string& value) {
    if (!value.empty()) record.values[name] = value;
  };
  set("hbmark", HBMARK_VERSION);
  set("compiler", compiler());
  set("glibc", gnu_get_libc_version());
  utsname system{};
  if (uname(&system) == 0) {
    set("kernel", fmt::format("{} {}", system.sysname, system.release));
    set("machine", system.machine);
  }
  set("microcode", microcode());
  set("governor", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"));
  set("frequency_driver", first_line("/sys/devices/system/cpu/cpu0/cpufreq/scaling_driver"));
  set("boost", first_line("/sys/devices/system/cpu/cpufreq/boost"));
  set("intel_no_turbo", first_line("/sys/devices/system/cpu/intel_pstate/no_turbo"));
  set("smt", first_line("/sys/devices/system/cpu/smt/control"));
  set("transparent_hugepage", first_line("/sys/kernel/mm/transparent_hugepage/enabled"));
  set("numa_balancing", first_line("/proc/sys/kernel/numa_balancing"));
  for (const auto& [name, value] : placement.environment) set(name, value);
  for (const auto& [name, value] : facts) set(name, value);
  std::string all;
  for (const auto& [name, value] : record.values) all += fmt::format("{}={}\n", name, value);
  record.uuid = digest_uuid("hbmark environment\n" + all);
  return record;
}

EnvironmentRecord environment_record(const topology::Placement& placement) { return environment_with(placement, {}); }

RunRecord run_record(const Plan& plan, const NodeRecord& node, const EnvironmentRecord& environment,
                     const Context& context) {
  RunRecord run;
  run.uuid = new_uuid();
  run.label = plan.label;
  run.command = fmt::format("{}", fmt::join(context.command_line, " "));
  run.hbmark_version = HBMARK_VERSION;
  run.suite = plan.suite;
  run.plan = plan_to_json(plan);
  run.node_uuid = node.uuid;
  run.environment_uuid = environment.uuid;
  run.started_at = utc_now();
  run.state = "running";
  run.boot_id = first_line("/proc/sys/kernel/random/boot_id");
  return run;
}

}  // namespace hbmark::cli
