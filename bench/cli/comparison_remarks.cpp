// What makes a comparison less than fair: of each pair, and of the whole.
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>

#include "bench/cli/comparison.h"
#include "bench/cli/text.h"

namespace hbmark::cli {
namespace {

constexpr double kClockApart = 0.05;  // more than a clock varies by itself when nothing throttles it

// Settings of a machine that move times, as the environment names them (run_records.cpp).
constexpr std::array<std::string_view, 11> kSettings = {
    "governor",  "frequency_driver",     "boost",          "intel_no_turbo", "smt",  "kernel",
    "microcode", "transparent_hugepage", "numa_balancing", "compiler",       "glibc"};

const std::vector<const Measured*>& of(const PairSide& side) { return side.measured; }

// The distinct texts a side's results give, as one: "oneDNN 2.6.3", "oneDNN 2.6.3 or oneDNN 3.1".
std::string distinct(const PairSide& side, std::string (*text_of)(const Measured&)) {
  std::set<std::string> texts;
  for (const Measured* one : of(side)) texts.insert(text_of(*one));
  texts.erase("");
  return printable(fmt::format("{}", fmt::join(texts, " or ")));
}

void note_difference(const PairRow& row, const char* name, std::string (*text_of)(const Measured&),
                     std::vector<std::string>& notes) {
  const std::string a = distinct(row.a, text_of);
  const std::string b = distinct(row.b, text_of);
  if (a != b) notes.push_back(fmt::format("{}: A {}, B {}", name, a.empty() ? "unknown" : a, b.empty() ? "unknown" : b));
}

template <const char* kName>
std::string fact_of(const Measured& measured) {
  const auto found = measured.facts.find(kName);
  return found == measured.facts.end() ? "" : found->second;
}
constexpr char kBackend[] = "backend";
constexpr char kDevice[] = "device";
constexpr char kMemory[] = "memory";
constexpr char kThreads[] = "threads";
constexpr char kReplicas[] = "replicas";
constexpr char kMemoryMode[] = "memory_mode";
constexpr char kClusterMode[] = "cluster_mode";

std::optional<double> clock_of(const PairSide& side) {
  double sum = 0;
  int count = 0;
  for (const Measured* one : of(side)) {
    for (const auto& clock : {one->result.clock_before_hz, one->result.clock_after_hz}) {
      if (!clock) continue;
      sum += *clock;
      ++count;
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / count);
}

double reorder_of(const PairSide& side) {
  double most = 0;
  for (const Measured* one : of(side)) most = std::max(most, one->result.reorder_s.value_or(0));
  return most;
}

void note_flags(const PairRow& row, std::vector<std::string>& notes) {
  for (const auto& [name, side] : {std::pair<const char*, const PairSide&>{"A", row.a}, {"B", row.b}}) {
    std::set<std::string> flags;
    for (const Measured* one : of(side)) {
      for (const std::string& flag : one->result.flags) {
        if (flag != "printed" && flag != "cold") flags.insert(printable(flag));
      }
    }
    if (!flags.empty()) notes.push_back(fmt::format("{} is {}", name, fmt::join(flags, " ")));
  }
}

std::set<std::string> values(const Side& side, const std::string& name) {
  std::set<std::string> found;
  for (const Measured& measured : side.all) {
    const auto value = measured.environment.find(name);
    found.insert(value == measured.environment.end() ? "" : printable(value->second));
  }
  return found;
}

std::set<std::string> of_runs(const Side& side, std::string (*text_of)(const Measured&)) {
  std::set<std::string> found;
  for (const Measured& measured : side.all) found.insert(printable(text_of(measured)));
  return found;
}

std::string joined(const std::set<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += (all.empty() ? "" : " or ") + (text.empty() ? "unknown" : text);
  return all;
}

void remark_difference(const char* id, const char* what, const std::set<std::string>& a, const std::set<std::string>& b,
                       std::vector<Remark>& remarks) {
  if (a != b) remarks.push_back({id, fmt::format("{}: A {}, B {}", what, joined(a), joined(b))});
}

bool is_about_modes(const Side& a, const Side& b, const CompareRules& rules) {
  return rules.by == "memory_mode" || rules.by == "cluster_mode" ||
         of_runs(a, fact_of<kMemoryMode>) != of_runs(b, fact_of<kMemoryMode>) ||
         of_runs(a, fact_of<kClusterMode>) != of_runs(b, fact_of<kClusterMode>);
}

// A reboot changes more than the mode: which pages are free, where the kernel lies. Without a second boot of one mode the
// two cannot be told apart.
void remark_boots(const Side& a, const Side& b, std::vector<Remark>& remarks) {
  const auto boots_a = of_runs(a, [](const Measured& one) { return one.boot; });
  const auto boots_b = of_runs(b, [](const Measured& one) { return one.boot; });
  if (boots_a.size() > 1 || boots_b.size() > 1) return;
  const bool unknown = boots_a.contains("") || boots_b.contains("");
  remarks.push_back(
      {"one_boot_a_mode",
       fmt::format("{}: what differs may be the boot, not the mode; measure the first mode once more after another "
                   "reboot (flat, cache, flat)",
                   unknown ? "at most one known boot a mode" : "one boot a mode")});
}

void remark_launches(const std::vector<PairRow>& rows, std::vector<Remark>& remarks) {
  const auto few = std::count_if(rows.begin(), rows.end(),
                                 [](const PairRow& row) { return row.verdict == stats::Verdict::kNotEstablished; });
  if (few == 0) return;
  remarks.push_back(
      {"few_launches",
       fmt::format("{} of {} problems have fewer than {} launches a side, and so no interval between launches: what "
                   "is shown of them may be the luck of one launch; repeat both sides in fresh processes (run --launches "
                   "{}, or {} runs "
                   "with one label each, then --by label)",
                   few, rows.size(), stats::kFewestLaunches, stats::kFewestLaunches, stats::kFewestLaunches)});
}

}  // namespace

std::vector<std::string> pair_notes(const PairRow& row, const std::string& by) {
  std::vector<std::string> notes;
  if (!row.reason.empty()) return notes;  // a side was not measured
  const auto differ = [&](const char* name, const char* field, std::string (*text_of)(const Measured&)) {
    if (by != field) note_difference(row, name, text_of, notes);
  };
  differ("backend", "backend", fact_of<kBackend>);
  differ("device", "backend", fact_of<kDevice>);
  if (by != "memory_mode" && by != "cluster_mode") differ("memory", "memory", fact_of<kMemory>);
  differ("threads", "threads", fact_of<kThreads>);
  differ("replicas", "replicas", fact_of<kReplicas>);
  if (by != "backend") differ("library", "library", [](const Measured& one) { return one.result.library; });
  differ("instruction set", "", [](const Measured& one) { return one.result.isa; });
  if (by != "threads" && by != "replicas") {
    differ("threads pinned to PU", "", [](const Measured& one) { return ranges(one.result.thread_pus); });
  }
  const auto clock_a = clock_of(row.a);
  const auto clock_b = clock_of(row.b);
  if (clock_a && clock_b && std::abs(*clock_b / *clock_a - 1) > kClockApart) {
    notes.push_back(fmt::format("clock: A {}, B {}", si(*clock_a, "Hz", Style{}, 3), si(*clock_b, "Hz", Style{}, 3)));
  }
  const double reorder_a = reorder_of(row.a);
  const double reorder_b = reorder_of(row.b);
  if (std::abs(reorder_a - reorder_b) > 0.01 * std::max(reorder_a, reorder_b) && (reorder_a == 0 || reorder_b == 0)) {
    notes.push_back(fmt::format("unequal accounting: {} needs a layout conversion of {} a call besides",
                                reorder_a > 0 ? "A" : "B", si(std::max(reorder_a, reorder_b), "s", Style{}, 2)));
  }
  note_flags(row, notes);
  return notes;
}

std::vector<Remark> remarks_of(const Side& a, const Side& b, const std::vector<PairRow>& rows, const CompareRules& rules) {
  std::vector<Remark> remarks;
  if (a.all.empty() || b.all.empty()) return remarks;
  remark_launches(rows, remarks);
  remark_difference("node", "node", of_runs(a, [](const Measured& one) { return one.node.hostname; }),
                    of_runs(b, [](const Measured& one) { return one.node.hostname; }), remarks);
  if (rules.by != "memory_mode")
    remark_difference("memory_mode", "memory mode", of_runs(a, fact_of<kMemoryMode>), of_runs(b, fact_of<kMemoryMode>),
                      remarks);
  if (rules.by != "cluster_mode")
    remark_difference("cluster_mode", "cluster mode", of_runs(a, fact_of<kClusterMode>), of_runs(b, fact_of<kClusterMode>),
                      remarks);
  remark_difference("hbmark", "hbmark", of_runs(a, [](const Measured& one) { return one.run.hbmark_version; }),
                    of_runs(b, [](const Measured& one) { return one.run.hbmark_version; }), remarks);
  for (const std::string_view setting : kSettings) {
    const std::string name(setting);
    remark_difference(name.c_str(), name.c_str(), values(a, name), values(b, name), remarks);
  }
  if (is_about_modes(a, b, rules)) remark_boots(a, b, remarks);
  return remarks;
}

}  // namespace hbmark::cli
