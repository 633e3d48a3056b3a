// Is --cold-cache cold? One call of a GEMM after hbmark's sweep of the caches, against one after clflushopt of its own
// operands (which is cold for certain, for them), and against a warm one; in random turns.
//   perf_cold [pairs]
// Exit 1 when the 95 % interval of sweep over clflushopt lies wholly outside 0.85 to 1.15, or a plugin fails; 2 on wrong
// use. The sweep also throws out what clflushopt leaves: translations, and the library's code and own buffers.
#include <fmt/format.h>
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "backends/abi/gemm.h"
#include "backends/loader/loader.h"
#include "bench/run/cache_flusher.h"
#include "bench/run/plugin_calls.h"
#include "tests/perf/interleaved_ratio.h"
#include "tests/perf/line_flush.h"
#include "tests/perf/plugin_case.h"
#include "topology/node.h"

namespace hbmark::perf {
namespace {

constexpr double kMostOff = 0.15;

struct Shape {
  const char* name;
  std::int64_t m, n, k;  // A has m k elements: the operand that the size is of
};
// Few columns, so that bringing A from memory is what takes the time.
constexpr Shape kShapes[] = {{"gemm:f32:nn:m256n8k256, A of 256 KiB", 256, 8, 256},
                             {"gemm:f32:nn:m1024n8k2048, A of 8 MiB", 1024, 8, 2048}};

struct Comparison {
  Ratios against_lines;
  Ratios against_warm;
};

Result<Comparison> compare(const hbmark_backend& onednn, const Shape& shape, const CacheFlusher& flusher,
                           std::int64_t pairs) {
  hbmark_gemm_problem problem = {};
  problem.struct_size = sizeof problem;
  problem.type = HBMARK_F32;
  problem.m = shape.m, problem.n = shape.n, problem.k = shape.k;
  problem.batch = 1;
  auto plugin = PluginCase::open(onednn, HBMARK_GEMM_V1, &problem, 0);
  if (!plugin) return tl::make_unexpected(plugin.error());
  const TimeCalls swept = [&](std::int64_t calls) {
    flusher.flush();
    return (*plugin)->time_calls(calls);
  };
  const TimeCalls line_by_line = [&](std::int64_t calls) {
    const auto addresses = (*plugin)->addresses();
    for (std::size_t i = 0; i < (*plugin)->operands().size(); ++i)
      flush_lines(addresses[i], (*plugin)->operands()[i].device_bytes);
    return (*plugin)->time_calls(calls);
  };
  const TimeCalls warm = [&](std::int64_t calls) {
    return (*plugin)->time_calls(calls).and_then([&](double) { return (*plugin)->time_calls(calls); });
  };
  const auto against_lines = interleaved_ratio(swept, line_by_line, 1, pairs, 1);
  if (!against_lines) return tl::make_unexpected(against_lines.error());
  const auto against_warm = interleaved_ratio(swept, warm, 1, pairs, 2);
  if (!against_warm) return tl::make_unexpected(against_warm.error());
  return Comparison{*against_lines, *against_warm};
}

std::string text_of(const stats::MedianInterval& interval) {
  return fmt::format("{:.3f} ({:.3f} to {:.3f})", interval.median, interval.low.value_or(0), interval.high.value_or(0));
}

int complain(const Error& error) {
  fmt::print(stderr, "perf_cold: {}: {}; {}\n", error.what, error.why, error.next);
  return 1;
}

int run(std::int64_t pairs) {
  if (!can_flush_lines()) {
    fmt::print("perf_cold: this architecture has no reference (clflushopt) here: nothing is shown\n");
    return 0;
  }
  const LoadReport report = load_backends({HBMARK_PERF_BACKENDS}, std::filesystem::read_symlink("/proc/self/exe"));
  const hbmark_backend* onednn = nullptr;
  for (const LoadedBackend& backend : report.backends) {
    if (backend.name == "onednn") onednn = backend.table;
  }
  if (onednn == nullptr)
    return complain({ErrorKind::kEnvironment, "cannot compare", "the backend onednn is not loaded", "build all first"});
  const auto node = topology::describe_node({.xml_file = "", .sysfs_root = "", .with_io = false});
  if (!node) return complain(node.error());
  const auto flusher = CacheFlusher::make(flush_bytes_for(*node), omp_get_max_threads());
  if (!flusher) return complain(flusher.error());
  fmt::print("{} pairs in random order, one call each, {} threads, a sweep of {} by each\n", pairs, omp_get_max_threads(),
             bytes_text(flush_bytes_for(*node)));
  fmt::print("{:<40}{:>26}{:>26}{:>26}\n", "median ratio (95 % interval)", "sweep/clflushopt", "clflushopt/clflushopt",
             "sweep/warm");
  int off = 0;
  for (const Shape& shape : kShapes) {
    const auto compared = compare(*onednn, shape, *flusher, pairs);
    if (!compared) return complain(compared.error());
    const stats::MedianInterval& ratio = compared->against_lines.ratio;
    fmt::print("{:<40}{:>26}{:>26}{:>26}\n", shape.name, text_of(ratio), text_of(compared->against_lines.self),
               text_of(compared->against_warm.ratio));
    std::fflush(stdout);
    off += *ratio.low > 1 + kMostOff || *ratio.high < 1 - kMostOff;
  }
  fmt::print("{} of {} are further than {:.0f} % from clflushopt\n", off, std::size(kShapes), 100 * kMostOff);
  return off > 0 ? 1 : 0;
}

}  // namespace
}  // namespace hbmark::perf

int main(int argc, char** argv) {
  const std::int64_t pairs = argc > 1 ? std::atoll(argv[1]) : 100;
  if (argc > 2 || pairs < hbmark::perf::kFewestPairs) {
    std::fprintf(stderr, "use: perf_cold [pairs, at least %d]\n", static_cast<int>(hbmark::perf::kFewestPairs));
    return 2;
  }
  return hbmark::perf::run(pairs);
}
