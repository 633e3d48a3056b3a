// The records of a store: plain data, one struct a table, SI units, absent is nullopt (never 0 or "").
//
// Node -> environment and configuration -> run -> result -> sample. Ids are UUIDs so that stores of many nodes can be
// merged. A result carries its own summary figures: nothing downstream needs the samples.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/outcome.h"

namespace hbmark {

// A machine as it was when a run looked at it. `description` is the hbmark.node/1 line (JSON), the normative text.
struct NodeRecord {
  std::string uuid;  // the machine's fingerprint: the same over reboots, changes of mode and container restarts
  std::string hostname;
  std::string description;  // hbmark.node/1 JSON

  bool operator==(const NodeRecord&) const = default;
};

// Software and settings that held during a run, as name -> value: kernel, governor, oneDNN version, compiler, OMP_* ...
struct EnvironmentRecord {
  std::string uuid;  // digest of the values: equal environments share one row
  std::map<std::string, std::string> values;

  bool operator==(const EnvironmentRecord&) const = default;
};

// What is ranked: node + backend + device + placement.
struct ConfigurationRecord {
  std::string uuid;  // digest of the members below
  std::string node_uuid;
  std::string backend;          // "onednn"
  std::string device;           // "cpu"
  std::vector<int> thread_pus;  // os indexes, one a thread, in thread order; -1: not pinned
  std::string memory_kind;      // "any", "ddr", "mcdram", "hbm"
  std::string
      memory_policy;  // "first_touch", "strict:1,5", "preferred:1", "interleave:4,5,6,7"; ", 2m pages" or ", 4k pages"
  int replicas = 1;
  std::string cache = "warm";  // or "cold": every call found its operands outside the on-core caches

  bool operator==(const ConfigurationRecord&) const = default;
};

struct RunRecord {
  std::string uuid;
  std::string label;    // the user's, may be empty
  std::string command;  // the command line, for a person
  std::string hbmark_version;
  std::string suite;  // name or file; empty for --problem
  std::string plan;   // JSON: the planned cases and options, what --resume needs
  std::string node_uuid;
  std::string environment_uuid;
  std::string started_at;                  // RFC 3339, UTC
  std::optional<std::string> finished_at;  // absent: still running, or interrupted
  std::string state;                       // "running", "finished", "interrupted"
  std::string boot_id;                     // the kernel's, of the boot it was started in; empty: not known

  bool operator==(const RunRecord&) const = default;
};

struct TimeSummary {  // seconds of one call
  double median = 0;
  std::optional<double> ci_low;  // 95 % interval of the median; absent: too few samples, see interval_note
  std::optional<double> ci_high;
  double min = 0;
  std::int64_t samples = 0;
  std::int64_t calls_per_sample = 1;
  std::string interval_method;  // "order statistics", "order statistics over 12 batches", or why there is none

  bool operator==(const TimeSummary&) const = default;
};

struct Verification {
  std::int64_t checked = 0;  // elements compared, plus projections
  double max_rel_error = 0;  // largest error over its bound's scale
  double tolerance = 0;
  std::string method;  // "16384 sampled elements and a random projection of every element"

  bool operator==(const Verification&) const = default;
};

struct ResultRecord {
  std::string uuid;
  std::string run_uuid;
  std::string configuration_uuid;
  std::int64_t case_index = 0;  // position in the run's plan
  std::string problem;          // canonical string
  std::string kernel;
  std::string backend;
  std::string device;
  std::string memory_kind;  // any ddr mcdram hbm, node:1; mcdram-preferred and mcdram-interleave where it is not strict
  std::int64_t threads = 0;
  std::int64_t replicas = 1;  // with more, a call is one on each, and flop and bytes are those of all
  std::int64_t launches = 1;
  Outcome outcome = Outcome::kNotRun;
  std::string reason;              // why, when not ok; empty when ok
  std::vector<std::string> flags;  // noisy drifting bimodal throttled algorithmic over_budget few_samples printed cold
                                   // spilled split
  std::optional<TimeSummary> time;
  std::map<int, double> replica_times_s;      // replica, from 0 -> seconds of one of its calls, while all of them ran
  std::optional<double> replica_alone_s;      // the same of replica 0 while the others waited
  std::optional<double> flop;                 // of one call
  std::optional<double> bytes;                // of one call, each operand once
  std::optional<double> loads;                // of one call, one after the other; of a chase alone
  std::optional<double> ceiling_flop_per_s;   // measured by peak with the same threads and type
  std::optional<double> ceiling_bytes_per_s;  // measured by stream with the same threads
  std::optional<double> ceiling_fraction;     // of the roofline min(peak, intensity * bandwidth); absent: no ceiling applies
  std::string implementation;
  std::string isa;
  std::string library;  // "oneDNN 2.6.3"
  std::string layout;
  std::optional<Verification> verified;
  std::map<int, double> pages;            // NUMA node os index -> share of the operands' pages, after the last sample
  std::map<int, double> worker_pages;     // likewise of all anonymous pages of the worker
  std::optional<double> huge_pages;       // share of the operands' bytes on pages of 2 MiB
  std::vector<int> thread_pus;            // where each thread was found, in thread order
  std::optional<double> reorder_s;        // layout conversion of one call, outside `time`; absent: none needed
  std::optional<double> energy_j;         // of one call, from a window of its own after the samples
  std::string energy_scope;               // what energy_j counts: "package 0, package 1, dram 0"
  std::string energy_note;                // how it was measured, or why it was not; empty: nobody asked
  std::optional<double> clock_before_hz;  // effective clock of the first thread's core just before the case's samples
  std::optional<double> clock_after_hz;   // and just after them
  std::string clock_note;                 // why there is none; empty when there is
  double wall_s = 0;                      // whole case, set-up and checks and all
  double timed_s = 0;                     // inside timed calls
  std::string stopped_by;                 // "precision", "budget", "" when not measured
  std::string log;                        // what the library printed, at most 4 KiB
  std::string finished_at;                // RFC 3339, UTC

  bool operator==(const ResultRecord&) const = default;
};

// The rate of all replicas together over as many times the rate of the first alone. Pure.
inline std::optional<double> replica_efficiency(const ResultRecord& result) {
  if (!result.replica_alone_s || !result.time || !(result.time->median > 0)) return std::nullopt;
  return *result.replica_alone_s / result.time->median;
}

struct SampleRecord {
  std::string result_uuid;
  std::int64_t launch = 0;
  std::int64_t index = 0;
  double time_s = 0;  // seconds a call: mean of calls_per_sample calls

  bool operator==(const SampleRecord&) const = default;
};

}  // namespace hbmark
