// The verdict, the drawings, exchange with Google Benchmark, man page and completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/cli/plots.h"
#include "bench/cli/render_verdict.h"
#include "bench/cli/run_records.h"
#include "bench/cli/stored_node.h"
#include "bench/cli/stored_runs.h"
#include "bench/cli/sweeps.h"
#include "bench/cli/verdict.h"
#include "bench/run/run_lock.h"
#include "tests/unit/cli/golden.h"
#include "tests/unit/cli/lines.h"
#include "tests/unit/cli/shell.h"
#include "tests/unit/cli/store_fixture.h"

namespace hbmark::cli {
namespace {

using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

using tests::Ran;
using tests::shell;

Ran hbmark_says(const std::string& arguments) { return tests::run_hbmark(arguments + " 2>&1"); }

bool has(const char* program) { return shell(std::string("command -v ") + program + " >/dev/null").code == 0; }

class Answers : public tests::StoreFixture {
 protected:
  RunView view() {
    auto loaded = load_view(*store_, "last");
    EXPECT_TRUE(loaded);
    return loaded.value_or(RunView{});
  }
  static std::string text_of(const RunView& view, const Nominal& nominal, int width) {
    const topology::Node node = stored_node(*view.node);
    const Findings findings{{{"governor", topology::Severity::kWarning, "powersave on 8 of 8 CPUs", "set performance"},
                             {"swap", topology::Severity::kGood, "none", ""}},
                            "As found now."};
    return render_verdict(view, judge(view, node, nominal), findings, {}, Style{.width = width});
  }
  std::string db() const { return " --db '" + db_.string() + "' "; }
};

TEST_F(Answers, TheVerdictAt100And80Columns) {
  const Nominal none{std::nullopt, "devices.csv has no row for this CPU"};
  for (const int width : {80, 100}) EXPECT_LE(tests::widest_line(text_of(view(), none, width)), width);
  tests::expect_golden("summary_100.txt", text_of(view(), none, 100));
}

TEST_F(Answers, SharesOfNominalFiguresAreGivenForWholeNodesOnly) {
  RunView run = view();
  topology::NominalFigures figures;
  figures.device = "Test CPU";
  figures.peak_flop_per_s = {{"f32", 1e12}};
  const Verdict verdict = judge(run, stored_node(*run.node), {figures, ""});
  const auto& peak = verdict.classes.front();
  ASSERT_EQ(peak.name, "peak fma f32");
  ASSERT_TRUE(peak.of_nominal);
  EXPECT_NEAR(*peak.of_nominal, 0.5, 1e-9);
  for (ResultRecord& result : run.results) result.threads = 1;
  EXPECT_FALSE(judge(run, stored_node(*run.node), {figures, ""}).classes.front().of_nominal);
}

TEST_F(Answers, ReasonsComeFromWhatWasRecorded) {
  const RunView run = view();
  topology::Node node;
  node.cores.resize(4);
  ResultRecord result = run.results[2];
  EXPECT_THAT(likely_reasons(result, run, node), IsEmpty());
  result.time->median = 1e-6;
  EXPECT_THAT(likely_reasons(result, run, node), Contains(HasSubstr("small problem")));
  result = run.results[2];
  result.flags = {"noisy"};
  EXPECT_THAT(likely_reasons(result, run, node), Contains(HasSubstr("noisy")));
  result.ceiling_flop_per_s = 500e9;
  result.ceiling_bytes_per_s = 1e9;
  EXPECT_THAT(likely_reasons(result, run, node), Contains(HasSubstr("bandwidth-bound")));
  result.implementation = "gemm:ref";
  EXPECT_THAT(likely_reasons(result, run, node), Contains(HasSubstr("reference")));
  result.implementation = "brgemm:avx2";
  EXPECT_THAT(likely_reasons(result, run, node), Contains(HasSubstr("AVX-512")));
  node.cores.resize(2);
  EXPECT_THAT(likely_reasons(result, run, node), Contains(HasSubstr("SMT")));
  const auto before = likely_reasons(result, run, node);
  result.reorder_s = result.time->median;  // outside the time: explains nothing
  EXPECT_EQ(likely_reasons(result, run, node), before);
}

TEST_F(Answers, TheSummaryOfAnotherNodesRunSaysWhereItsFindingsComeFrom) {
  const Ran text = hbmark_says("show --summary" + db());
  EXPECT_EQ(text.code, 0);
  EXPECT_THAT(text.text, HasSubstr("another node"));
  std::istringstream lines(hbmark_says("show --summary --format json" + db()).text);
  int classes = 0;
  for (std::string line; std::getline(lines, line);) {
    const auto json = nlohmann::json::parse(line);
    EXPECT_EQ(json["schema"], "hbmark.summary/1");
    if (json["what"] == "class") ++classes;
  }
  EXPECT_EQ(classes, 6);
  EXPECT_THAT(hbmark_says("show --summary --format csv" + db()).text, HasSubstr("\"class\",\"gemm f32\""));
  EXPECT_EQ(hbmark_says("show --summary --plot" + db()).code, 2);
  EXPECT_EQ(hbmark_says("show --plot --format json" + db()).code, 2);
}

TEST(StoredNode, AModeThatChangedSinceIsNamed) {
  const auto node = [](const char* memory, const char* cluster) {
    return stored_node({"n", "node",
                        nlohmann::json{{"memory_mode", {{"value", memory}, {"source", "told"}}},
                                       {"cluster_mode", {{"value", cluster}, {"source", "told"}}}}
                            .dump()});
  };
  EXPECT_EQ(node("flat", "snc4").memory_mode.source, "told");
  EXPECT_EQ(mode_change(node("flat", "snc4"), node("flat", "snc4")), "");
  EXPECT_EQ(mode_change(node("flat", "snc4"), node("cache", "snc4")),
            "the node's memory mode was flat then, and is cache now");
  EXPECT_THAT(mode_change(node("flat", "snc4"), node("flat", "quadrant")), HasSubstr("cluster mode was snc4"));
  EXPECT_EQ(mode_change(stored_node({"n", "node", "{}"}), node("cache", "snc4")), "") << "nobody had looked";
}

RunView memory_sweep() {
  RunView view;
  view.node =
      NodeRecord{"n", "node",
                 R"({"cpu_model":"x","cores":2,"pus":2,"caches":[{"level":1,"type":"data","size_bytes":32768,"count":2},)"
                 R"({"level":2,"type":"unified","size_bytes":524288,"count":2}]})"};
  for (std::int64_t bytes = 4096; bytes <= (std::int64_t{1} << 26); bytes *= 2) {
    ResultRecord result;
    result.problem = "stream:copy:f64:" + std::to_string(bytes / 2);
    result.kernel = "stream";
    result.threads = 1;
    result.outcome = Outcome::kOk;
    result.bytes = static_cast<double>(bytes);
    const double rate = bytes <= 32768 ? 200e9 : bytes <= 524288 ? 80e9 : 10e9;
    result.time.emplace();
    result.time->median = static_cast<double>(bytes) / rate;
    result.time->samples = 20;
    view.results.push_back(result);
  }
  return view;
}

TEST(Plots, AMemorySweepNamesTheCaches) {
  const RunView view = memory_sweep();
  const topology::Node node = stored_node(*view.node);
  const auto levels = memory_levels(view, node, Style{});
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_THAT(levels[0].text, HasSubstr("200 GB/s"));
  EXPECT_THAT(levels[0].text, HasSubstr("L1 32 KiB"));
  EXPECT_THAT(levels[1].text, HasSubstr("L2 512 KiB"));
  EXPECT_THAT(levels[2].text, HasSubstr("memory"));
}

TEST(Plots, AChaseIsReadInTimeALoad) {
  RunView view = memory_sweep();
  for (ResultRecord& result : view.results) {
    const double bytes = *result.bytes;
    result.problem = "chase:" + std::to_string(static_cast<std::int64_t>(bytes));
    result.kernel = "chase";
    result.threads = 2;
    result.bytes.reset();
    result.loads = 1e6;
    result.time->median = 1e6 * (bytes <= 32768 ? 1.25e-9 : bytes <= 524288 ? 4e-9 : 80e-9);
  }
  const topology::Node node = stored_node(*view.node);
  const auto levels = memory_levels(view, node, Style{});
  ASSERT_EQ(levels.size(), 3u);
  EXPECT_THAT(levels[0].text, HasSubstr("1.25 ns/load"));
  EXPECT_THAT(levels[0].text, HasSubstr("the CPU has L1 32 KiB")) << "one thread chases, however many the run has";
  EXPECT_THAT(levels[1].text, HasSubstr("the CPU has L2 512 KiB"));
  EXPECT_THAT(levels[2].text, HasSubstr("80.0 ns/load"));
  EXPECT_THAT(levels[2].text, HasSubstr("memory"));
  const std::string plot = render_plots(view, node, Style{});
  EXPECT_THAT(plot, HasSubstr("ns/load"));
  EXPECT_EQ(class_name(view.results.front(), node), "chase, in caches");
  EXPECT_THAT(result_line(view.results.back(), Style{}), HasSubstr("80.0 ns/load"));
}

TEST(Plots, FitTheWidthAndUseLettersAloneWithoutUtf8) {
  const RunView view = memory_sweep();
  const topology::Node node = stored_node(*view.node);
  for (const int width : {60, 80, 100, 200}) {
    const std::string ascii = render_plots(view, node, Style{.width = width});
    EXPECT_LE(tests::widest_line(ascii), width);
    EXPECT_TRUE(std::all_of(ascii.begin(), ascii.end(), [](unsigned char c) { return c < 0x80; }));
    const std::string drawn = render_plots(view, node, Style{.utf8 = true, .width = width});
    EXPECT_LE(tests::widest_line(drawn), width);
    EXPECT_THAT(drawn, Not(testing::Eq(ascii)));
  }
}

TEST_F(Answers, TheRooflineHasALetterAClass) {
  const RunView run = view();
  const std::string text = render_plots(run, stored_node(*run.node), Style{.width = 100});
  EXPECT_THAT(text, HasSubstr("Roofline, f32, 4 threads, cpu"));
  EXPECT_THAT(text, HasSubstr("a gemm f32: 413 GFLOP/s, 1 case"));
  EXPECT_THAT(text, HasSubstr("peak measured: 500 GFLOP/s"));
}

TEST_F(Answers, AnIntervalWiderThanTheMedianSaysSo) {
  TimeSummary time;
  time.median = 1;
  time.ci_low = 0.5;
  time.ci_high = 20;
  EXPECT_EQ(interval_text(time, Style{}, false), ">100 %");
  EXPECT_EQ(interval_text(time, Style{}, true), "[500.0 ms, 20.00 s]");
}

TEST_F(Answers, AKilledRunOfThisNodeIsInterrupted) {
  auto run = store_->find_run("last").value();
  run.uuid = new_uuid();
  run.node_uuid = this_node_uuid();
  run.state = "running";
  run.finished_at.reset();
  ASSERT_TRUE(store_->save_node({run.node_uuid, "here", "{}"}));
  ASSERT_TRUE(store_->save_run(run));
  EXPECT_EQ(state_of(*store_, run), "interrupted");
  {
    const auto lock = RunLock::take(run.uuid);
    ASSERT_TRUE(lock);
    EXPECT_TRUE(RunLock::is_held(run.uuid));
    EXPECT_EQ(state_of(*store_, run), "running");
  }
  EXPECT_FALSE(RunLock::is_held(run.uuid));
  run.node_uuid = "another";
  EXPECT_EQ(state_of(*store_, run), "running");
}

TEST(Messages, OfOptionsGivenTwiceOrWithoutAValue) {
  EXPECT_THAT(hbmark_says("run --precision 2% --precision 3%").text, HasSubstr("--precision: it was given 2 times"));
  EXPECT_THAT(hbmark_says("run --budget").text, HasSubstr("--budget: its value is missing"));
  for (const char* unset : {"run --resume ''", "list --db ''", "node --topology ''", "run --problem ''"}) {
    const Ran ran = hbmark_says(unset);
    EXPECT_EQ(ran.code, 2) << unset;
    EXPECT_THAT(ran.text, HasSubstr("its value is missing")) << unset;
  }
  EXPECT_THAT(hbmark_says("list --format gbench").text, HasSubstr("'list' has no such format"));
}

TEST(Messages, OfAStoreInAFolderThatHasGone) {
  const Ran ran = shell("d=$(mktemp -d) && cd \"$d\" && rmdir \"$d\" && '" HBMARK_PROGRAM "' list --db rel.db 2>&1");
  EXPECT_EQ(ran.code, 3);
  EXPECT_THAT(ran.text, HasSubstr("the current folder has gone"));
  EXPECT_THAT(ran.text, Not(HasSubstr("''")));
}

TEST_F(Answers, ComparePyTakesTwoExports) {
  const char* script = "/usr/share/benchmark/compare.py";
  if (!std::filesystem::exists(script)) GTEST_SKIP() << "no " << script << ": install libbenchmark-tools";
  if (shell("/usr/bin/python3 -c 'import scipy' 2>/dev/null").code != 0) GTEST_SKIP() << "install python3-scipy";
  const std::string file = (folder_ / "run.json").string();
  ASSERT_EQ(hbmark_says("export --format gbench --output '" + file + "'" + db()).code, 0);
  const Ran ran = shell(std::string("/usr/bin/python3 ") + script + " benchmarks '" + file + "' '" + file + "' 2>&1");
  EXPECT_EQ(ran.code, 0) << ran.text;
  EXPECT_THAT(ran.text, HasSubstr("gemm:f32:nn:m1024n1024k1024"));
  EXPECT_THAT(ran.text, HasSubstr("_pvalue"));
}

TEST_F(Answers, ImportsOnceAndFlagsIt) {
  const std::string file = (folder_ / "mine.json").string();
  std::ofstream(file)
      << R"({"context":{"host_name":"h"},"benchmarks":[{"name":"BM_x","run_type":"iteration","iterations":3,)"
         R"("real_time":5,"cpu_time":5,"time_unit":"ms"}]})";
  EXPECT_THAT(hbmark_says("import '" + file + "'" + db()).text, HasSubstr("1 case imported"));
  const Ran again = hbmark_says("import '" + file + "'" + db());
  EXPECT_EQ(again.code, 0);
  EXPECT_THAT(again.text, HasSubstr("nothing was added"));
  const auto json = nlohmann::json::parse(hbmark_says("show mine.json --format json" + db()).text);
  EXPECT_THAT(json["flags"], Contains("imported"));
  EXPECT_TRUE(json["verified"].is_null());
  EXPECT_TRUE(json["time_s"]["ci_low"].is_null());
  EXPECT_DOUBLE_EQ(json["time_s"]["median"].get<double>(), 5e-3);
  const Ran bad = hbmark_says("import '" + db_.string() + "'" + db());
  EXPECT_EQ(bad.code, 2);
  EXPECT_THAT(bad.text, HasSubstr("it is not JSON"));
  EXPECT_EQ(hbmark_says("import /no/such/file" + db()).code, 3);
}

TEST(Generate, TheManPageIsCleanAndNamesEveryOption) {
  const Ran page = hbmark_says("generate man");
  ASSERT_EQ(page.code, 0);
  for (const char* text : {"hbmark run", "\\-\\-precision", "hbmark import", "hbmark doctor", "\\-\\-summary"}) {
    EXPECT_THAT(page.text, HasSubstr(text));
  }
  EXPECT_THAT(page.text, Not(HasSubstr("hbmark worker")));
  if (has("mandoc")) {
    const Ran lint = shell("'" HBMARK_PROGRAM "' generate man | mandoc -T lint -W error 2>&1");
    EXPECT_EQ(lint.code, 0) << lint.text;
  } else if (has("groff")) {
    EXPECT_THAT(shell("'" HBMARK_PROGRAM "' generate man | groff -ww -man -Tascii 2>&1 >/dev/null").text, IsEmpty());
  } else {
    GTEST_SKIP() << "neither mandoc nor groff is here";
  }
}

// What bash offers for a line whose last word is being typed.
std::string bash_offers(const std::string& line) {
  return shell("bash -c 'source <(\"" HBMARK_PROGRAM "\" generate completions bash); COMP_WORDS=(" + line +
               "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _hbmark; echo \"${COMPREPLY[*]}\"' 2>&1")
      .text;
}

TEST(Generate, BashCompletes) {
  if (!has("bash")) GTEST_SKIP() << "no bash here";
  EXPECT_EQ(bash_offers("hbmark sho"), "show\n");
  EXPECT_EQ(bash_offers("hbmark run --prec"), "--precision\n");
  EXPECT_EQ(bash_offers("hbmark show --format j"), "json\n");
  EXPECT_EQ(bash_offers("hbmark export --format g"), "gbench\n");
  EXPECT_EQ(bash_offers("hbmark show --format g"), "\n");
  EXPECT_EQ(bash_offers("hbmark list sui"), "suites\n");
  EXPECT_EQ(bash_offers("hbmark generate completions f"), "fish\n");
  EXPECT_EQ(bash_offers("hbmark work"), "\n");
}

TEST(Generate, OtherShellsParseTheirs) {
  bool any = false;
  for (const char* program : {"zsh", "fish"}) {
    if (!has(program)) continue;
    any = true;
    const Ran ran = shell(std::string("f=$(mktemp) && '" HBMARK_PROGRAM "' generate completions ") + program +
                          " >\"$f\" && " + program + " -n \"$f\" 2>&1; c=$?; rm -f \"$f\"; exit $c");
    EXPECT_EQ(ran.code, 0) << program << ran.text;
  }
  EXPECT_EQ(hbmark_says("generate completions tcsh").code, 2);
  EXPECT_EQ(hbmark_says("generate").code, 2);
  if (!any) GTEST_SKIP() << "neither zsh nor fish is here";
}

}  // namespace
}  // namespace hbmark::cli
