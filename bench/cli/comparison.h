// Two sides of stored results, paired and judged: what `hbmark compare` shows, before it is shown.
//
// Pure: records in, plain data out; thread-safe. Pairs are of the same problem with the rest of the configuration equal; a
// problem that each side has just once is paired all the same, and what differs is said. Ratios are B over A.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "results/records.h"
#include "results/stats/compare.h"

namespace hbmark::cli {

// One stored result with all that a comparison asks of where it was measured.
struct Measured {
  ResultRecord result;
  stats::Launches launches;
  RunRecord run;
  NodeRecord node;                           // as that run saw it
  std::map<std::string, std::string> facts;  // by name of --by: memory_mode, cluster_mode, memory, replicas, threads, ...
  std::map<std::string, std::string> environment;
  std::string memory_policy;  // of the configuration: "first_touch", "strict:1"
  std::string cache = "warm";
  std::string boot;  // the kernel's id of it; empty: not known
};

// What --by takes, in the order of the help.
const std::vector<std::string>& compare_fields();

struct Side {
  std::string name;           // "run 3f2a9c1e \"before\"", "memory_mode cache, memory any"
  std::vector<Measured> all;  // of one key several: their launches are taken together
};

struct PairSide {
  std::vector<const Measured*> measured;  // of ComparisonInput's sides; empty: nothing stored
  std::string reason;                     // why there is no time; empty when there is
};

struct PairRow {
  std::string problem;
  std::string kernel;
  std::string configuration;    // "onednn cpu, any memory, 4 threads": what both share
  std::optional<double> bytes;  // working set
  PairSide a, b;
  stats::RatioEstimate ratio;
  std::optional<double> adjusted_p;
  stats::Verdict verdict = stats::Verdict::kNotComparable;
  std::string reason;              // why not established or not comparable
  std::vector<std::string> notes;  // what is unfair about this pair
};

struct Remark {  // of the whole comparison
  std::string id;
  std::string text;
};

struct Comparison {
  std::string by;  // empty: two runs
  std::string a_name, b_name;
  std::vector<PairRow> rows;
  std::vector<Remark> remarks;
};

struct CompareRules {
  std::string by;        // a field, left out of what has to be equal; empty: two runs
  double margin = 0.02;  // of equivalence
};

// The sides must outlive what is returned. One comparison of A with every B; the adjustment is over the rows of all.
std::vector<Comparison> compare_sides(const Side& a, const std::vector<Side>& others, const CompareRules& rules);

// What makes the whole comparison less than fair (comparison_remarks.cpp), and each pair.
std::vector<std::string> pair_notes(const PairRow& row, const std::string& by);
std::vector<Remark> remarks_of(const Side& a, const Side& b, const std::vector<PairRow>& rows, const CompareRules& rules);

// "3 faster, 1 slower, 5 same within 2 %".
std::string verdict_counts(const std::vector<PairRow>& rows, double margin);
std::string verdict_words(stats::Verdict verdict, double margin);  // "same within 2 %"

}  // namespace hbmark::cli
