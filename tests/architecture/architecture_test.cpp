// Who may include and link whom (docs/adr/0002-folders-and-arrows.md). Reads every source and the link graph CMake wrote.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

namespace {

namespace fs = std::filesystem;

// An area is the longest of these prefixes a file's path has. Order does not matter.
const std::vector<std::string> kAreas = {
    "topology",      "results/base",  "results/stats", "results/store",   "results/formats", "results/report",
    "results",       "backends/abi",  "backends/sdk",  "backends/loader", "backends",        "bench/problems",
    "bench/kernels", "bench/measure", "bench/run",     "bench/exchange",  "bench/cli",       "ranker",
};

// The allowed arrows. `results` alone is the records. An area may always see itself. "backends" is the plugins.
const std::map<std::string, std::set<std::string>> kMaySee = {
    {"topology", {"results/base"}},
    {"results/base", {}},
    {"results", {"results/base"}},
    {"results/stats", {"results", "results/base"}},
    {"results/store", {"results", "results/base"}},
    {"results/formats", {"results", "results/base"}},
    {"results/report", {"results", "results/base", "results/store", "results/stats", "results/formats"}},
    {"ranker", {"results", "results/base", "results/store", "results/stats"}},
    {"backends/abi", {}},
    {"backends/sdk", {"backends/abi"}},
    {"backends/loader", {"backends/abi", "results/base"}},
    {"backends", {"backends/abi", "backends/sdk"}},
    {"bench/problems", {"bench/kernels", "backends/abi", "results/base"}},
    {"bench/kernels", {"bench/problems", "backends/abi", "results/base"}},
    {"bench/measure", {"results", "results/base", "results/stats"}},
    {"bench/exchange",
     {"backends/abi", "bench/problems", "bench/kernels", "bench/measure", "results", "results/base", "topology"}},
    {"bench/run",
     {"bench/problems", "bench/kernels", "bench/measure", "bench/exchange", "backends/abi", "backends/loader", "results",
      "results/base", "results/stats", "results/store", "results/formats", "topology"}},
    {"bench/cli",
     {"bench/problems", "bench/kernels", "bench/measure", "bench/run", "bench/exchange", "backends/abi", "backends/loader",
      "results", "results/base", "results/stats", "results/store", "results/formats", "results/report", "topology",
      "ranker"}},
};

// Third-party headers that belong to one area only.
const std::vector<std::pair<std::string, std::string>> kOnlyIn = {
    {"^(hwloc|memkind|hbwmalloc|numa|numaif)", "topology"},
    {"^(sqlite3|SQLiteCpp/)", "results/store"},
    {"^benchmark/", "bench/measure"},
    {"^CLI/", "bench/cli"},
    {"^(dnnl|oneapi/dnnl)", "backends"},
};

std::optional<std::string> area_of(const std::string& path) {
  std::optional<std::string> best;
  for (const auto& area : kAreas) {
    if (path.rfind(area + "/", 0) == 0 && (!best || area.size() > best->size())) best = area;
  }
  return best;
}

// Two plugins are two areas: one may not see the other.
std::string plugin_of(const std::string& path) {
  std::istringstream parts(path);
  std::string first;
  std::string second;
  std::getline(parts, first, '/');
  std::getline(parts, second, '/');
  return second;
}

std::vector<fs::path> sources_below(const fs::path& root) {
  std::vector<fs::path> found;
  for (const char* top : {"bench", "backends", "topology", "results", "ranker"}) {
    if (!fs::exists(root / top)) continue;
    for (const auto& entry : fs::recursive_directory_iterator(root / top)) {
      const auto extension = entry.path().extension();
      if (extension == ".h" || extension == ".cpp" || extension == ".c" || extension == ".cu") found.push_back(entry.path());
    }
  }
  return found;
}

// One complaint, or nothing, for an include of `header` in `file` (both relative to the root).
std::optional<std::string> complain(const std::string& file, const std::string& header) {
  const auto from = area_of(file);
  if (!from) return file + " is in no known area";
  for (const auto& [pattern, owner] : kOnlyIn) {
    if (std::regex_search(header, std::regex(pattern)) && *from != owner)
      return file + " includes " + header + ", which only " + owner + " may";
  }
  const auto to = area_of(header);
  if (!to) return std::nullopt;
  if (*to == *from && (*from != "backends" || plugin_of(file) == plugin_of(header))) return std::nullopt;
  if (kMaySee.at(*from).count(*to) != 0) return std::nullopt;
  return file + " includes " + header + ": " + *from + " may not see " + *to;
}

std::vector<std::string> complaints_of_tree(const fs::path& root) {
  std::vector<std::string> complaints;
  const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"])");
  for (const auto& path : sources_below(root)) {
    std::ifstream in(path);
    std::string line;
    while (std::getline(in, line)) {
      std::smatch match;
      if (!std::regex_search(line, match, include)) continue;
      const std::string file = fs::relative(path, root).string();
      if (auto complaint = complain(file, match[1])) complaints.push_back(*complaint);
    }
  }
  return complaints;
}

TEST(Architecture, EveryIncludeFollowsAnAllowedArrow) {
  const fs::path root = HBMARK_SOURCE_DIR;
  ASSERT_GT(sources_below(root).size(), 30u) << "the sources were not found below " << root;
  EXPECT_THAT(complaints_of_tree(root), testing::IsEmpty());
}

TEST(Architecture, AForbiddenIncludeIsFound) {
  EXPECT_TRUE(complain("topology/node.cpp", "bench/run/run.h"));
  EXPECT_TRUE(complain("results/stats/summary.cpp", "results/store/store.h"));
  EXPECT_TRUE(complain("bench/cli/node_command.cpp", "hwloc.h"));
  EXPECT_TRUE(complain("bench/run/run.cpp", "SQLiteCpp/Database.h"));
  EXPECT_TRUE(complain("backends/cpu/peak.cpp", "backends/onednn/compat.h"));
  EXPECT_TRUE(complain("backends/cpu/peak.cpp", "results/records.h"));
  EXPECT_TRUE(complain("ranker/score.cpp", "topology/node.h"));
  EXPECT_FALSE(complain("backends/cpu/peak.cpp", "backends/sdk/case.h"));
  EXPECT_FALSE(complain("topology/node.cpp", "hwloc.h"));
}

// Targets and the outside libraries only they may name.
TEST(Architecture, OnlyTheOwnersLinkTheirLibraries) {
  const std::vector<std::pair<std::string, std::string>> owners = {
      {"HWLOC", "hbmark_topology"},      {"memkind", "hbmark_topology"},    {"SQLite", "hbmark_store"},
      {"benchmark::", "hbmark_measure"}, {"dnnl", "hbmark_backend_onednn"},
  };
  std::ifstream in(HBMARK_LINK_GRAPH);
  ASSERT_TRUE(in) << HBMARK_LINK_GRAPH;
  std::string line;
  int lines = 0;
  std::set<std::string> owners_seen;
  while (std::getline(in, line)) {
    ++lines;
    const auto colon = line.find(':');
    const std::string target = line.substr(0, colon);
    const std::string links = line.substr(colon + 1);
    for (const auto& [library, owner] : owners) {
      if (links.find(library) == std::string::npos) continue;
      EXPECT_EQ(target, owner) << line;
      owners_seen.insert(owner);
    }
    if (target.rfind("hbmark_backend_", 0) == 0) {
      for (const char* ours :
           {"hbmark_topology", "hbmark_store", "hbmark_run", "hbmark_problems", "hbmark_measure", "hbmark_base"}) {
        EXPECT_EQ(links.find(ours), std::string::npos) << line;
      }
    }
  }
  EXPECT_GE(lines, 10);
  EXPECT_THAT(owners_seen, testing::IsSupersetOf({std::string("hbmark_topology"), std::string("hbmark_store")}));
}

TEST(Architecture, TheTopLevelHoldsTheAgreedFolders) {
  const std::set<std::string> agreed = {"bench", "backends", "topology", "results", "ranker", "tests", "docs"};
  for (const auto& entry : fs::directory_iterator(HBMARK_SOURCE_DIR)) {
    const std::string name = entry.path().filename();
    if (!entry.is_directory() || name.front() == '.' || name.rfind("build", 0) == 0) continue;
    EXPECT_TRUE(agreed.count(name) != 0) << name << " is no folder of the design";
  }
}

}  // namespace
