// Records, folders and processes that the store's tests share.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"

namespace hbmark::tests {

// A fresh folder that goes with the object.
class TempFolder {
 public:
  TempFolder();
  ~TempFolder();
  TempFolder(const TempFolder&) = delete;
  TempFolder& operator=(const TempFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(const std::string& name) const { return path_ / name; }

 private:
  std::filesystem::path path_;
};

// Name -> content of every file of a folder: equal before and after means nothing was written.
std::map<std::string, std::string> contents(const std::filesystem::path& folder);
void write_file(const std::filesystem::path& file, const std::string& content);
std::string read_file(const std::filesystem::path& file);

NodeRecord a_node();
EnvironmentRecord an_environment();
ConfigurationRecord a_configuration();
RunRecord a_run(const std::string& label = "");
ResultRecord a_result(const RunRecord& run, std::int64_t case_index);  // every member set
std::vector<SampleRecord> some_samples(std::int64_t count);

// Saves node, environment, configuration and the run.
Status save_context(Store& store, const RunRecord& run);

// A store with one run of `results` results of 20 samples, closed. Fails the test when that fails.
RunRecord make_store(const std::filesystem::path& file, int results = 2);

std::string text_of(const Error& error);
std::string integrity(const std::filesystem::path& file);  // of PRAGMA integrity_check

// Runs `body` in a forked process and gives what it returned; nullopt when `prepare` (there too) says no. The first lets a
// test running as root lose its rights, the second mount file systems where that is allowed.
std::optional<std::string> in_child(const std::function<bool()>& prepare, const std::function<std::string()>& body);
bool drop_privileges();
bool own_mounts();

}  // namespace hbmark::tests
