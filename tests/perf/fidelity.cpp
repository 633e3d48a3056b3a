// Does hbmark's way of measuring cost anything? Its path (plugin contract, blocks of Google Benchmark) against plain loops
// over the same library, in one process: the same threads, layouts, buffers and calls a sample, in random turns.
//   perf_fidelity [pairs] [seconds a sample]
// Exit 1 when a case's lower 95 % bound of hbmark over plain exceeds 1.02, when the two did not compute the same, or when a
// plugin fails; 2 on wrong use.
#include <fmt/format.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "backends/abi/stream.h"
#include "backends/loader/loader.h"
#include "tests/perf/interleaved_ratio.h"
#include "tests/perf/plain_onednn.h"
#include "tests/perf/plain_triad.h"
#include "tests/perf/plugin_case.h"

namespace hbmark::perf {
namespace {

constexpr double kWorstRatio = 1.02;

struct Settings {
  std::int64_t pairs = 100;
  double sample_s = 0.02;  // long against the first microseconds after another loop has had the caches
};

struct Comparison {
  std::string name;
  Ratios ratios;
  double call_s = 0;
};

Error problem_with(const std::string& name, const std::string& why) {
  return Error{ErrorKind::kInternal, "cannot compare " + name, why, "the plain loop must do what the plugin does: mend it"};
}

// Both must leave the same output; a library may add in another order, so not bit by bit.
std::optional<std::string> difference(const std::vector<double>& a, const std::vector<double>& b) {
  double scale = 0;
  for (const double x : a) scale = std::max(scale, std::abs(x));
  for (std::size_t i = 0; i < a.size(); ++i) {
    if (std::abs(a[i] - b[i]) <= 1e-4 * scale) continue;  // false for a not-a-number too
    return fmt::format("output {} is {} by hbmark, {} by the plain loop", i, a[i], b[i]);
  }
  return std::nullopt;
}

// The buffers are shared, so the output is spoiled before each: who does nothing cannot pass.
Status see_same_output(const std::string& name, PluginCase& plugin, const TimeCalls& hbmark_path, const TimeCalls& plain) {
  std::vector<double> outputs[2];
  for (const int who : {0, 1}) {
    plugin.spoil_output();
    if (const Result<double> run = (who == 0 ? hbmark_path : plain)(1); !run) return tl::make_unexpected(run.error());
    Result<std::vector<double>> read = plugin.read_output();
    if (!read) return tl::make_unexpected(read.error());
    outputs[who] = *std::move(read);
  }
  if (const auto differs = difference(outputs[0], outputs[1])) return tl::make_unexpected(problem_with(name, *differs));
  return {};
}

Result<Comparison> compare(const std::string& name, PluginCase& plugin, const TimeCalls& plain, const Settings& settings) {
  const TimeCalls hbmark_path = [&](std::int64_t calls) { return plugin.time_calls(calls); };
  if (const Status same = see_same_output(name, plugin, hbmark_path, plain); !same) return tl::make_unexpected(same.error());
  const Result<double> call = plain(1);
  if (!call) return tl::make_unexpected(call.error());
  const auto calls = static_cast<std::int64_t>(std::clamp(std::ceil(settings.sample_s / *call), 1.0, 1e6));
  const Result<Ratios> ratios = interleaved_ratio(hbmark_path, plain, calls, settings.pairs, 1);
  if (!ratios) return tl::make_unexpected(ratios.error());
  return Comparison{name, *ratios, *call};
}

template <class Problem>
Result<Comparison> compare_onednn(const std::string& name, const hbmark_backend& backend, const char* capability,
                                  const Problem& problem, const Settings& settings) {
  auto plugin = PluginCase::open(backend, capability, &problem, 0);
  if (!plugin) return tl::make_unexpected(plugin.error());
  const auto plain = PlainPrimitive::of(problem, (*plugin)->addresses());
  const auto implementation = (*plugin)->implementation();
  if (!implementation) return tl::make_unexpected(implementation.error());
  if (*implementation != plain->implementation()) {
    return tl::make_unexpected(
        problem_with(name, fmt::format("hbmark runs {}, the plain loop {}", *implementation, plain->implementation())));
  }
  const std::vector<std::uint64_t> sizes = plain->operand_bytes();
  for (std::size_t i = 0; i < (*plugin)->operands().size(); ++i) {
    if ((*plugin)->operands()[i].device_bytes != sizes[i]) {
      return tl::make_unexpected(problem_with(name, fmt::format("operand {} differs in size", i)));
    }
  }
  const TimeCalls loop = [&](std::int64_t calls) -> Result<double> { return plain->time_calls(calls); };
  return compare(name, **plugin, loop, settings);
}

Result<Comparison> compare_triad(const hbmark_backend& backend, bool streaming, const Settings& settings) {
  hbmark_stream_problem problem = {};
  problem.struct_size = sizeof(problem);
  problem.op = HBMARK_STREAM_TRIAD;
  problem.type = HBMARK_F64;
  problem.array_bytes = std::uint64_t{1} << 26;
  problem.scalar = 3;
  const std::string name =
      fmt::format("stream:triad:f64:{} ({})", problem.array_bytes, streaming ? "non-temporal" : "temporal");
  auto plugin = PluginCase::open(backend, HBMARK_STREAM_V1, &problem, streaming ? 1 : 0);
  if (!plugin) return tl::make_unexpected(plugin.error());
  const std::vector<void*> at = (*plugin)->addresses();
  const TimeCalls loop = [&](std::int64_t calls) -> Result<double> {
    return time_plain_triad(static_cast<const double*>(at[0]), static_cast<const double*>(at[1]),
                            static_cast<double*>(at[2]), problem.scalar, problem.array_bytes / sizeof(double), streaming,
                            calls);
  };
  return compare(name, **plugin, loop, settings);
}

hbmark_gemm_problem gemm(std::int64_t size) {
  hbmark_gemm_problem p = {};
  p.struct_size = sizeof(p);
  p.type = HBMARK_F32;
  p.m = p.n = p.k = size;
  p.batch = 1;
  return p;
}

struct Layer {  // of ResNet-50 (He et al. 2015, table 1)
  const char* shape;
  std::int64_t n, c, h, k, r, stride, pad;
};
constexpr Layer kLayers[] = {{"n4c64h56w56k64r3s3sh1sw1ph1pw1", 4, 64, 56, 64, 3, 1, 1},
                             {"n4c256h56w56k128r1s1sh2sw2ph0pw0", 4, 256, 56, 128, 1, 2, 0},
                             {"n4c512h7w7k512r3s3sh1sw1ph1pw1", 4, 512, 7, 512, 3, 1, 1}};

hbmark_conv_problem convolution(const Layer& layer, std::uint32_t pass) {
  hbmark_conv_problem p = {};
  p.struct_size = sizeof(p);
  p.type = HBMARK_F32;
  p.pass = pass;
  p.n = layer.n, p.c = layer.c, p.h = p.w = layer.h, p.k = layer.k, p.r = p.s = layer.r;
  p.sh = p.sw = layer.stride, p.ph = p.pw = layer.pad;
  p.g = p.dh = p.dw = 1;
  return p;
}

Result<std::vector<Comparison>> compare_all(const hbmark_backend& onednn, const hbmark_backend& cpu,
                                            const Settings& settings) {
  std::vector<Comparison> all;
  const auto keep = [&](Result<Comparison> one) -> Status {
    if (!one) return tl::make_unexpected(one.error());
    all.push_back(*std::move(one));
    const Comparison& c = all.back();
    fmt::print("{:<56}{:>10.3f}{:>7}{:>9.4f} ({:.4f} to {:.4f}){:>9.4f} ({:.4f} to {:.4f})\n", c.name, 1e3 * c.call_s,
               c.ratios.calls_per_sample, c.ratios.ratio.median, *c.ratios.ratio.low, *c.ratios.ratio.high,
               c.ratios.self.median, *c.ratios.self.low, *c.ratios.self.high);
    std::fflush(stdout);
    return {};
  };
  fmt::print("{:<56}{:>10}{:>7}{:>9} (95 % interval) {:>9} (95 % interval)\n", "case", "ms a call", "calls", "hbmark/plain",
             "plain/plain");
  Status status = keep(compare_onednn("gemm:f32:nn:m1024n1024k1024", onednn, HBMARK_GEMM_V1, gemm(1024), settings));
  if (!status) return tl::make_unexpected(status.error());
  constexpr const char* kPasses[] = {"fwd", "bwd_data", "bwd_weights"};
  for (const Layer& layer : kLayers) {
    for (const std::uint32_t pass : {HBMARK_CONV_FWD, HBMARK_CONV_BWD_DATA, HBMARK_CONV_BWD_WEIGHTS}) {
      const std::string name = fmt::format("conv:{}:f32:{}", kPasses[pass - 1], layer.shape);
      status = keep(compare_onednn(name, onednn, HBMARK_CONV_V1, convolution(layer, pass), settings));
      if (!status) return tl::make_unexpected(status.error());
    }
  }
  for (const bool streaming : {false, true}) {
    status = keep(compare_triad(cpu, streaming, settings));
    if (!status) return tl::make_unexpected(status.error());
  }
  return all;
}

const hbmark_backend* find(const LoadReport& report, const std::string& name) {
  for (const LoadedBackend& backend : report.backends) {
    if (backend.name == name) return backend.table;
  }
  std::string rejected;
  for (const RejectedFile& file : report.rejected) rejected += fmt::format("\n  {}: {}", file.file.string(), file.reason);
  fmt::print(stderr, "perf_fidelity: the backend {} is not loaded; build all first{}\n", name, rejected);
  return nullptr;
}

int run(const Settings& settings) {
  const LoadReport report = load_backends({HBMARK_PERF_BACKENDS}, std::filesystem::read_symlink("/proc/self/exe"));
  const hbmark_backend* onednn = find(report, "onednn");
  const hbmark_backend* cpu = find(report, "cpu");
  if (onednn == nullptr || cpu == nullptr) return 1;
  fmt::print("{} pairs a case in random order, {} threads, samples of {} s or one call\n", settings.pairs,
             omp_get_max_threads(), settings.sample_s);
  const Result<std::vector<Comparison>> all = compare_all(*onednn, *cpu, settings);
  if (!all) {
    fmt::print(stderr, "perf_fidelity: {}: {}; {}\n", all.error().what, all.error().why, all.error().next);
    return 1;
  }
  std::int64_t slower = 0;
  for (const Comparison& each : *all) slower += *each.ratios.ratio.low > kWorstRatio;
  std::int64_t unclear = 0;  // the machine is too unquiet for the question
  for (const Comparison& each : *all) unclear += each.ratios.self.half_width_relative() > kWorstRatio - 1;
  fmt::print("{} of {} cases have a lower bound above {}\n", slower, all->size(), kWorstRatio);
  if (unclear > 0) {
    fmt::print("in {} cases plain/plain itself is uncertain by more than {:.0f} %: end other load, or give more pairs\n",
               unclear, 100 * (kWorstRatio - 1));
  }
  return slower > 0 ? 1 : 0;
}

}  // namespace
}  // namespace hbmark::perf

int main(int argc, char** argv) {
  hbmark::perf::Settings settings;
  if (argc > 1) settings.pairs = std::atoll(argv[1]);
  if (argc > 2) settings.sample_s = std::atof(argv[2]);
  if (argc > 3 || settings.pairs < hbmark::perf::kFewestPairs || !(settings.sample_s > 0)) {
    std::fprintf(stderr, "use: perf_fidelity [pairs, at least %d] [seconds a sample]\n",
                 static_cast<int>(hbmark::perf::kFewestPairs));
    return 2;
  }
  return hbmark::perf::run(settings);
}
