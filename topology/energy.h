// Energy of the CPU packages and their DRAM, from the counters of RAPL (Linux powercap; Intel, and AMD under the same
// names).
//
// open() finds what can be counted, read() takes a snapshot (some microseconds a domain), difference() is the energy between
// two. The counters are of the whole node, whoever uses it. They advance about every millisecond: a window of 2 s or more
// makes that negligible. Plain files are read, nothing is held open or changed. A meter may be read from several threads.
// Failures are values with a reason that a person can act on: no such driver, or files that only root may read (since
// Linux 5.10 and its backports: CVE-2020-8694).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "results/base/result.h"

namespace hbmark::topology {

struct EnergySnapshot {
  std::chrono::steady_clock::time_point taken;  // between the first and the last counter read
  std::vector<std::uint64_t> counters_uj;       // in the order of the meter's domains
};

struct EnergyUsed {
  double elapsed_s = 0;
  double package_j = 0;          // all packages
  std::optional<double> dram_j;  // all DRAM domains; absent: there is none
  double total_j = 0;            // of what `EnergyMeter::scope` names
};

class EnergyMeter {
 public:
  // root "" is "/". Error (environment): no package's energy can be read, and why.
  static Result<EnergyMeter> open(const std::string& root = "");

  // What is counted: "package 0+1 and DRAM; the DRAM domain leaves MCDRAM out".
  const std::string& scope() const { return scope_; }

  Result<EnergySnapshot> read() const;
  // Counters that turned over once are corrected. Errors: snapshots of another meter or the wrong way round; a window so
  // long that a counter may have turned over unseen.
  Result<EnergyUsed> difference(const EnergySnapshot& before, const EnergySnapshot& after) const;
  // The longest window that difference() takes.
  double longest_window_s() const;

 private:
  struct Domain {
    std::string folder;  // "/sys/class/powercap/intel-rapl:0"
    std::string name;    // "package-0", "dram"
    bool dram = false;
    std::uint64_t range_uj = 0;  // where the counter turns over
  };
  std::string root_;
  std::string scope_;
  std::vector<Domain> domains_;

  struct Finder;
};

}  // namespace hbmark::topology
