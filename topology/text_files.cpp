#include "topology/text_files.h"

#include <cerrno>
#include <charconv>
#include <cstring>
#include <fstream>
#include <sstream>

namespace hbmark::topology {

std::filesystem::path under_root(const std::string& root, const std::string& path) {
  return root.empty() ? std::filesystem::path(path)
                      : std::filesystem::path(root) / std::filesystem::path(path).relative_path();
}

ReadText read_text(const std::string& root, const std::string& path) {
  ReadText result;
  const auto file = under_root(root, path);
  std::error_code error;
  if (std::filesystem::is_directory(file, error)) {
    result.reason = std::strerror(EISDIR);
    return result;
  }
  errno = 0;
  std::ifstream stream(file);
  if (!stream) {
    result.reason = std::strerror(errno != 0 ? errno : ENOENT);
    return result;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  if (stream.bad()) {  // some files of /sys open and then refuse to be read
    result.reason = std::strerror(errno != 0 ? errno : EIO);
    return result;
  }
  result.ok = true;
  result.text = text.str();
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
