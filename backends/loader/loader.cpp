#include "backends/loader/loader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <deque>
#include <set>
#include <string_view>

#include "backends/loader/file_rules.h"
#include "backends/loader/open_file.h"

namespace hbmark {
namespace {

namespace fs = std::filesystem;

struct SearchPlace {
  fs::path folder;  // absolute
  std::string fault;
};

// Empty members of a PATH-like list traditionally mean the working directory: here they mean nothing.
void add_environment(std::vector<SearchPlace>& places) {
  const char* text = secure_getenv("HBMARK_BACKEND_PATH");
  if (text == nullptr) return;
  std::string_view rest = text;
  while (!rest.empty()) {
    const auto colon = rest.find(':');
    const std::string_view part = rest.substr(0, colon);
    rest = colon == std::string_view::npos ? std::string_view{} : rest.substr(colon + 1);
    if (part.empty()) continue;
    SearchPlace place{fs::path(part), {}};
    if (place.folder.is_relative()) {
      place.fault = "a relative folder in HBMARK_BACKEND_PATH would depend on the working directory: write it from / on";
    }
    places.push_back(std::move(place));
  }
}

std::vector<SearchPlace> list_places(const std::vector<fs::path>& given_paths, const fs::path& program) {
  std::vector<SearchPlace> places;
  std::error_code error;
  for (const fs::path& given : given_paths) {
    if (given.empty()) {
      places.push_back({given, "--backend-path is empty: name a folder"});
      continue;
    }
    const fs::path absolute = fs::absolute(given, error);
    places.push_back({error ? given : absolute.lexically_normal(), {}});
  }
  add_environment(places);
  const fs::path real = fs::weakly_canonical(program, error);
  if (!error && !real.empty()) places.push_back({real.parent_path().parent_path() / "lib" / "hbmark" / "backends", {}});
  return places;
}

std::vector<fs::path> list_plugin_files(const fs::path& folder, std::vector<RejectedFile>& rejected) {
  std::vector<fs::path> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    const fs::path& file = it->path();
    if (file.extension() != ".so") continue;
    if (!file.filename().string().starts_with("hbmark_")) {
      rejected.push_back({file, "not tried: a plugin's file is named hbmark_NAME.so; rename it if it is one"});
      continue;
    }
    files.push_back(file);
  }
  if (error) rejected.push_back({folder, fmt::format("cannot list it: {}; check its mode", error.message())});
  std::sort(files.begin(), files.end());
  return files;
}

// Tables are handed out as pointers for the life of the process: a deque never moves its elements. Never destroyed, so that
// they outlive every other static object.
const hbmark_backend* keep(const hbmark_backend& table) {
  static auto* kept = new std::deque<hbmark_backend>;
  return &kept->emplace_back(table);
}

void load_file(const fs::path& file, LoadReport& report) {
  const auto reject = [&](std::string reason) { report.rejected.push_back({file, std::move(reason)}); };
  if (auto fault = loader::find_file_fault(file)) return reject(std::move(*fault));
  if (auto fault = loader::find_elf_fault(file)) return reject(std::move(*fault));
  loader::Trial trial = loader::try_plugin(file);
  if (!trial.fault.empty()) return reject(std::move(trial.fault));
  const auto same_name = std::find_if(report.backends.begin(), report.backends.end(),
                                      [&](const LoadedBackend& other) { return other.name == trial.name; });
  if (same_name != report.backends.end()) {
    return reject(fmt::format("shadowed: a backend named {} was found before, in {}; remove one of the two", trial.name,
                              same_name->file.string()));
  }
  loader::Opened opened = loader::open_plugin(file);
  if (!opened.fault.empty()) return reject(std::move(opened.fault));
  const hbmark_backend* table = keep(opened.table);
  report.backends.push_back({file, table, table->name, table->version, table->summary});
}

void sort_by_name(LoadReport& report) {
  std::sort(report.backends.begin(), report.backends.end(),
            [](const LoadedBackend& a, const LoadedBackend& b) { return a.name < b.name; });
}

}  // namespace

LoadReport load_backend_files(const std::vector<fs::path>& files) {
  LoadReport report;
  for (const fs::path& file : files) {
    if (auto fault = loader::find_folder_fault(file.parent_path())) {
      report.rejected.push_back({file.parent_path(), std::move(*fault)});
    } else {
      load_file(file, report);
    }
  }
  sort_by_name(report);
  return report;
}

LoadReport load_backends(const std::vector<fs::path>& given_paths, const fs::path& program) {
  LoadReport report;
  std::set<fs::path> seen_folders, seen_files;  // by real path: the same thing under two names is one thing
  std::error_code error;
  for (SearchPlace& place : list_places(given_paths, program)) {
    report.searched.push_back(place.folder);
    if (!place.fault.empty()) {
      report.rejected.push_back({place.folder, std::move(place.fault)});
      continue;
    }
    if (auto fault = loader::find_folder_fault(place.folder)) {
      report.rejected.push_back({place.folder, std::move(*fault)});
      continue;
    }
    if (!seen_folders.insert(fs::weakly_canonical(place.folder, error)).second) continue;
    for (const fs::path& file : list_plugin_files(place.folder, report.rejected)) {
      if (seen_files.insert(fs::weakly_canonical(file, error)).second) load_file(file, report);
    }
  }
  sort_by_name(report);
  return report;
}

}  // namespace hbmark
