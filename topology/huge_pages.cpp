// Huge pages as they really are: what smaps says, and what the pools hold.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <string_view>

#include "topology/page_census.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

constexpr std::uint64_t kPoolPageKib = 2048;

struct Mapping {
  std::uintptr_t begin = 0, end = 0;
  std::uint64_t transparent = 0;  // bytes
  bool of_pool = false;
};

// "7f0000000000-7f0000200000 rw-p ..." begins a mapping; every other line is "Name:   12 kB".
bool read_head(std::string_view line, Mapping& mapping) {
  const std::size_t dash = line.find('-');
  const std::size_t blank = line.find(' ');
  if (dash == std::string_view::npos || blank == std::string_view::npos || dash > blank) return false;
  const auto hex = [](std::string_view text, std::uintptr_t& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, 16);
    return error == std::errc() && end == text.data() + text.size();
  };
  return hex(line.substr(0, dash), mapping.begin) && hex(line.substr(dash + 1, blank - dash - 1), mapping.end);
}

Result<std::vector<Mapping>> mappings() {
  const auto read = read_text("", "/proc/self/smaps");
  if (!read.ok) {
    return environment_error("cannot find out which pages are huge", fmt::format("/proc/self/smaps: {}", read.reason),
                             "expect no proof of page sizes on this kernel");
  }
  std::vector<Mapping> all;
  for (const std::string& line : lines(read.text)) {
    Mapping head;
    if (read_head(line, head)) {
      all.push_back(head);
      continue;
    }
    const auto parts = words(line);
    if (all.empty() || parts.size() < 2) continue;
    const auto kib = static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_integer(parts[1]).value_or(0)));
    if (parts[0] == "AnonHugePages:") all.back().transparent = kib * 1024;
    if (parts[0] == "KernelPageSize:") all.back().of_pool = kib >= kPoolPageKib;
  }
  return all;
}

}  // namespace

Result<std::uint64_t> count_huge_bytes(const void* address, std::uint64_t bytes) {
  const auto all = mappings();
  if (!all) return tl::make_unexpected(all.error());
  const auto begin = reinterpret_cast<std::uintptr_t>(address);
  const auto end = begin + bytes;
  std::uint64_t huge = 0;
  for (const Mapping& mapping : *all) {
    if (mapping.end <= begin || mapping.begin >= end) continue;
    const std::uint64_t common = std::min(mapping.end, end) - std::max(mapping.begin, begin);
    // The kernel joins neighbouring mappings, and does not say where in one its huge pages are.
    huge += mapping.of_pool ? common : std::min(common, mapping.transparent);
  }
  return huge;
}

Result<std::uint64_t> count_transparent_huge_bytes() {
  const auto all = mappings();
  if (!all) return tl::make_unexpected(all.error());
  std::uint64_t huge = 0;
  for (const Mapping& mapping : *all) huge += mapping.transparent;
  return huge;
}

Status transparent_huge_pages(const std::string& root) {
  const auto read = read_text(root, "/sys/kernel/mm/transparent_hugepage/enabled");
  if (read.ok && read.text.find("[never]") == std::string::npos) return {};
  return environment_error("cannot use --pages thp",
                           read.ok ? "transparent huge pages are switched off (never)" : "this kernel has none",
                           "as root: echo madvise > /sys/kernel/mm/transparent_hugepage/enabled; or use --pages 4k");
}

std::uint64_t free_pool_pages(const std::vector<int>& nodes, const std::string& root) {
  const auto pages_in = [&](const std::string& folder) -> std::uint64_t {
    const auto read = read_text(root, fmt::format("{}/hugepages-{}kB/free_hugepages", folder, kPoolPageKib));
    return read.ok ? static_cast<std::uint64_t>(std::max<std::int64_t>(0, to_integer(read.text).value_or(0))) : 0;
  };
  if (nodes.empty()) return pages_in("/sys/kernel/mm/hugepages");
  std::uint64_t pages = 0;
  for (int node : nodes) pages += pages_in(fmt::format("/sys/devices/system/node/node{}/hugepages", node));
  return pages;
}

}  // namespace hbmark::topology
