// How long until a suite has told, and what that time went into: runs a suite of hbmark as a user does, reads the results
// back from its store's JSON, and compares with a loop of 300 repeats a case.
//   perf_time_to_answer [suite]
// A repeat is a sample of the same length as ours, so that both have the same noise; an interval's width goes with the root
// of their number. Exit 1 when hbmark fails, when no case is ok, or when less than 60 % of the time is inside timed calls.
#include <fmt/format.h>
#include <stdlib.h>
#include <sys/wait.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace {

using nlohmann::json;

constexpr double kRepeats = 300;  // of DeepBench's loops
constexpr double kPrecision = 0.02;
constexpr double kLeastTimedShare = 0.6;

struct Totals {
  int cases = 0, ok = 0, precise = 0, precise_by_repeats = 0;
  double timed_s = 0;
  double sampled_s = 0;     // in samples alone
  double repeats_s = 0;     // of the loop
  double as_precise_s = 0;  // of a loop long enough for our precision in each case
};

void count(const json& line, Totals& totals) {
  ++totals.cases;
  totals.timed_s += line.at("timed_s").get<double>();
  const json& time = line.at("time_s");
  if (line.at("outcome") != "ok" || time.is_null()) return;
  ++totals.ok;
  const auto samples = time.at("samples").get<double>();
  const double sample_s = time.at("median").get<double>() * time.at("calls_per_sample").get<double>();
  totals.sampled_s += samples * sample_s;
  totals.repeats_s += kRepeats * sample_s;
  if (time.at("ci_low").is_null()) return;
  const double half_width =
      (time.at("ci_high").get<double>() - time.at("ci_low").get<double>()) / 2 / time.at("median").get<double>();
  if (half_width <= kPrecision) ++totals.precise;
  if (half_width * std::sqrt(samples / kRepeats) <= kPrecision) ++totals.precise_by_repeats;
}

// A fixed number of repeats holds for all cases: for our precision in each it must be that of the neediest.
// The neediest may be one that its budget ended before it was precise: what it reached is then what is asked of the loop.
void count_needed(const std::vector<json>& lines, Totals& totals) {
  double most = 0;
  for (const json& line : lines) {
    if (!line.at("time_s").is_null()) most = std::max(most, line.at("time_s").at("samples").get<double>());
  }
  totals.as_precise_s = totals.repeats_s * most / kRepeats;
}

// Lines of a command's standard output; empty when it failed.
std::vector<json> lines_of(const std::string& command) {
  std::vector<json> lines;
  std::FILE* pipe = ::popen(command.c_str(), "r");
  if (pipe == nullptr) return {};
  std::string line;
  for (int c = std::fgetc(pipe); c != EOF; c = std::fgetc(pipe)) {
    if (c != '\n') {
      line.push_back(static_cast<char>(c));
      continue;
    }
    lines.push_back(json::parse(line));
    line.clear();
  }
  return ::pclose(pipe) == 0 ? lines : std::vector<json>{};
}

int report(const std::vector<json>& lines, double wall_s) {
  Totals totals;
  for (const json& line : lines) {
    if (line.at("schema") == "hbmark.result/1") count(line, totals);
  }
  if (totals.ok == 0) {
    fmt::print(stderr, "perf_time_to_answer: no case is ok\n");
    return 1;
  }
  count_needed(lines, totals);
  const double share = totals.timed_s / wall_s;
  fmt::print("wall time                        {:8.1f} s, start and table included\n", wall_s);
  fmt::print("inside timed calls               {:8.1f} s, {:.0f} % (at least {:.0f} % is wanted)\n", totals.timed_s,
             100 * share, 100 * kLeastTimedShare);
  fmt::print("ok                               {:5} of {} cases\n", totals.ok, totals.cases);
  fmt::print("within {:.0f} %                      {:5} of {}\n", 100 * kPrecision, totals.precise, totals.ok);
  fmt::print("samples alone                    {:8.1f} s\n", totals.sampled_s);
  fmt::print("{:.0f} repeats a case               {:8.1f} s, {} of {} within {:.0f} %; we save {:.0f} %\n", kRepeats,
             totals.repeats_s, totals.precise_by_repeats, totals.ok, 100 * kPrecision,
             100 * (1 - totals.sampled_s / totals.repeats_s));
  fmt::print("fixed repeats of our precision   {:8.1f} s (those of the neediest case); we save {:.0f} %\n",
             totals.as_precise_s, 100 * (1 - totals.sampled_s / totals.as_precise_s));
  return share < kLeastTimedShare ? 1 : 0;
}

int run(const std::string& suite) {
  std::string folder = (std::filesystem::temp_directory_path() / "hbmark-perf-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    std::perror("perf_time_to_answer: a temporary folder");
    return 1;
  }
  const std::string store = "--db '" + folder + "/results.db'";
  const auto start = std::chrono::steady_clock::now();
  const int status =
      std::system(fmt::format("'{}' run --suite '{}' {} --quiet >'{}/table'", HBMARK_PROGRAM, suite, store, folder).c_str());
  const double wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  int code = 1;
  if (WIFEXITED(status) && WEXITSTATUS(status) <= 1) {
    code = report(lines_of(fmt::format("'{}' export last --format json {}", HBMARK_PROGRAM, store)), wall_s);
  } else {
    fmt::print(stderr, "perf_time_to_answer: `hbmark run --suite {}` ended with status {}\n", suite, status);
  }
  std::error_code ignored;
  std::filesystem::remove_all(folder, ignored);
  return code;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 2) {
    std::fprintf(stderr, "use: perf_time_to_answer [suite]\n");
    return 2;
  }
  return run(argc > 1 ? argv[1] : "quick");
}
