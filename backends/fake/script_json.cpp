// Reading a script. Every key is checked: a misspelt one in a test would otherwise test nothing.
#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <nlohmann/json.hpp>
#include <stdexcept>

#include "backends/fake/script.h"

namespace hbmark::fake {
namespace {

using nlohmann::json;

struct StepRow {
  const char* name;
  Step step;
};
constexpr StepRow kSteps[] = {{"probe", Step::kProbe},     {"open", Step::kOpen},      {"supports", Step::kSupports},
                              {"prepare", Step::kPrepare}, {"select", Step::kSelect},  {"alloc", Step::kAlloc},
                              {"write", Step::kWrite},     {"run", Step::kRun},        {"convert", Step::kConvert},
                              {"read", Step::kRead},       {"begin", Step::kBegin},    {"end", Step::kEnd},
                              {"elapsed", Step::kElapsed}, {"release", Step::kRelease}};

struct KindRow {
  const char* name;
  FaultKind kind;
  int number = 0;
};
constexpr KindRow kKinds[] = {{"segv", FaultKind::kSignal, SIGSEGV},
                              {"abort", FaultKind::kSignal, SIGABRT},
                              {"ill", FaultKind::kSignal, SIGILL},
                              {"fpe", FaultKind::kSignal, SIGFPE},
                              {"kill", FaultKind::kSignal, SIGKILL},
                              {"exit", FaultKind::kExit},
                              {"hang", FaultKind::kHang},
                              {"slow", FaultKind::kSlow},
                              {"print", FaultKind::kPrint},
                              {"unsupported", FaultKind::kCode, HBMARK_UNSUPPORTED},
                              {"unavailable", FaultKind::kCode, HBMARK_UNAVAILABLE},
                              {"out_of_memory", FaultKind::kCode, HBMARK_OUT_OF_MEMORY},
                              {"cancelled", FaultKind::kCode, HBMARK_CANCELLED},
                              {"invalid", FaultKind::kCode, HBMARK_INVALID},
                              {"failed", FaultKind::kCode, HBMARK_FAILED},
                              {"wrong_element", FaultKind::kWrongElement},
                              {"wrong_tile", FaultKind::kWrongTile},
                              {"wrong_column", FaultKind::kWrongColumn},
                              {"transposed_operand", FaultKind::kTransposedOperand},
                              {"nan", FaultKind::kNan},
                              {"zeros", FaultKind::kZeros},
                              {"untouched", FaultKind::kUntouched},
                              {"accumulate", FaultKind::kAccumulate},
                              {"zero_clock", FaultKind::kZeroClock},
                              {"negative_clock", FaultKind::kNegativeClock},
                              {"nan_clock", FaultKind::kNanClock}};

struct ClassRow {
  const char* name;
  std::uint32_t algorithm_class;
};
constexpr ClassRow kClasses[] = {{"direct", HBMARK_ALGORITHM_DIRECT},
                                 {"winograd", HBMARK_ALGORITHM_WINOGRAD},
                                 {"fft", HBMARK_ALGORITHM_FFT},
                                 {"strassen", HBMARK_ALGORITHM_STRASSEN}};

template <class Row, std::size_t kCount>
const Row& find_row(const Row (&rows)[kCount], const std::string& name, const char* what) {
  for (const Row& row : rows) {
    if (name == row.name) return row;
  }
  throw std::runtime_error(std::string("there is no ") + what + " \"" + name + "\"");
}

void demand_keys(const json& object, const char* what, std::initializer_list<std::string_view> known) {
  if (!object.is_object()) throw std::runtime_error(std::string(what) + " is not an object");
  for (const auto& [key, value] : object.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      throw std::runtime_error(std::string(what) + " has an unknown key \"" + key + "\"");
    }
  }
}

Fault read_fault(const json& object) {
  demand_keys(object, "a fault",
              {"kind", "at", "after", "count", "message", "vendor_code", "status", "stdout", "stderr", "seconds"});
  Fault fault;
  const KindRow row = find_row(kKinds, object.at("kind").get<std::string>(), "kind of fault");
  fault.kind = row.kind;
  fault.number = row.kind == FaultKind::kExit ? object.value("status", 0) : row.number;
  const bool of_clock =
      row.kind == FaultKind::kZeroClock || row.kind == FaultKind::kNegativeClock || row.kind == FaultKind::kNanClock;
  fault.at = find_row(kSteps, object.value("at", of_clock ? "elapsed" : "run"), "step").step;
  fault.after = object.value("after", fault.after);
  fault.count = object.value("count", fault.count);
  fault.message = object.value("message", "scripted: " + object.at("kind").get<std::string>());
  fault.vendor_code = object.value("vendor_code", fault.vendor_code);
  fault.to_stdout = object.value("stdout", "");
  fault.to_stderr = object.value("stderr", "");
  fault.seconds = object.value("seconds", fault.seconds);
  return fault;
}

Distribution read_distribution(const json& object) {
  demand_keys(object, "a distribution", {"median", "sigma", "seed", "autocorrelation", "drift", "outliers"});
  Distribution d;
  d.median_s = object.at("median").get<double>();
  d.sigma = object.value("sigma", d.sigma);
  d.seed = object.value("seed", d.seed);
  d.autocorrelation = object.value("autocorrelation", d.autocorrelation);
  d.drift = object.value("drift", d.drift);
  d.outliers = object.value("outliers", d.outliers);
  return d;
}

CandidateRule read_candidate(const json& object) {
  demand_keys(object, "a candidate", {"name", "times", "time_factor", "class", "workspace_bytes"});
  CandidateRule candidate;
  candidate.name = object.at("name").get<std::string>();
  candidate.times_s = object.value("times", candidate.times_s);
  candidate.time_factor = object.value("time_factor", candidate.time_factor);
  candidate.algorithm_class = find_row(kClasses, object.value("class", "direct"), "algorithm class").algorithm_class;
  candidate.workspace_bytes = object.value("workspace_bytes", candidate.workspace_bytes);
  return candidate;
}

Rule read_rule(const json& object) {
  demand_keys(object, "a rule",
              {"match", "times", "distribution", "candidates", "unsupported", "conversion", "sleep", "deaf", "fault"});
  Rule rule;
  rule.match = object.value("match", rule.match);
  rule.times_s = object.value("times", rule.times_s);
  if (object.contains("distribution")) rule.distribution = read_distribution(object["distribution"]);
  for (const json& candidate : object.value("candidates", json::array()))
    rule.candidates.push_back(read_candidate(candidate));
  if (object.contains("unsupported")) rule.unsupported = object["unsupported"].get<std::string>();
  if (object.contains("conversion")) rule.conversion_s = object["conversion"].get<double>();
  rule.sleep = object.value("sleep", rule.sleep);
  rule.deaf = object.value("deaf", rule.deaf);
  const json faults = object.value("fault", json::array());
  if (faults.is_object()) rule.faults.push_back(read_fault(faults));
  if (faults.is_array()) {
    for (const json& fault : faults) rule.faults.push_back(read_fault(fault));
  }
  return rule;
}

sdk::Device read_device(const json& object) {
  demand_keys(object, "a device", {"id", "name", "kind", "memory_bytes"});
  const std::string kind = object.value("kind", "cpu");
  if (kind != "cpu" && kind != "gpu")
    throw std::runtime_error("a device's kind is \"cpu\" or \"gpu\", not \"" + kind + "\"");
  return {object.at("id").get<std::string>(), object.value("name", "a scripted processor"),
          static_cast<std::uint32_t>(kind == "gpu" ? HBMARK_DEVICE_GPU : HBMARK_DEVICE_CPU),
          object.value("memory_bytes", std::uint64_t{0})};
}

Script read_script(const json& object) {
  demand_keys(object, "the script", {"devices", "unavailable", "info", "rules"});
  Script script;
  if (object.contains("unavailable")) script.unavailable = object["unavailable"].get<std::string>();
  for (const json& device : object.value("devices", json::array({{{"id", "cpu"}}}))) {
    script.devices.push_back(read_device(device));
  }
  const json info = object.value("info", json::object());
  demand_keys(info, "info", {"library", "runtime", "isa", "warning"});
  script.info = {info.value("library", "Fakelib 1.0"), info.value("runtime", "none"), info.value("isa", "avx9"),
                 info.value("warning", "")};
  for (const json& rule : object.value("rules", json::array())) script.rules.push_back(read_rule(rule));
  return script;
}

}  // namespace

sdk::Expected<Script> load_script() {
  const char* file = std::getenv("HBMARK_FAKE_SCRIPT");
  if (file == nullptr || *file == '\0') return read_script(json::object());
  std::ifstream in(file);
  if (!in) return sdk::unavailable(std::string("cannot read the script ") + file);
  try {
    return read_script(json::parse(in));
  } catch (const std::exception& e) {
    return sdk::unavailable(std::string("the script ") + file + " is wrong: " + e.what());
  }
}

}  // namespace hbmark::fake
