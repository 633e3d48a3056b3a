#include "topology/cpu_times.h"

#include <algorithm>
#include <vector>

#include "topology/text_files.h"

namespace hbmark::topology {

std::optional<CpuTimes> read_cpu_times(const std::string& root) {
  const auto read = read_text(root, "/proc/stat");
  if (!read.ok) return std::nullopt;
  std::optional<CpuTimes> times;
  int cpus = 0;
  for (const auto& line : lines(read.text)) {
    const auto parts = words(line);
    if (parts.empty() || parts[0].rfind("cpu", 0) != 0) continue;
    if (parts[0] != "cpu") {
      ++cpus;
      continue;
    }
    // proc(5): user nice system idle iowait irq softirq steal guest guest_nice; guest times are also in user and nice.
    std::vector<std::uint64_t> ticks;
    for (std::size_t i = 1; i < parts.size(); ++i) {
      ticks.push_back(static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_integer(parts[i]).value_or(0))));
    }
    if (ticks.size() < 4) return std::nullopt;
    ticks.resize(8, 0);
    times = CpuTimes{ticks[0] + ticks[1] + ticks[2] + ticks[5] + ticks[6], ticks[3] + ticks[4], ticks[7], 0};
  }
  if (times) times->cpus = std::max(1, cpus);
  return times;
}

std::optional<std::uint64_t> own_ticks(const std::string& root) {
  const auto read = read_text(root, "/proc/self/stat");
  const auto after_name = read.text.rfind(')');  // the name may hold blanks and brackets
  if (!read.ok || after_name == std::string::npos) return std::nullopt;
  const auto parts = words(read.text.substr(after_name + 1));
  if (parts.size() < 13) return std::nullopt;
  const auto user = to_integer(parts[11]);  // fields 14 and 15 of the line, utime and stime
  const auto system = to_integer(parts[12]);
  if (!user || !system || *user < 0 || *system < 0) return std::nullopt;
  return static_cast<std::uint64_t>(*user + *system);
}

std::optional<Load> load_between(const CpuTimes& before, const CpuTimes& after, std::uint64_t own) {
  if (after.total() <= before.total() || after.busy < before.busy || after.steal < before.steal) return std::nullopt;
  const auto total = static_cast<double>(after.total() - before.total());
  const auto busy = static_cast<double>(after.busy - before.busy);
  const double others = std::max(0.0, busy - static_cast<double>(own));
  return Load{others / total * after.cpus, static_cast<double>(after.steal - before.steal) / total};
}

}  // namespace hbmark::topology
