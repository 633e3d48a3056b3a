#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "bench/cli/compare_sides.h"
#include "bench/cli/comparison_advice.h"
#include "bench/cli/comparison_render.h"
#include "bench/cli/values.h"
#include "tests/unit/cli/compare_fixture.h"
#include "tests/unit/cli/golden.h"
#include "tests/unit/cli/lines.h"
#include "tests/unit/cli/shell.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using tests::Ran;

class Compare : public tests::CompareFixture {
 protected:
  Side side(const char* run, const Filters& filters = {}) {
    const auto record = store_->find_run(run);
    EXPECT_TRUE(record);
    auto side = record ? side_of_run(*store_, *record, filters) : Side{};
    EXPECT_TRUE(side);
    return side.value_or(Side{});
  }
  std::vector<Comparison> both(double margin = 0.02) {
    a_ = side(tests::kFlatRun);
    b_ = {side(tests::kCacheRun)};
    return compare_sides(a_, b_, {"", margin});
  }
  Ran says(const std::string& arguments) { return tests::run_hbmark("compare" + db() + arguments + " 2>&1"); }

  Side a_;
  std::vector<Side> b_;
};

std::vector<std::string> verdicts(const Comparison& comparison) {
  std::vector<std::string> names;
  for (const PairRow& row : comparison.rows) names.emplace_back(stats::verdict_name(row.verdict));
  return names;
}

TEST_F(Compare, GivesEveryVerdict) {
  const auto all = both();
  ASSERT_EQ(all.size(), 1u);
  EXPECT_THAT(verdicts(all[0]), ElementsAre("slower", "faster", "same", "no_difference_shown", "not_established",
                                            "not_comparable", "not_comparable"));
  EXPECT_THAT(all[0].rows[5].reason, HasSubstr("B: crashed: the worker was ended by signal SIGSEGV"));
  EXPECT_EQ(all[0].rows[6].reason, "A: no time was stored; B: nothing stored for it");
}

TEST_F(Compare, AsText) {
  const std::string text = render_comparisons(both(), 0.02, Style{.width = 100}, false);
  tests::expect_golden("compare_100.txt", text);
}

TEST_F(Compare, FitsTheWidthButForLinesOfAShell) {
  for (const int width : {80, 100, 140}) {
    std::istringstream in(render_comparisons(both(), 0.02, Style{.width = width}, false));
    for (std::string line; std::getline(in, line);) {
      if (line.find("./program") != std::string::npos) continue;
      EXPECT_LE(display_width(line), width) << line;
    }
  }
}

TEST_F(Compare, AsJson) { tests::expect_golden("compare.jsonl", comparisons_as_json(both(), 0.02)); }

TEST_F(Compare, AsCsv) { tests::expect_golden("compare.csv", comparisons_as_csv(both(), 0.02)); }

TEST_F(Compare, TheMarginDecidesWhatIsTheSame) {
  EXPECT_EQ(verdicts(both(0.001)[0])[2], "no_difference_shown");
  EXPECT_EQ(verdicts(both(0.5)[0])[0], "same");
}

TEST_F(Compare, SaysWhatIsUnfair) {
  const auto all = both();
  EXPECT_THAT(all[0].rows[0].notes, testing::Contains("library: A oneDNN 2.6.3, B oneDNN 3.1"));
  EXPECT_THAT(all[0].rows[3].notes, testing::Contains("B is noisy"));
  std::vector<std::string> ids;
  for (const Remark& remark : all[0].remarks) ids.push_back(remark.id);
  EXPECT_THAT(ids, ElementsAre("few_launches", "memory_mode", "governor", "one_boot_a_mode"));
}

TEST_F(Compare, IdenticalSidesAreTheSameAndNotesAreSilent) {
  const Side one = side(tests::kFlatRun);
  const std::vector<Side> other = {side(tests::kFlatRun)};
  const auto all = compare_sides(one, other, {"", 0.1});
  EXPECT_EQ(verdicts(all[0])[0], "same");
  EXPECT_EQ(verdicts(all[0])[5], "same");
  for (const PairRow& row : all[0].rows) EXPECT_THAT(row.notes, IsEmpty()) << row.problem;
}

TEST_F(Compare, UnlikeConfigurationsOfOneProblemArePairedWhenThereIsNoChoice) {
  Side one = side(tests::kFlatRun, {"m1024"});
  Side other = side(tests::kCacheRun, {"m1024"});
  ASSERT_EQ(one.all.size(), 1u);
  other.all[0].facts["threads"] = "8";
  other.all[0].result.threads = 8;
  std::vector<Side> others = {other};
  auto all = compare_sides(one, others, {"", 0.02});
  ASSERT_EQ(all[0].rows.size(), 1u);
  EXPECT_THAT(all[0].rows[0].notes, testing::Contains("threads: A 4, B 8"));
  // Cold and warm are not the same measurement.
  others[0].all[0].facts["cache"] = others[0].all[0].cache = "cold";
  all = compare_sides(one, others, {"", 0.02});
  EXPECT_THAT(verdicts(all[0]), ElementsAre("not_comparable", "not_comparable"));
  // With a choice none is made.
  others[0].all[0].facts["cache"] = others[0].all[0].cache = "warm";
  others[0].all.push_back(others[0].all[0]);
  others[0].all[1].facts["threads"] = "16";
  EXPECT_EQ(compare_sides(one, others, {"", 0.02})[0].rows.size(), 3u);
}

TEST_F(Compare, ADifferentAmountOfWorkIsMadeEqual) {
  Side one = side(tests::kFlatRun, {"m1024"});
  Side other = one;
  one.all[0].result.flop = 2e9;
  other.all[0].result.flop = 4e9;
  for (auto& launch : other.all[0].launches) {
    for (double& sample : launch) sample *= 2;
  }
  const std::vector<Side> others = {other};
  const auto all = compare_sides(one, others, {"replicas", 0.02});
  EXPECT_NEAR(*all[0].rows[0].ratio.ratio, 1, 1e-12);
  EXPECT_THAT(all[0].rows[0].notes, testing::Contains(HasSubstr("2 times the work")));
}

TEST_F(Compare, ByModeComesWithItsMemory) {
  auto sides = sides_by(*store_, "memory_mode", {"stream"});
  ASSERT_TRUE(sides);
  ASSERT_EQ(sides->size(), 3u);  // the other run of the fixture is of a node without modes
  EXPECT_EQ((*sides)[0].name, "flat/mcdram");
  EXPECT_EQ((*sides)[1].name, "cache/mcdram");
  EXPECT_EQ((*sides)[2].name, "none/any");
  const std::vector<Side> others = {(*sides)[1]};
  EXPECT_THAT(verdicts(compare_sides((*sides)[0], others, {"memory_mode", 0.02})[0]), ElementsAre("slower", "faster"));
}

TEST_F(Compare, RunsOfOneLabelAreTakenTogether) {
  Side twice = side(tests::kCacheRun, {"m1024"});
  twice.all.push_back(twice.all[0]);
  const Side one = side(tests::kFlatRun, {"m1024"});
  const std::vector<Side> others = {twice};
  EXPECT_EQ(compare_sides(one, others, {"label", 0.02})[0].rows[0].ratio.launches_b, 16u);
}

TEST_F(Compare, AdvicePartsAtTheFastMemory) {
  const auto advice = advice_lines(both()[0], 0.02);
  EXPECT_THAT(advice, testing::Contains(AllOf(HasSubstr("stream, working sets within the 16 GiB of fast memory: take A"),
                                              HasSubstr("1.31x (1."))));
  EXPECT_THAT(advice, testing::Contains(HasSubstr("stream, working sets beyond the 16 GiB of fast memory: take B")));
  EXPECT_THAT(advice, testing::Contains(HasSubstr("it does not matter in 1 (same within 2 %); no difference shown in 1")));
}

TEST_F(Compare, GivesTheWinnersPlacement) {
  const auto found = recipes(both()[0]);
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].side, "A");
  EXPECT_EQ(found[0].when, "in memory mode flat, cluster mode quadrant");
  EXPECT_EQ(found[0].lines[0], "OMP_NUM_THREADS=4 OMP_PLACES='{0}:4:1' OMP_PROC_BIND=close numactl --membind=1 ./program");
  EXPECT_THAT(found[0].lines[1], HasSubstr("srun --nodes=1 --ntasks=1"));
  EXPECT_EQ(found[1].side, "B");
}

TEST(Recipe, PlacesAndPolicies) {
  EXPECT_EQ(omp_places({0, 1, 2, 3}), "{0}:4:1");
  EXPECT_EQ(omp_places({0, 4, 8}), "{0}:3:4");
  EXPECT_EQ(omp_places({5, 1}), "{5},{1}");
  EXPECT_EQ(omp_places({7}), "{7}");
  EXPECT_EQ(omp_places({3, 2, 1}), "{3},{2},{1}");
  EXPECT_EQ(omp_places({0, -1}), "");
  EXPECT_EQ(omp_places({}), "");
  EXPECT_EQ(numactl_of("strict:1,5"), "numactl --membind=1,5");
  EXPECT_EQ(numactl_of("strict:1, 2m pages"), "numactl --membind=1");
  EXPECT_EQ(numactl_of("preferred:1"), "numactl --preferred=1");
  EXPECT_EQ(numactl_of("preferred:1,3"), "numactl --preferred-many=1,3");
  EXPECT_EQ(numactl_of("interleave:4,5,6,7"), "numactl --interleave=4,5,6,7");
  EXPECT_EQ(numactl_of("first_touch"), "");
  EXPECT_EQ(numactl_of("strict:1; rm -rf"), "");
}

TEST_F(Compare, TheProgramSaysIt) {
  const Ran text = says("flat cache");
  EXPECT_EQ(text.code, 0) << text.text;
  EXPECT_THAT(text.text, HasSubstr("7 problems: 1 faster, 1 slower, 1 same within 2 %"));
  const Ran lines = tests::run_hbmark("compare" + db() + "flat cache --filter stream --format json");
  std::istringstream in(lines.text);
  std::vector<std::string> schemas;
  for (std::string line; std::getline(in, line);) schemas.push_back(json::parse(line)["schema"]);
  EXPECT_THAT(schemas, ElementsAre("hbmark.comparison/1", "hbmark.comparison/1", "hbmark.comparison_summary/1"));
  EXPECT_EQ(says("--by memory_mode --against cache/mcdram").code, 0);
  EXPECT_EQ(says("--by label --filter stream --format csv").code, 0);
}

TEST_F(Compare, FailsOnTheThresholdOnly) {
  EXPECT_EQ(says("flat cache --fail-on slower:5%").code, 5);
  EXPECT_EQ(says("flat cache --fail-on slower:50%").code, 0);
  EXPECT_EQ(says("flat cache --fail-on faster:5%").code, 5);
  EXPECT_EQ(says("flat cache --fail-on slower:5% --filter m1024").code, 0);
  const Ran open = says("flat cache --fail-on slower:1% --filter conv");
  EXPECT_EQ(open.code, 0);
  EXPECT_THAT(open.text, HasSubstr("--fail-on could not judge 1 problem"));
}

TEST_F(Compare, KeepsABaseline) {
  const Ran kept = says("--save-baseline good flat");
  EXPECT_EQ(kept.code, 0) << kept.text;
  const Ran compared = says("--baseline good cache --filter stream");
  EXPECT_EQ(compared.code, 0) << compared.text;
  EXPECT_THAT(compared.text, HasSubstr("baseline good, run aaaa0001"));
  const Ran unknown = says("--baseline bad cache");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.text, HasSubstr("it keeps good"));
  EXPECT_EQ(says("--save-baseline good cache").code, 0);
  EXPECT_THAT(says("--baseline good flat").text, HasSubstr("baseline good, run bbbb0002"));
  EXPECT_EQ(says("--baseline good cache").code, 2) << "both are one run";
}

TEST_F(Compare, BadInputIsRefusedWithAReason) {
  const std::vector<std::pair<std::string, std::string>> bad = {
      {"", "it was not said what to compare"},
      {"flat", "one run is not enough"},
      {"flat flat", "both are the run"},
      {"flat nonsense", "cannot find the run"},
      {"--by memory_mod", "did you mean memory_mode?"},
      {"--by memory_mode flat", "a run was given too"},
      {"--by memory_mode --against hybrid", "no result has that"},
      {"flat cache --against flat", "it goes with --by"},
      {"flat cache --equivalence 5", "as a fraction it means 500 %"},
      {"flat cache --equivalence x", "not a number"},
      {"flat cache --fail-on slower", "by how much"},
      {"flat cache --fail-on worse:5%", "slower or on faster"},
      {"flat cache --fail-on slower:0%", "out of range"},
      {"--baseline a flat cache", "a second run was given too"},
      {"--save-baseline a --by label", "--by was given too"},
      {"--save-baseline last", "'last' means the newest run"},
  };
  for (const auto& [arguments, reason] : bad) {
    const Ran ran = says(arguments);
    EXPECT_EQ(ran.code, 2) << arguments << "\n" << ran.text;
    EXPECT_THAT(ran.text, HasSubstr(reason)) << arguments;
  }
  EXPECT_EQ(says("flat cache --filter no-such-problem").code, 4);
  EXPECT_EQ(says("--by memory --filter no-such-problem").code, 4);
}

TEST(Threshold, IsAVerdictAndAShare) {
  const auto slower = parse_threshold("slower:5%");
  ASSERT_TRUE(slower);
  EXPECT_EQ(slower->verdict, stats::Verdict::kSlower);
  EXPECT_DOUBLE_EQ(slower->share, 0.05);
  EXPECT_EQ(parse_threshold("faster: 0.1")->verdict, stats::Verdict::kFaster);
  for (const char* bad : {"", "slower", "slower:", "slower:-1%", "slower:nan", "slower:5%x", ":5%", "slower:500%"})
    EXPECT_FALSE(parse_threshold(bad)) << bad;
}

TEST(Launches, AreAWholeNumberInRange) {
  EXPECT_EQ(parse_launches("8").value_or(0), 8);
  for (const char* bad : {"", "0", "-1", "1.5", "1001", "x", "8x"}) EXPECT_FALSE(parse_launches(bad)) << bad;
}

}  // namespace
}  // namespace hbmark::cli
