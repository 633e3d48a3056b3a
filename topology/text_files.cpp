#include "topology/text_files.h"

#include <charconv>
#include <sstream>
#include <utility>

#include "results/base/input_file.h"

namespace hbmark::topology {

std::filesystem::path under_root(const std::string& root, const std::string& path) {
  return root.empty() ? std::filesystem::path(path)
                      : std::filesystem::path(root) / std::filesystem::path(path).relative_path();
}

ReadText read_text(const std::string& root, const std::string& path) {
  constexpr std::size_t kMaxBytes = std::size_t{64} << 20;  // /proc/cpuinfo of thousands of CPUs has a few MiB
  ReadText result;
  // Some files of /sys open and then refuse to be read: a reason like any other.
  auto text = read_input_file(under_root(root, path), path, kMaxBytes);
  if (!text) {
    result.reason = text.error().why;
    return result;
  }
  result.ok = true;
  result.text = std::move(*text);
  while (!result.text.empty() && (result.text.back() == '\n' || result.text.back() == '\0')) result.text.pop_back();
  return result;
}

std::vector<std::string> lines(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) found.push_back(line);
  return found;
}

std::vector<std::string> words(const std::string& text) {
  std::vector<std::string> found;
  std::istringstream stream(text);
  for (std::string word; stream >> word;) found.push_back(word);
  return found;
}

std::optional<std::int64_t> to_integer(const std::string& text) {
  const auto parts = words(text);
  if (parts.size() != 1) return std::nullopt;
  std::int64_t value = 0;
  const char* last = parts[0].data() + parts[0].size();
  const auto [end, error] = std::from_chars(parts[0].data(), last, value);
  if (error != std::errc() || end != last) return std::nullopt;
  return value;
}

std::map<std::string, std::uint64_t> read_meminfo(const std::string& root) {
  std::map<std::string, std::uint64_t> found;
  for (const auto& line : lines(read_text(root, "/proc/meminfo").text)) {
    const auto parts = words(line);
    if (parts.size() < 2 || parts[0].back() != ':') continue;
    const auto value = to_integer(parts[1]);
    if (!value || *value < 0) continue;
    const std::uint64_t unit = parts.size() > 2 && parts[2] == "kB" ? 1024 : 1;
    found[parts[0].substr(0, parts[0].size() - 1)] = static_cast<std::uint64_t>(*value) * unit;
  }
  return found;
}

}  // namespace hbmark::topology
