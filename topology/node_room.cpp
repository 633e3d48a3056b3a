// How much can still be placed on a NUMA node. MemFree alone is too much: below a zone's watermarks the kernel reclaims, and
// where a policy leaves it no other node it ends the process (CONSTRAINT_MEMORY_POLICY).
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "topology/memory_policy.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

struct Zone {
  std::int64_t free = 0;           // pages
  std::int64_t low = 0;            // the watermark at which reclaim begins
  std::int64_t inactive_file = 0;  // given up without writing, mostly
  std::int64_t protection = 0;     // kept for allocations that can use no other zone

  std::int64_t room() const { return std::max<std::int64_t>(0, free - low - protection) + inactive_file; }
};

// "protection: (0, 2915, 23911, 23911, 23911)": the last is what ordinary memory must leave.
std::int64_t last_of_protection(const std::vector<std::string>& parts) {
  std::string last = parts.back();
  std::erase(last, ')');
  std::erase(last, '(');
  return to_integer(last).value_or(0);
}

void read_line(const std::vector<std::string>& parts, Zone& zone) {
  if (parts[0] == "protection:") {
    zone.protection = last_of_protection(parts);
    return;
  }
  const bool free_line = parts[0] == "pages" && parts.size() == 3 && parts[1] == "free";
  const auto value = to_integer(parts.back()).value_or(0);
  if (free_line) zone.free = value;
  if (parts[0] == "low") zone.low = value;
  if (parts[0] == "nr_zone_inactive_file") zone.inactive_file = value;
}

}  // namespace

// Documentation/admin-guide/mm/concepts and mm/vmstat.c: one block a zone, headed "Node 0, zone   Normal".
std::optional<std::uint64_t> room_on_node(int node, const std::string& root) {
  const auto read = read_text(root, "/proc/zoneinfo");
  if (!read.ok) return std::nullopt;
  const std::string wanted = fmt::format("{},", node);
  bool found = false;
  bool ours = false;
  std::int64_t pages = 0;
  Zone zone;
  for (const std::string& line : lines(read.text)) {
    const auto parts = words(line);
    if (parts.size() < 2) continue;
    if (parts[0] == "Node") {
      if (ours) pages += zone.room();
      zone = {};
      ours = parts[1] == wanted;
      found = found || ours;
    } else if (ours && parts[0] != "cpu:" && parts[0] != "count:" && parts[0] != "high:") {
      read_line(parts, zone);
    }
  }
  if (ours) pages += zone.room();
  if (!found) return std::nullopt;
  return static_cast<std::uint64_t>(pages) * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace hbmark::topology
