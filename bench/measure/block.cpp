#include "bench/measure/block.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <array>
#include <cstdlib>
#include <optional>
#include <string>
#include <string_view>

extern char** environ;

namespace hbmark {
namespace {

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& runs) override {
    for (const Run& run : runs) {
      if (run.run_type != Run::RT_Iteration || run.iterations <= 0) continue;
      samples.push_back(run.real_accumulated_time / static_cast<double>(run.iterations));
    }
  }
  std::vector<double> samples;
};

// The library takes the defaults of its flags from BENCHMARK_* when it is loaded, before any code of ours. Those that would
// change or silence a measurement, print, or exit on a value it does not know, are set back here; it ignores flags it lacks.
void initialize_once() {
  static const bool done = [] {
    std::array arguments = {std::string("hbmark"),
                            std::string("--benchmark_list_tests=false"),
                            std::string("--benchmark_dry_run=false"),
                            std::string("--benchmark_enable_random_interleaving=false"),
                            std::string("--benchmark_min_warmup_time=0"),
                            std::string("--benchmark_repetitions=1"),
                            std::string("--benchmark_perf_counters="),
                            std::string("--benchmark_out="),
                            std::string("--benchmark_out_format=json"),
                            std::string("--benchmark_format=console"),
                            std::string("--benchmark_color=auto"),
                            std::string("--benchmark_time_unit=ns")};
    std::vector<char*> pointers;
    for (std::string& argument : arguments) pointers.push_back(argument.data());
    int count = static_cast<int>(pointers.size());
    pointers.push_back(nullptr);
    benchmark::Initialize(&count, pointers.data());
    return true;
  }();
  static_cast<void>(done);
}

void unset_environment() {
  std::vector<std::string> names;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    if (text.starts_with("BENCHMARK_")) names.emplace_back(text.substr(0, text.find('=')));
  }
  for (const std::string& name : names) ::unsetenv(name.c_str());
}

}  // namespace

Result<std::vector<double>> run_block(const Block& block) {
  unset_environment();
  initialize_once();
  std::optional<Error> error;
  std::int64_t done = 0;
  bool ended = false;
  const auto body = [&](benchmark::State& state) {
    if (!ended && done > 0 && block.may_go_on) ended = !block.may_go_on();
    // SkipWithError would do to end early, but repetitions skipped beside others fail an assertion of 1.7.1 (ComputeStats
    // wants equal iterations); so the rest passes without work, under a time that nobody reads.
    while (state.KeepRunningBatch(block.calls_per_sample)) {
      double seconds = 1;
      if (!ended) {
        const Result<double> measured = block.timed_calls(block.calls_per_sample);
        if (measured) {
          seconds = *measured;
          ++done;
        } else {
          error = measured.error();
          ended = true;
        }
      }
      state.SetIterationTime(seconds);
    }
  };
  Collector collector;
  benchmark::ClearRegisteredBenchmarks();
  benchmark::RegisterBenchmark("sample", body)
      ->Iterations(block.calls_per_sample)
      ->Repetitions(static_cast<int>(block.samples))
      ->ReportAggregatesOnly(false)
      ->UseManualTime();
  benchmark::RunSpecifiedBenchmarks(&collector, "sample");
  benchmark::ClearRegisteredBenchmarks();
  if (error) return tl::make_unexpected(*std::move(error));
  const auto reported = static_cast<std::int64_t>(collector.samples.size());
  if (reported != block.samples) {
    return fail(ErrorKind::kInternal, "cannot take a block of samples",
                fmt::format("Google Benchmark reported {} of {} samples", reported, block.samples),
                "report this with the version of Google Benchmark");
  }
  collector.samples.resize(static_cast<std::size_t>(done));  // those after an early end come last
  return std::move(collector.samples);
}

}  // namespace hbmark
