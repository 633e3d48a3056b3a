#include "tests/vm/guest.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

namespace hbmark::tests {

namespace {

namespace fs = std::filesystem;

constexpr int kLacksSomething = 77;
constexpr const char* kPart = "### ";

// Parts go to the second serial port one after the other; a part's stderr goes to the console.
constexpr const char* kPrologue = "exec 2>/dev/ttyS0\nexec >$RESULTS\npart() { echo \"### $1\"; }\n";

void write(const fs::path& file, const std::string& text) {
  fs::create_directories(file.parent_path());
  std::ofstream(file) << text;
}

std::string read(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void split(const std::string& text, Guest& guest) {
  std::istringstream in(text);
  std::string part;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty() && line.back() == '\r') line.pop_back();
    if (line.rfind(kPart, 0) == 0) {
      part = line.substr(std::string(kPart).size());
    } else if (!part.empty()) {
      guest.lines[part].push_back(line);
    }
  }
}

void lacks(const std::string& why) {
  const char* wish = std::getenv("HBMARK_VM");
  if (wish != nullptr && std::string(wish) == "required") {
    ADD_FAILURE() << "HBMARK_VM=required, and " << why;
  } else {
    GTEST_SKIP() << why;
  }
}

}  // namespace

std::vector<nlohmann::json> Guest::documents(const std::string& part) const {
  std::vector<nlohmann::json> all;
  const auto found = lines.find(part);
  if (found == lines.end()) return all;
  for (const std::string& line : found->second) {
    auto document = nlohmann::json::parse(line, nullptr, false);
    if (document.is_object()) all.push_back(std::move(document));
  }
  return all;
}

nlohmann::json Guest::result(const std::string& part, const std::string& kernel, const std::string& memory) const {
  std::vector<nlohmann::json> found;
  for (const auto& document : documents(part)) {
    if (document.value("kernel", "") == kernel && document.value("memory", "") == memory) found.push_back(document);
  }
  EXPECT_EQ(found.size(), 1U) << part << ": results of " << kernel << " in " << memory;
  return found.empty() ? nlohmann::json::object() : found.front();
}

std::string Guest::last_line(const std::string& part) const {
  const auto found = lines.find(part);
  return found == lines.end() || found->second.empty() ? "" : found->second.back();
}

Guest boot(const Machine& machine) {
  Guest guest;
  const fs::path folder = fs::path(HBMARK_TEST_DIR) / "vm" / machine.name;
  fs::remove_all(folder);
  write(folder / "guest.sh", kPrologue + machine.script);
  if (!machine.hwdata.empty()) write(folder / "overlay/run/hwloc/knl_memoryside_cache", machine.hwdata);
  const std::string command = std::string(HBMARK_SOURCE_DIR) + "/tests/vm/boot.sh '" + folder.string() + "' '" +
                              HBMARK_STAGE + "' '" HBMARK_MOVER "' -- " + machine.options + " >'" +
                              (folder / "said").string() + "'";
  const int status = std::system(command.c_str());
  const int code = WIFEXITED(status) ? WEXITSTATUS(status) : 128;
  const std::string said = read(folder / "said");
  if (code == kLacksSomething) {
    lacks(said);
    fs::remove_all(folder);
    return guest;
  }
  split(read(folder / "results"), guest);
  EXPECT_EQ(code, 0) << said << "\nkept: " << folder;
  guest.booted = code == 0;
  if (guest.booted) fs::remove_all(folder);
  return guest;
}

}  // namespace hbmark::tests
