// What the fake backend is told to do: rules from the JSON file that README.md describes, and their state in one session.
//
// One thread. A script belongs to one session: its counters and random numbers start anew with each.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <random>
#include <string>
#include <string_view>
#include <vector>

#include "backends/sdk/backend.h"

namespace hbmark::fake {

enum class Step {
  kProbe,
  kOpen,
  kSupports,
  kPrepare,
  kSelect,
  kAlloc,
  kWrite,
  kRun,
  kConvert,
  kRead,
  kBegin,
  kEnd,
  kElapsed,
  kRelease
};

enum class FaultKind {
  kSignal,
  kExit,
  kHang,
  kSlow,
  kPrint,
  kCode,  // an HBMARK_* code with a message
  kWrongElement,
  kWrongTile,
  kWrongColumn,
  kTransposedOperand,
  kNan,
  kZeros,
  kUntouched,
  kAccumulate,
  kZeroClock,
  kNegativeClock,
  kNanClock
};

struct Fault {
  FaultKind kind = FaultKind::kCode;
  Step at = Step::kRun;
  int number = 0;  // the signal, exit status or HBMARK_* code
  std::uint64_t after = 0;
  std::uint64_t count = std::numeric_limits<std::uint64_t>::max();
  std::string message;
  std::int64_t vendor_code = 0;
  std::string to_stdout, to_stderr;
  double seconds = 0;
  std::uint64_t passages = 0;  // so far in this session
};

struct Distribution {
  double median_s = 1e-3;
  double sigma = 0;
  std::uint64_t seed = 1;
  double autocorrelation = 0;
  double drift = 0;
  double outliers = 0;
};

struct CandidateRule {
  std::string name = "scripted";
  std::vector<double> times_s;
  double time_factor = 1;
  std::uint32_t algorithm_class = HBMARK_ALGORITHM_DIRECT;
  std::uint64_t workspace_bytes = 0;
};

struct Rule {
  std::string match = "*";
  std::vector<double> times_s;
  std::optional<Distribution> distribution;
  std::vector<CandidateRule> candidates;
  std::optional<std::string> unsupported;
  std::optional<double> conversion_s;
  bool sleep = false;
  bool deaf = false;
  std::vector<Fault> faults;
};

// What the rules come to for one problem.
struct Behaviour {
  std::vector<double> times_s;
  std::optional<Distribution> distribution;
  std::vector<CandidateRule> candidates;  // at least one
  std::optional<std::string> unsupported;
  std::optional<double> conversion_s;
  bool sleep = false;
  bool deaf = false;
};

struct Script {
  std::optional<std::string> unavailable;
  std::vector<sdk::Device> devices;
  sdk::SessionInfo info;
  std::vector<Rule> rules;

  Behaviour behaviour(const std::string& problem) const;
  // Lets every fault strike that is due at this step: a code comes back as the failure, kinds that only falsify results as
  // the list, and the others happen here. `problem` is empty before there is one.
  sdk::Expected<std::vector<FaultKind>> pass(Step step, const std::string& problem, const sdk::Host& host);
};

// From $HBMARK_FAKE_SCRIPT, or one that behaves. Failure: unavailable, with the place and nature of the error.
sdk::Expected<Script> load_script();

// Real seconds, in slices; false: ended early because the host asked (never when deaf).
bool sleep_for(double seconds, const sdk::Host& host, bool deaf);

// Seconds of one `run` after the other, as a rule has them.
class TimeSource {
 public:
  TimeSource() = default;
  TimeSource(const Behaviour& behaviour, std::uint32_t candidate, const std::string& problem, double default_s);
  double next(std::uint64_t calls);

 private:
  double draw();

  std::vector<double> times_s_;
  std::optional<Distribution> distribution_;
  double factor_ = 1;
  std::size_t position_ = 0;
  std::mt19937_64 random_;
  std::uint64_t drawn_ = 0;
  double last_normal_ = 0;
};

}  // namespace hbmark::fake
