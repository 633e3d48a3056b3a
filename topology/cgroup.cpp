#include "topology/cgroup.h"

#include <algorithm>
#include <filesystem>
#include <vector>

#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

// One hierarchy this process is in: where it is mounted, and where in it we are.
struct Hierarchy {
  std::string mount;  // "/sys/fs/cgroup/memory"
  std::string path;   // below it: "/job1"
};

bool lists(const std::string& names, const std::string& wanted) {  // "cpu,cpuacct" lists "cpu"
  const std::string all = "," + names + ",";
  return all.find("," + wanted + ",") != std::string::npos;
}

// Our path in the hierarchy of `controller` ("" is version 2), from /proc/self/cgroup: "4:memory:/job1", "0::/job1".
std::optional<std::string> own_path(const std::string& root, const std::string& controller) {
  for (const auto& line : lines(read_text(root, "/proc/self/cgroup").text)) {
    const auto first = line.find(':');
    if (first == std::string::npos) continue;
    const auto second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string names = line.substr(first + 1, second - first - 1);
    if (controller.empty() ? names.empty() && line.substr(0, first) == "0" : lists(names, controller)) {
      return line.substr(second + 1);
    }
  }
  return std::nullopt;
}

// The mount of that hierarchy. Format: proc(5), /proc/self/mountinfo. A container's mount shows only its own part of the
// hierarchy (field 4), by which our path is shortened.
std::optional<Hierarchy> find_hierarchy(const std::string& root, const std::string& controller) {
  auto path = own_path(root, controller);
  if (!path) return std::nullopt;
  for (const auto& line : lines(read_text(root, "/proc/self/mountinfo").text)) {
    const auto dash = line.find(" - ");
    if (dash == std::string::npos) continue;
    const auto left = words(line.substr(0, dash));
    const auto right = words(line.substr(dash + 3));
    if (left.size() < 5 || right.size() < 3) continue;
    const bool match = controller.empty() ? right[0] == "cgroup2" : right[0] == "cgroup" && lists(right[2], controller);
    if (!match) continue;
    const std::string& shown = left[3];
    if (shown != "/" && (*path + "/").rfind(shown + "/", 0) == 0) path = path->substr(shown.size());
    return Hierarchy{left[4], *path};
  }
  // No mountinfo (a recorded tree): the usual places.
  const std::vector<std::string> usual =
      controller.empty() ? std::vector<std::string>{"/sys/fs/cgroup", "/sys/fs/cgroup/unified"}
                         : std::vector<std::string>{"/sys/fs/cgroup/" + controller, "/sys/fs/cgroup/cpu,cpuacct"};
  for (const auto& mount : usual) {
    std::error_code error;
    if (std::filesystem::is_directory(under_root(root, mount), error)) return Hierarchy{mount, *path};
  }
  return std::nullopt;
}

// The folders from our own group up to the mount, those that can be seen.
std::vector<std::string> levels(const Hierarchy& hierarchy) {
  std::vector<std::string> found;
  std::filesystem::path path = std::filesystem::path(hierarchy.path).relative_path().lexically_normal();
  if (path == ".") path.clear();
  while (!path.empty()) {
    found.push_back((std::filesystem::path(hierarchy.mount) / path).string());
    path = path.parent_path();
  }
  found.push_back(hierarchy.mount);
  return found;
}

// A container without the mount, or a sandbox with an empty folder there, tells nothing.
bool can_look_into(const std::string& root, const Hierarchy& hierarchy) {
  std::error_code error;
  const bool nothing = std::filesystem::is_empty(under_root(root, hierarchy.mount), error);
  return !error && !nothing;
}

std::optional<std::int64_t> number_in(const std::string& root, const std::string& file) {
  const auto read = read_text(root, file);
  return read.ok ? to_integer(read.text) : std::nullopt;
}

std::uint64_t stat_field(const std::string& root, const std::string& file, const std::string& name) {
  for (const auto& line : lines(read_text(root, file).text)) {
    const auto parts = words(line);
    if (parts.size() == 2 && parts[0] == name) {
      return static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_integer(parts[1]).value_or(0)));
    }
  }
  return 0;
}

void take_quota(CgroupLimits& limits, double quota, double period) {
  if (quota <= 0 || period <= 0) return;  // -1 means none
  limits.cpu_quota = std::min(limits.cpu_quota.value_or(quota / period), quota / period);
}

void take_memory(CgroupLimits& limits, std::uint64_t limit, std::uint64_t used, std::uint64_t reclaimable) {
  const std::uint64_t held = used > reclaimable ? used - reclaimable : 0;
  const std::uint64_t room = limit > held ? limit - held : 0;
  limits.memory_limit_bytes = std::min(limits.memory_limit_bytes.value_or(limit), limit);
  limits.memory_room_bytes = std::min(limits.memory_room_bytes.value_or(room), room);
}

// The cpuset in force is that of our own group: the kernel has already cut it to what the levels above allow. A group
// without the controller says nothing, and the next level above speaks for it.
void take_cpuset(const std::string& root, const Hierarchy& hierarchy, const char* cpus, const char* nodes,
                 CgroupLimits& limits) {
  const auto take = [&](const std::string& file, std::optional<std::string>& place) {
    if (place) return;
    const auto read = read_text(root, file);
    const auto parts = words(read.text);
    if (read.ok && parts.size() == 1) place = parts[0];
  };
  for (const auto& level : levels(hierarchy)) {
    take(level + "/" + cpus, limits.cpus);
    take(level + "/" + nodes, limits.memory_nodes);
  }
}

void read_version_2(const std::string& root, CgroupLimits& limits) {
  const auto hierarchy = find_hierarchy(root, "");
  if (!hierarchy || !can_look_into(root, *hierarchy)) return;
  limits.visible = true;
  for (const auto& level : levels(*hierarchy)) {
    const auto quota = words(read_text(root, level + "/cpu.max").text);  // "200000 100000" or "max 100000"
    if (quota.size() == 2 && quota[0] != "max") {
      take_quota(limits, static_cast<double>(to_integer(quota[0]).value_or(-1)),
                 static_cast<double>(to_integer(quota[1]).value_or(-1)));
    }
    if (const auto limit = number_in(root, level + "/memory.max")) {  // "max" is no number
      const auto used = number_in(root, level + "/memory.current").value_or(0);
      take_memory(limits, static_cast<std::uint64_t>(*limit), static_cast<std::uint64_t>(used),
                  stat_field(root, level + "/memory.stat", "inactive_file"));
    }
  }
  take_cpuset(root, *hierarchy, "cpuset.cpus.effective", "cpuset.mems.effective", limits);
}

void read_version_1(const std::string& root, CgroupLimits& limits) {
  if (const auto hierarchy = find_hierarchy(root, "cpu")) {
    limits.visible = limits.visible || can_look_into(root, *hierarchy);
    for (const auto& level : levels(*hierarchy)) {
      const auto quota = number_in(root, level + "/cpu.cfs_quota_us");
      const auto period = number_in(root, level + "/cpu.cfs_period_us");
      if (quota && period) take_quota(limits, static_cast<double>(*quota), static_cast<double>(*period));
    }
  }
  // "No limit" reads as LONG_MAX rounded down to a page (Linux mm/page_counter.c): any exbibytes mean none.
  constexpr std::int64_t kNoLimit = std::int64_t{1} << 60;
  if (const auto hierarchy = find_hierarchy(root, "memory")) {
    limits.visible = limits.visible || can_look_into(root, *hierarchy);
    for (const auto& level : levels(*hierarchy)) {
      const auto limit = number_in(root, level + "/memory.limit_in_bytes");
      if (!limit || *limit <= 0 || *limit >= kNoLimit) continue;
      const auto used = number_in(root, level + "/memory.usage_in_bytes").value_or(0);
      take_memory(limits, static_cast<std::uint64_t>(*limit), static_cast<std::uint64_t>(used),
                  stat_field(root, level + "/memory.stat", "total_inactive_file"));
    }
  }
  if (const auto hierarchy = find_hierarchy(root, "cpuset")) {
    take_cpuset(root, *hierarchy, "cpuset.effective_cpus", "cpuset.effective_mems", limits);
    take_cpuset(root, *hierarchy, "cpuset.cpus", "cpuset.mems", limits);  // kernels before 4.0
  }
}

}  // namespace

CgroupLimits read_cgroup(const std::string& root) {
  CgroupLimits limits;
  read_version_2(root, limits);
  read_version_1(root, limits);  // a hybrid system has both; each controller is in one of them
  return limits;
}

}  // namespace hbmark::topology
