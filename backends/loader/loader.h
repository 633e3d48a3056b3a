// Finding and loading backend plugins.
//
// Searched in order: the given paths (--backend-path), $HBMARK_BACKEND_PATH (colon-separated), ../lib/hbmark/backends beside
// the program (the same in the install folder and the build tree). Never the working directory, never a folder or file that
// others may write (mode o+w, or owned by someone who is neither root nor us). RTLD_NOW|RTLD_LOCAL, never dlclose. A file of
// another ABI, without the entry symbol, or not ELF is rejected with its reason and costs nothing else; so is one that
// crashes, exits, hangs or prints while it loads, because a forked child loads each file first. Only files named hbmark_*.so
// are loaded. Loading makes no vendor call. One thread, before others exist.
//
// Tables behind capabilities may be of an older or newer layout than ours: read them through backends/loader/members.h.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "backends/abi/backend.h"

namespace hbmark {

struct LoadedBackend {
  std::filesystem::path file;
  const hbmark_backend* table = nullptr;  // valid for the life of the process; every member of our layout is there
  std::string name;
  std::string version;
  std::string summary;
};

struct RejectedFile {
  std::filesystem::path file;  // or a folder
  std::string reason;          // for a person: what is wrong, and what to do
};

struct LoadReport {
  std::vector<LoadedBackend> backends;  // sorted by name; the first found of two with one name wins
  std::vector<RejectedFile> rejected;
  std::vector<std::filesystem::path> searched;
};

LoadReport load_backends(const std::vector<std::filesystem::path>& given_paths, const std::filesystem::path& program);

// These files alone, by the same rules: a plugin that hangs or crashes elsewhere costs nothing. `searched` stays empty.
LoadReport load_backend_files(const std::vector<std::filesystem::path>& files);

}  // namespace hbmark
