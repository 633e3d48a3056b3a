// A run of scripted problems in a folder of its own: plan, script of the fake backend, store. Everything is removed at the
// end.
#pragma once

#include <gmock/gmock.h>
#include <sys/types.h>

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "bench/run/run.h"
#include "results/store/store.h"
#include "topology/node.h"
#include "topology/partition.h"
#include "topology/placement.h"

namespace hbmark::tests {

// Three small problems that no rule of a script confuses.
inline const char* const kFirst = "gemm:f32:nn:m16n16k16";
inline const char* const kSecond = "gemm:f32:nn:m17n16k16";
inline const char* const kThird = "gemm:f32:nn:m18n16k16";

class RunTest : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  void script(const std::vector<nlohmann::json>& rules, const char* file = "script.json") const;  // of the fake backend
  void script_replica(std::size_t replica, const std::vector<nlohmann::json>& rules);  // of one alone, for carry_out_here
  Plan plan(const std::vector<std::string>& problems) const;  // 0.1 s a case, 1 s time-out, one thread
  std::string write_plan(const Plan& plan) const;             // its file
  Store open_store() const;

  // In this process. The store is left closed.
  Result<RunSummary> carry_out_here(const Plan& plan, const std::string& worker_program, const RunObserver& observer = {});
  Result<RunSummary> run(const std::vector<std::string>& problems) { return carry_out_here(plan(problems), driver()); }

  std::vector<ResultRecord> results() const;  // of the last run
  RunRecord last_run() const;
  static std::string driver();
  std::string db() const { return (folder_ / "results.db").string(); }

  // A process of its own, both its outputs in output(); `limit_file_bytes` 0: none.
  pid_t start_program(const std::string& program, const std::vector<std::string>& arguments,
                      std::uint64_t limit_file_bytes = 0) const;
  pid_t start_driver(const std::vector<std::string>& arguments, std::uint64_t limit_file_bytes = 0) const {
    return start_program(driver(), arguments, limit_file_bytes);
  }
  std::string output() const;
  int wait_for(pid_t process) const;  // exit code, or 128 + signal
  int drive(const std::vector<std::string>& arguments) const { return wait_for(start_driver(arguments)); }

  // Worker processes of this test, told by their environment.
  std::vector<pid_t> workers() const;
  static bool becomes(const std::function<bool()>& condition, double within_s = 20);

  std::filesystem::path folder_;
  topology::Node node_;

 private:
  std::vector<std::pair<std::size_t, std::pair<std::string, std::string>>> of_replica_;  // variables of its environment
};

}  // namespace hbmark::tests
