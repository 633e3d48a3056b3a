// Small text files of /proc, /sys and /run under a chosen root, read whole.
//
// Internal to topology/. Thread-safe; owns nothing; a file that cannot be read is a value with its reason, never an
// exception.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/base/result.h"

namespace hbmark::topology {

struct ReadText {
  bool ok = false;
  std::string text;    // without the last line break
  std::string reason;  // why not ok: "No such file or directory"
};

// path is absolute ("/proc/stat"); root "" is "/".
std::filesystem::path under_root(const std::string& root, const std::string& path);
ReadText read_text(const std::string& root, const std::string& path);

std::vector<std::string> lines(const std::string& text);
std::vector<std::string> words(const std::string& text);
std::optional<std::int64_t> to_integer(const std::string& text);  // the whole of it, blanks aside

// /proc/meminfo in bytes: "MemAvailable" -> 24302440 * 1024. Empty when it cannot be read.
std::map<std::string, std::uint64_t> read_meminfo(const std::string& root);

}  // namespace hbmark::topology
