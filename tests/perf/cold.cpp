// Is --cold-cache cold? One call of a GEMM after hbmark's flush, against one after a plain clflushopt of its operands by one
// thread, against a warm one, and against one after a sweep that reads four times the largest cache; in random turns.
//   perf_cold [pairs]
// Exit 1 when the 95 % interval of flush over clflushopt lies wholly outside 0.85 to 1.15, or that of flush over warm
// reaches 1 or less, or a plugin fails; 2 on wrong use. The sweep is no verdict:
// it takes so long that a call of microseconds is slower after it for other reasons too (docs/adr/0007-cold-cache.md).
#include <fmt/format.h>
#include <omp.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "backends/abi/gemm.h"
#include "backends/loader/loader.h"
#include "bench/problems/text.h"
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
  Ratios against_lines, against_warm, against_sweep;
};

Result<Comparison> compare(const hbmark_backend& onednn, const Shape& shape, const CacheFlusher& flusher,
                           const CacheFlusher& sweeper, std::int64_t pairs) {
  hbmark_gemm_problem problem = {};
  problem.struct_size = sizeof problem;
  problem.type = HBMARK_F32;
  problem.m = shape.m, problem.n = shape.n, problem.k = shape.k;
  problem.batch = 1;
  auto plugin = PluginCase::open(onednn, HBMARK_GEMM_V1, &problem, 0);
  if (!plugin) return tl::make_unexpected(plugin.error());
  std::vector<CacheFlusher::Buffer> buffers;
  for (std::size_t i = 0; i < (*plugin)->operands().size(); ++i) {
    buffers.emplace_back(static_cast<const std::byte*>((*plugin)->addresses()[i]), (*plugin)->operands()[i].device_bytes);
  }
  // Each begins with a call that is not timed, so that what went before is the same for all.
  const auto after = [&](auto prepare) -> TimeCalls {
    return [&plugin, prepare](std::int64_t calls) {
      return (*plugin)->time_calls(calls).and_then([&](double) {
        prepare();
        return (*plugin)->time_calls(calls);
      });
    };
  };
  const TimeCalls flushed = after([&] { flusher.flush(buffers); });
  const TimeCalls lines = after([&] {
    for (const CacheFlusher::Buffer& buffer : buffers) flush_lines(buffer.data(), buffer.size());
  });
  const TimeCalls swept = after([&] { sweeper.flush(buffers); });
  const TimeCalls warm = after([] {});
  Comparison all;
  for (const auto& [against, ratios] :
       {std::pair(&lines, &all.against_lines), std::pair(&warm, &all.against_warm), std::pair(&swept, &all.against_sweep)}) {
    auto compared = interleaved_ratio(flushed, *against, 1, pairs, 1);
    if (!compared) return tl::make_unexpected(compared.error());
    *ratios = *std::move(compared);
  }
  return all;
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
  const int threads = omp_get_max_threads();
  const std::uint64_t sweep_bytes = sweep_bytes_for(*node);
  const auto flusher = CacheFlusher::make(sweep_bytes, threads);
  if (!flusher) return complain(flusher.error());
  const auto sweeper = CacheFlusher::by_sweep(sweep_bytes, threads);
  if (!sweeper) return complain(sweeper.error());
  fmt::print("{} pairs in random order, one call each, {} threads; a sweep is {} by each\n", pairs, threads,
             text::bytes_text(sweep_bytes));
  fmt::print("{:<38}{:>24}{:>24}{:>24}{:>24}\n", "median ratio (95 % interval)", "flush/clflushopt", "clflushopt/clflushopt",
             "flush/warm", "flush/sweep");
  int off = 0;
  for (const Shape& shape : kShapes) {
    const auto compared = compare(*onednn, shape, *flusher, *sweeper, pairs);
    if (!compared) return complain(compared.error());
    const stats::MedianInterval& ratio = compared->against_lines.ratio;
    fmt::print("{:<38}{:>24}{:>24}{:>24}{:>24}\n", shape.name, text_of(ratio), text_of(compared->against_lines.self),
               text_of(compared->against_warm.ratio), text_of(compared->against_sweep.ratio));
    std::fflush(stdout);
    off += *ratio.low > 1 + kMostOff || *ratio.high < 1 - kMostOff || *compared->against_warm.ratio.low <= 1;
  }
  fmt::print("{} of {} are no colder than warm, or further than {:.0f} % from clflushopt\n", off, std::size(kShapes),
             100 * kMostOff);
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
