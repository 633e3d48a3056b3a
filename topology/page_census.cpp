#include "topology/page_census.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <optional>
#include <string_view>

#include "topology/placement.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

std::uint64_t page_bytes() { return static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE)); }

tl::unexpected<Error> untold(std::string why) {
  return environment_error("cannot find out where the process's pages are", std::move(why),
                           "measure on a kernel with NUMA support (CONFIG_NUMA) and outside sandboxes, or expect no proof "
                           "of memory placement");
}

template <class T>
std::optional<T> number(std::string_view text, int base = 10) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// "55d6fbe86000 default file=/usr/bin/head anon=1 dirty=1 N0=1 kernelpagesize_kB=4": mm/mempolicy and fs/proc/task_mmu.c.
struct Fields {
  std::optional<std::uintptr_t> begin;
  std::uint64_t anonymous = 0;  // pages
  std::uint64_t page_kib = 4;
  std::map<int, std::uint64_t> pages;
};

std::optional<Fields> fields_of(const std::vector<std::string>& parts) {
  Fields fields;
  fields.begin = number<std::uintptr_t>(parts[0], 16);
  if (!fields.begin) return std::nullopt;
  for (std::string_view part : parts) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view name = part.substr(0, equals);
    const auto value = number<std::uint64_t>(part.substr(equals + 1));
    if (name == "anon" && value) fields.anonymous = *value;
    if (name == "kernelpagesize_kB" && value) fields.page_kib = *value;
    if (name.size() > 1 && name[0] == 'N' && value) {
      if (const auto node = number<int>(name.substr(1))) fields.pages[*node] += *value;
    }
  }
  return fields;
}

// Ends of the mappings that begin at these addresses.
std::map<std::uintptr_t, std::uintptr_t> ends_of_mappings() {
  std::map<std::uintptr_t, std::uintptr_t> ends;
  const auto read = read_text("", "/proc/self/maps");
  for (const std::string& line : lines(read.text)) {
    const std::string_view text(line);
    const std::size_t dash = text.find('-');
    const std::size_t blank = text.find(' ');
    if (dash == std::string_view::npos || blank == std::string_view::npos || dash > blank) continue;
    const auto begin = number<std::uintptr_t>(text.substr(0, dash), 16);
    const auto end = number<std::uintptr_t>(text.substr(dash + 1, blank - dash - 1), 16);
    if (begin && end) ends[*begin] = *end;
  }
  return ends;
}

// Asks pagemap which pages of the mapping are present and of no file (bits 63 and 61: admin-guide/mm/pagemap), and
// move_pages where each is.
Status add_mixed(std::uintptr_t begin, std::uintptr_t end, int pagemap, BytesByNode& bytes) {
  constexpr std::uint64_t kPresent = 1ULL << 63;
  constexpr std::uint64_t kOfFile = 1ULL << 61;
  const std::uint64_t page = page_bytes();
  std::array<std::uint64_t, 512> entries{};
  for (std::uintptr_t at = begin; at < end;) {
    const std::size_t wanted = std::min<std::size_t>(entries.size(), (end - at) / page);
    const ssize_t got =
        pread(pagemap, entries.data(), wanted * sizeof entries[0], static_cast<off_t>(at / page * sizeof entries[0]));
    if (got <= 0) return untold(fmt::format("/proc/self/pagemap: {}", std::strerror(got < 0 ? errno : EIO)));
    const std::size_t count = static_cast<std::size_t>(got) / sizeof entries[0];
    for (std::size_t i = 0; i < count; ++i) {
      if ((entries[i] & kPresent) == 0 || (entries[i] & kOfFile) != 0) continue;
      const auto found = find_pages(reinterpret_cast<const void*>(at + i * page), page);
      if (!found) return tl::make_unexpected(found.error());
      for (const auto& [node, pages] : found->pages_by_node) bytes[node] += pages * page;
    }
    at += count * page;
  }
  return {};
}

}  // namespace

Result<std::vector<NumaMapsLine>> parse_numa_maps(const std::string& text) {
  std::vector<NumaMapsLine> all;
  for (const std::string& line : lines(text)) {
    const auto parts = words(line);
    if (parts.empty()) continue;
    const auto fields = fields_of(parts);
    if (!fields) return untold(fmt::format("a line of numa_maps begins with '{}'", parts[0].substr(0, 40)));
    if (fields->anonymous == 0) continue;
    NumaMapsLine entry;
    entry.begin = *fields->begin;
    std::uint64_t pages = 0;
    for (const auto& [node, count] : fields->pages) {
      pages += count;
      entry.bytes[node] = count * fields->page_kib * 1024;
    }
    if (pages != fields->anonymous) {
      // Some of them are a file's. On one node it does not matter which.
      entry.mixed = entry.bytes.size() != 1;
      if (!entry.mixed) entry.bytes.begin()->second = fields->anonymous * fields->page_kib * 1024;
    }
    all.push_back(std::move(entry));
  }
  return all;
}

Result<BytesByNode> count_anonymous_bytes() {
  const auto read = read_text("", "/proc/self/numa_maps");
  if (!read.ok) return untold(fmt::format("/proc/self/numa_maps: {}", read.reason));
  const auto all = parse_numa_maps(read.text);
  if (!all) return tl::make_unexpected(all.error());
  BytesByNode bytes;
  std::map<std::uintptr_t, std::uintptr_t> ends;
  int pagemap = -1;
  Status asked;
  for (const NumaMapsLine& line : *all) {
    if (!line.mixed) {
      for (const auto& [node, count] : line.bytes) bytes[node] += count;
      continue;
    }
    if (ends.empty()) ends = ends_of_mappings();
    if (pagemap < 0) pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    if (pagemap < 0) return untold(fmt::format("/proc/self/pagemap: {}", std::strerror(errno)));
    const auto end = ends.find(line.begin);
    if (end == ends.end()) continue;  // unmapped since
    asked = add_mixed(line.begin, end->second, pagemap, bytes);
    if (!asked) break;
  }
  if (pagemap >= 0) close(pagemap);
  if (!asked) return tl::make_unexpected(asked.error());
  return bytes;
}

std::map<int, double> shares(const BytesByNode& bytes) {
  std::uint64_t sum = 0;
  for (const auto& [node, count] : bytes) sum += count;
  std::map<int, double> result;
  if (sum == 0) return result;
  for (const auto& [node, count] : bytes) result[node] = static_cast<double>(count) / static_cast<double>(sum);
  return result;
}

Status check_bytes(const MemoryPlacement& memory, const BytesByNode& found, const std::string& what) {
  if (memory.rule != MemoryRule::kStrict && memory.rule != MemoryRule::kInterleave) return {};
  std::vector<std::string> texts;
  bool right = true;
  for (const auto& [node, share] : shares(found)) {
    right = right && std::find(memory.nodes.begin(), memory.nodes.end(), node) != memory.nodes.end();
    texts.push_back(fmt::format("{:.4g} % on NUMA node {}", 100 * share, node));
  }
  if (right) return {};
  return environment_error(fmt::format("{} are not where asked", what),
                           fmt::format("asked for {}, found {}", policy_text(memory), fmt::join(texts, ", ")),
                           "something moved them (numa_balancing, migratepages, a cpuset that changed), or the node was "
                           "full: see `hbmark doctor`");
}

}  // namespace hbmark::topology
