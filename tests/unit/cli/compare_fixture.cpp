#include "tests/unit/cli/compare_fixture.h"

#include <fmt/core.h>

namespace hbmark::tests {
namespace {

constexpr const char* kKnl = "cccc0003-0000-4000-8000-000000000003";

struct Machine {  // as it was in one run
  const char* run;
  const char* label;
  const char* mode;
  const char* started_at;
  const char* memory;
  const char* policy;
  const char* library;
  const char* governor;
};

constexpr Machine kFlat = {kFlatRun, "flat",     "flat",         "2026-11-28T10:00:00Z",
                           "mcdram", "strict:1", "oneDNN 2.6.3", "performance"};
constexpr Machine kCache = {kCacheRun, "cache",    "cache",      "2026-11-29T10:00:00Z",
                            "mcdram",  "strict:1", "oneDNN 3.1", "powersave"};

void save_machine(Store& store, const Machine& machine) {
  ASSERT_TRUE(store.save_node(
      {kKnl, "knl-07",
       fmt::format(R"({{"schema":"hbmark.node/1","cpu_model":"Intel(R) Xeon Phi(TM) CPU 7210","cores":64,)"
                   R"("numa":[{{"os_index":0,"kind":"ddr"}},{{"os_index":1,"kind":"mcdram","size_bytes":17179869184}}],)"
                   R"("memory_mode":{{"value":"{}"}},"cluster_mode":{{"value":"quadrant"}}}})",
                   machine.mode)}));
  const std::string environment = fmt::format("dddd0004-0000-5000-8000-00000000{:04}", machine.run[3] - '0');
  ASSERT_TRUE(store.save_environment({environment, {{"kernel", "Linux 6.1.0"}, {"governor", machine.governor}}}));
  RunRecord run;
  run.uuid = machine.run;
  run.label = machine.label;
  run.hbmark_version = "0.1.0";
  run.plan = "{}";
  run.node_uuid = kKnl;
  run.environment_uuid = environment;
  run.started_at = machine.started_at;
  run.finished_at = machine.started_at;
  run.state = "finished";
  ASSERT_TRUE(store.save_run(run));
  const std::string configuration = std::string(machine.run).replace(0, 4, "eeee");
  ASSERT_TRUE(
      store.save_configuration({configuration, kKnl, "onednn", "cpu", {0, 1, 2, 3}, machine.memory, machine.policy, 1}));
}

// Samples of so many launches whose medians are `median_s` within a percent or `spread` of it, the same for every problem.
std::vector<SampleRecord> samples_of(double median_s, int launches, double spread) {
  std::vector<SampleRecord> samples;
  for (int launch = 0; launch < launches; ++launch) {
    for (int i = 0; i < 10; ++i) {
      const double level = spread * ((launch * 5) % 8 - 3.5) / 3.5;
      const double jitter = 0.002 * ((i * 3) % 10 - 4.5);
      samples.push_back({"", launch, i, median_s * (1 + level + jitter)});
    }
  }
  return samples;
}

struct Case {
  const char* problem;
  double flat_s, cache_s;
  int launches;
  double spread;
  double bytes;
};

constexpr Case kCases[] = {
    {"stream:triad:f64:1073741824", 8e-3, 1.05e-2, 8, 0.01, 3.2e9},                  // slower
    {"stream:triad:f64:8589934592", 0.6, 0.41, 8, 0.01, 2.6e10},                     // faster
    {"gemm:f32:nn:m1024n1024k1024", 5e-3, 5.01e-3, 8, 0.005, 1.3e7},                 // the same
    {"gemm:f32:nn:m64n64k64", 4e-6, 4.1e-6, 8, 0.08, 4.9e4},                         // no difference shown
    {"conv:fwd:f32:n32c64h56w56k64r3s3sh1sw1ph1pw1", 2e-2, 2.1e-2, 1, 0.01, 5.1e7},  // not established
};

void save_results(Store& store, const Machine& machine, bool is_cache) {
  std::int64_t index = 0;
  const auto base = [&](const std::string& problem) {
    ResultRecord result;
    result.uuid = fmt::format("{}{:02}", std::string(machine.run).substr(0, 34), index);
    result.run_uuid = machine.run;
    result.configuration_uuid = std::string(machine.run).replace(0, 4, "eeee");
    result.case_index = index++;
    result.problem = problem;
    result.kernel = problem.substr(0, problem.find(':'));
    result.backend = "onednn";
    result.device = "cpu";
    result.memory_kind = machine.memory;
    result.threads = 4;
    result.outcome = Outcome::kOk;
    result.library = machine.library;
    result.isa = "avx512_mic";
    result.thread_pus = {0, 1, 2, 3};
    result.finished_at = machine.started_at;
    return result;
  };
  for (const Case& one : kCases) {
    ResultRecord result = base(one.problem);
    const double median_s = is_cache ? one.cache_s : one.flat_s;
    result.launches = one.launches;
    result.bytes = one.bytes;
    result.time = TimeSummary{median_s, {}, {}, median_s, 10 * one.launches, 1, "none"};
    if (is_cache && index == 4) result.flags = {"noisy"};
    ASSERT_TRUE(store.save_result(result, samples_of(median_s, one.launches, one.spread)));
  }
  ResultRecord broken = base("gemm:f32:nn:m8n8k8");
  broken.time = TimeSummary{1e-7, {}, {}, 1e-7, 80, 1, "none"};
  if (is_cache) {
    broken.outcome = Outcome::kCrashed;
    broken.reason = "the worker was ended by signal SIGSEGV";
    broken.time.reset();
  }
  ASSERT_TRUE(store.save_result(broken, broken.time ? samples_of(1e-7, 8, 0.01) : std::vector<SampleRecord>{}));
  if (!is_cache) {
    const ResultRecord alone = base("peak:fma:f32");
    ASSERT_TRUE(store.save_result(alone, samples_of(1e-3, 8, 0.01)));
  }
}

}  // namespace

void CompareFixture::SetUp() {
  StoreFixture::SetUp();
  for (const Machine& machine : {kFlat, kCache}) {
    save_machine(*store_, machine);
    save_results(*store_, machine, machine.run == kCacheRun);
  }
}

}  // namespace hbmark::tests
