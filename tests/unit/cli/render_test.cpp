#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/cli/render_node.h"
#include "bench/cli/render_results.h"
#include "bench/cli/stored_runs.h"
#include "tests/unit/cli/golden.h"
#include "tests/unit/cli/lines.h"
#include "tests/unit/cli/store_fixture.h"

namespace hbmark::cli {
namespace {

using testing::HasSubstr;
using testing::Not;
using tests::expect_golden;
using tests::widest_line;

class Show : public tests::StoreFixture {
 protected:
  RunView view() {
    auto loaded = load_view(*store_, "last");
    EXPECT_TRUE(loaded);
    return loaded.value_or(RunView{});
  }
};

TEST_F(Show, At100ColumnsInAscii) { expect_golden("show_100_ascii.txt", render_run(view(), Style{.width = 100}, false)); }

TEST_F(Show, At80ColumnsInUtf8) {
  expect_golden("show_80_utf8.txt", render_run(view(), Style{.utf8 = true, .width = 80}, false));
}

TEST_F(Show, Verbose) { expect_golden("show_verbose.txt", render_run(view(), Style{.utf8 = true, .width = 100}, true)); }

TEST_F(Show, AsJson) { expect_golden("show.jsonl", results_as(OutputFormat::kJson, view()).value()); }

TEST_F(Show, AsCsv) { expect_golden("show.csv", results_as(OutputFormat::kCsv, view()).value()); }

TEST_F(Show, FitsTheWidthAndKeepsNumbersWhole) {
  for (const int width : {80, 90, 100, 120, 200}) {
    const std::string text = render_run(view(), Style{.width = width}, false);
    EXPECT_LE(widest_line(text), width) << width << "\n" << text;
    EXPECT_THAT(text, HasSubstr("413 GFLOP/s")) << width;
  }
}

TEST_F(Show, NothingOfAProblemIsCutHoweverNarrow) {
  for (const int width : {40, 60, 80}) {
    std::string text = render_run(view(), Style{.width = width}, false);
    EXPECT_THAT(text, Not(HasSubstr("..."))) << width;
    // Every number of the longest problem, wherever its lines were broken.
    const std::string letters = "n32c2048h112w112k2048r11s11sh4sw4ph2pw2/g=32";
    std::size_t at = 0;
    for (std::size_t i = text.find("n32c2048"); i < text.size() && at < letters.size(); ++i) at += text[i] == letters[at];
    EXPECT_EQ(at, letters.size()) << width << text;
  }
}

TEST_F(Show, NeverPassesControlCharactersOn) {
  EXPECT_THAT(render_run(view(), Style{.width = 100}, true), Not(HasSubstr("\x1b")));
}

TEST_F(Show, PaintsOnlyWhenAsked) {
  EXPECT_THAT(render_run(view(), Style{.color = true, .width = 100}, false), HasSubstr("\x1b[31mcrashed\x1b[0m"));
}

TEST_F(Show, ARunWithoutResultsSaysSo) {
  RunView empty = view();
  empty.results.clear();
  empty.run.state = "interrupted";
  const std::string text = render_run(empty, Style{}, false);
  EXPECT_THAT(text, HasSubstr("no result was stored"));
  EXPECT_THAT(text, HasSubstr("interrupted"));
}

TEST_F(Show, TellsOneReasonOfManyCasesOnce) {
  RunView many = view();
  many.results.resize(3);
  for (ResultRecord& result : many.results) {
    result.time.reset();
    result.outcome = Outcome::kNotRun;
    result.reason = "the run was interrupted";
  }
  many.results[2].reason = "another reason";
  const std::string text = render_run(many, Style{}, false);
  EXPECT_EQ(text.find("the run was interrupted"), text.rfind("the run was interrupted"));
  EXPECT_THAT(text, HasSubstr("another reason"));
}

TEST_F(Show, AnUnknownRunIsAUsageError) {
  const auto missing = load_view(*store_, "no-such-run");
  ASSERT_FALSE(missing);
  EXPECT_FALSE(missing.error().next.empty());
}

TEST(Rate, IsBandwidthForKernelsThatMoveData) {
  ResultRecord result;
  result.kernel = "stream";
  result.flop = 1;
  result.bytes = 100;
  result.time = TimeSummary{.median = 2, .ci_low = {}, .ci_high = {}, .min = 2, .samples = 1, .interval_method = ""};
  EXPECT_DOUBLE_EQ(rate_of(result)->per_s, 50);
  EXPECT_EQ(rate_of(result)->unit, "B/s");
  result.kernel = "gemm";
  EXPECT_EQ(rate_of(result)->unit, "FLOP/s");
  result.flop.reset();
  EXPECT_EQ(rate_of(result)->unit, "B/s");
  result.time->median = 0;
  EXPECT_FALSE(rate_of(result));
}

topology::Node knl_node() {
  topology::Node node;
  node.hostname = "knl-07";
  node.cpu_model = "Intel(R) Xeon Phi(TM) CPU 7210 @ 1.30GHz";
  node.packages = 1;
  for (int i = 0; i < 64; ++i) {
    node.cores.push_back({{i, i + 64, i + 128, i + 192}, 0, 0});
    for (int t = 0; t < 4; ++t) node.pus.push_back(i + 64 * t);
  }
  node.allowed_pus = {0, 1, 2, 3};
  node.cpu_quota = 2.5;
  node.memory_limit_bytes = 100ULL << 30U;
  node.cgroup_cpus = "0-3";
  node.cgroup_memory_nodes = "0";
  node.memory_available_bytes = 90ULL << 30U;
  node.caches = {{1, "data", 32768, 64, 4}, {2, "unified", 1 << 20, 32, 8}};
  node.numa = {{0, "ddr", 96ULL << 30U, node.pus, 1, true}, {1, "mcdram", 16ULL << 30U, {}, 0, false}};
  node.memory_mode = {"flat", "hwloc: MemoryMode of the KNL SMBIOS"};
  node.gpus = {{"NVIDIA H100", "0000:3b:00.0", 0}};
  node.memory_side_caches = {{8ULL << 30U, 0}};
  node.warnings = {
      {"knl-modes-unknown",
       "the cluster mode cannot be read here: run hwloc-dump-hwdata as root once, or read /proc/cpuinfo on the host"}};
  return node;
}

topology::DeviceTable table_of_two() {
  topology::DeviceTable table;
  topology::DeviceRow cpu;
  cpu.names = {"Xeon Phi 7210"};
  cpu.cores = 64;
  cpu.figures = {"Xeon Phi 7210", {{"f64", 2.662e12}, {"f32", 5.325e12}}, {}, {}, 350e9, 78e9, "a data sheet"};
  topology::DeviceRow gpu;
  gpu.kind = topology::DeviceRow::Kind::kGpu;
  gpu.names = {"H100"};
  gpu.figures = {"H100", {{"f16", 989.4e12}, {"s8", 1978.9e12}}, 3350e9, {}, {}, {}, "another"};
  table.rows = {cpu, gpu};
  return table;
}

TEST(RenderNode, Knl) {
  const auto table = table_of_two();
  expect_golden("node_knl.txt", render_node(knl_node(), &table, Style{.width = 80}));
}

TEST(RenderNode, FiguresNobodyKnowsAreNotGuessed) {
  const auto table = table_of_two();
  topology::Node node = knl_node();
  node.cores.resize(18);
  EXPECT_THAT(render_node(node, &table, Style{}), HasSubstr("known for a whole Xeon Phi 7210, of which this is a part"));
  node.cpu_model = "Intel(R) Xeon Phi(TM) CPU 7211";
  EXPECT_THAT(render_node(node, &table, Style{}), HasSubstr("Nominal            no nominal figure is known"));
  EXPECT_THAT(render_node(node, nullptr, Style{}), Not(HasSubstr("Nominal")));
}

TEST(RenderNode, AnEmptyNodeIsStillText) {
  const std::string text = render_node(topology::Node{}, nullptr, Style{});
  EXPECT_THAT(text, HasSubstr("model unknown"));
  EXPECT_THAT(text, HasSubstr("unknown"));
}

TEST(RenderDoctor, BackendsAndFindings) {
  const std::vector<BackendLine> backends = {
      {"onednn", "/opt/hbmark/lib/hbmark/backends/hbmark_onednn.so", true, "version 0.1.0; device cpu (Xeon)", true,
       "a Xeon Phi without AVX-512 kernels: leave DNNL_MAX_CPU_ISA unset"},
      {"cuda", "/opt/hbmark/lib/hbmark/backends/hbmark_cuda.so", true, "version 0.1.0; no driver: install one", false, ""},
      {"notes.txt", "/opt/hbmark/lib/hbmark/backends/notes.txt", false, "it is not a shared object: remove it", false, ""}};
  const std::vector<topology::Finding> findings = {
      {"governor", topology::Severity::kWarning, "powersave on 8 of 8 CPUs (/sys)",
       "set it: cpupower frequency-set -g performance"},
      {"other-load", topology::Severity::kProblem, "others use 1.90 of 2 CPUs", "see who it is with top"},
      {"swap", topology::Severity::kGood, "none", ""},
      {"container", topology::Severity::kNote, "in a container", ""}};
  expect_golden("doctor.txt", render_backends(backends, {"/opt/hbmark/lib/hbmark/backends"}, Style{.width = 80}) +
                                  render_findings(findings, Style{.width = 80}));
}

}  // namespace
}  // namespace hbmark::cli
