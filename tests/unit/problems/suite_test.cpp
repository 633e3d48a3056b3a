// Suites: those that are shipped, and one clear error for every way to write one wrong.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"
#include "tests/unit/problems/temp_dir.h"

namespace hbmark {
namespace {

using testing::HasSubstr;
using testing::UnorderedElementsAre;

const std::filesystem::path kShare = std::filesystem::path(HBMARK_SOURCE_DIR) / "bench";

std::vector<std::string> problems_of(const Suite& suite) {
  std::vector<std::string> out;
  for (const auto& one : suite.cases) out.push_back(to_string(one.problem));
  return out;
}

TEST(ShippedSuites, AllLoadAndAreNamedAsTheirFiles) {
  const auto suites = list_suites(kShare, {std::uint64_t{32} << 20, nullptr});
  ASSERT_TRUE(suites) << suites.error().why;
  std::vector<std::string> names;
  for (const auto& suite : *suites) {
    names.push_back(suite.name);
    EXPECT_FALSE(suite.summary.empty());
    EXPECT_EQ(load_suite(suite.name, kShare, {}).value().name, suite.name);
    std::set<std::string> distinct;
    for (const auto& one : suite.cases) {
      EXPECT_TRUE(distinct.insert(to_string(one.problem)).second) << "twice: " << to_string(one.problem);
    }
  }
  EXPECT_THAT(names, testing::ElementsAre("bert-large", "full", "lstm-gru", "memory-sweep", "networks", "quick",
                                          "skinny-gemm", "smoke", "square-gemm"));
}

TEST(ShippedSuites, QuickStartsWithTheCeilingsAndIsShort) {
  const auto suite = load_suite("quick", kShare, {std::uint64_t{32} << 20, nullptr}).value();
  const auto problems = problems_of(suite);
  ASSERT_GE(problems.size(), 20u);
  EXPECT_LE(problems.size(), 25u);
  EXPECT_EQ(problems[0], "peak:fma:f32");
  EXPECT_EQ(problems[1], "peak:fma:f64");
  EXPECT_EQ(problems[2], "stream:triad:f64:67108864");
  EXPECT_LE(suite.budget_s, 100);
  std::set<std::string> origins;
  for (const auto& one : suite.cases) {
    origins.insert(one.origin.substr(0, one.origin.find_first_of(" _")));
    const auto flop = one.problem.kernel->flop(one.problem);
    if (flop) {
      EXPECT_LE(*flop, 1e10) << to_string(one.problem) << " takes over 100 ms at 100 GFLOP/s";
    }
  }
  for (const char* network : {"alexnet", "vgg16", "googlenet", "resnet50", "square"})
    EXPECT_EQ(origins.count(network), 1u) << network;
}

TEST(ShippedSuites, NetworksHasEveryLayerAndPass) {
  const auto suite = load_suite("networks", kShare, {}).value();
  std::int64_t layers = 0, rows = 0;
  double occurrences = 0;
  for (const auto& one : suite.cases) {
    occurrences += one.occurrences;
    if (one.problem.kernel->name == "conv") {
      EXPECT_EQ(one.problem.number("n"), 32);
      if (one.problem.word("pass") == "fwd") layers += static_cast<std::int64_t>(one.occurrences);
    }
    ++rows;
  }
  EXPECT_EQ(layers, 5 + 13 + 57 + 53);
  // Three passes a layer but the first of each of four networks; 8 fully connected layers; 4 ceilings.
  EXPECT_EQ(occurrences, 3 * (5 + 13 + 57 + 53) - 4 + 3 * 8 + 4);
  EXPECT_EQ(suite.rows_read - suite.repeats_folded, rows);
}

TEST(ShippedSuites, SmokeHasEveryKernel) {
  std::set<std::string_view> used;
  const auto suite = load_suite("smoke", kShare, {}).value();
  for (const auto& one : suite.cases) used.insert(one.problem.kernel->name);
  EXPECT_EQ(used.size(), kernels().size());
}

TEST(BeyondLastLevel, IsFourTimesTheCacheInAPowerOfTwo) {
  tests::TempDir dir;
  const auto file = dir.write(
      "s.toml",
      "name='s'\nsummary='s'\n[[case]]\nkernel='stream'\nset={op=['copy','triad'],array_bytes='beyond-last-level'}\n");
  std::vector<std::string> notes;
  const auto load = [&](std::uint64_t mib) {
    return problems_of(load_suite(file.string(), kShare, {mib << 20, &notes}).value());
  };
  EXPECT_THAT(load(8), UnorderedElementsAre("stream:copy:f64:67108864", "stream:triad:f64:67108864"));
  EXPECT_THAT(load(33), UnorderedElementsAre("stream:copy:f64:134217728", "stream:triad:f64:67108864"));
  EXPECT_TRUE(notes.empty());
  EXPECT_THAT(load(16384), UnorderedElementsAre("stream:copy:f64:34359738368", "stream:triad:f64:34359738368"));
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("32 GiB each")));
  notes.clear();
  EXPECT_THAT(load(0), UnorderedElementsAre("stream:copy:f64:67108864", "stream:triad:f64:67108864"));
  EXPECT_THAT(notes, testing::ElementsAre(HasSubstr("32 MiB is assumed")));
}

class SuiteFile : public testing::Test {
 protected:
  SuiteFile() { dir_.write("shapes.csv", "name,pass,m,n,k,occurrences\na,fwd,1,2,3,2\nb,bwd,4,5,6,1\nc,fwd,7,8,9,3\n"); }
  Result<Suite> load(const std::string& cases) {
    return load_suite(dir_.write("mine.toml", "name = \"mine\"\nsummary = \"my own\"\n" + cases).string(), kShare,
                      {0, &notes_});
  }
  std::string why(const std::string& cases) {
    const auto suite = load(cases);
    if (suite) return "accepted";
    EXPECT_EQ(suite.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(suite.error().what, HasSubstr("mine.toml"));
    EXPECT_FALSE(suite.error().next.empty());
    return suite.error().why;
  }
  tests::TempDir dir_;
  std::vector<std::string> notes_;
};

TEST_F(SuiteFile, TakesProblemsWithCountAndOrigin) {
  const auto suite = load(
      "budget_s = 30\nprecision = 0.01\n[[case]]\nproblem = \"peak:fma:f32\"\noccurrences = 3\norigin = \"mine\"\n"
      "[[case]]\nproblem = [\"peak:fma:f64\", \"peak:fma:f32\"]\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_EQ(suite->budget_s, 30);
  EXPECT_EQ(suite->precision, 0.01);
  EXPECT_EQ(suite->rows_read, 3);
  EXPECT_EQ(suite->repeats_folded, 1);
  ASSERT_EQ(suite->cases.size(), 2u);
  EXPECT_EQ(suite->cases[0].occurrences, 4);
  EXPECT_EQ(suite->cases[0].origin, "mine");
}

TEST_F(SuiteFile, ChoosesAndSetsRowsOfACsvBesideIt) {
  const auto suite = load(
      "[[case]]\ncsv = \"shapes.csv\"\nwhere = { pass = \"fwd\" }\nexcept = { name = \"c\" }\n"
      "set = { n = [16, 32], trans = \"tn\" }\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_THAT(problems_of(*suite), testing::ElementsAre("gemm:f32:tn:m1n16k3", "gemm:f32:tn:m1n32k3"));
  EXPECT_EQ(suite->cases[0].occurrences, 2);
  EXPECT_EQ(suite->cases[0].origin, "shapes a");
}

TEST_F(SuiteFile, MakesEveryCombinationOfAKernelsFields) {
  const auto suite = load("[[case]]\nkernel = \"gemm\"\nset = { m = [1, 2], n = 3, k = [4, 5] }\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_EQ(suite->cases.size(), 4u);
}

TEST_F(SuiteFile, RefusesKeysAndTypesWithTheirLine) {
  EXPECT_THAT(why("budgets = 3\n[[case]]\nproblem='peak:fma:f32'\n"),
              HasSubstr("mine.toml:3: a suite has no key \"budgets\" (did you mean \"budget_s\"?)"));
  EXPECT_THAT(why("budget_s = \"3\"\n"), HasSubstr(":3: budget_s must be a number"));
  EXPECT_THAT(why("budget_s = -3\n"), HasSubstr(":3: budget_s must be a number from 0"));
  EXPECT_THAT(why("budget_s = nan\n"), HasSubstr("budget_s"));
  EXPECT_THAT(why("budget_s = inf\n"), HasSubstr("budget_s"));
  EXPECT_THAT(why("budget_s = true\n"), HasSubstr("budget_s"));
  EXPECT_THAT(why("precision = 0\n"), HasSubstr("precision"));
  EXPECT_THAT(why("precision = 1e30\n"), HasSubstr("precision"));
  EXPECT_THAT(why(""), HasSubstr("no [[case]]"));
  EXPECT_THAT(why("case = 3\n"), HasSubstr("array of tables"));
  EXPECT_THAT(why("case = []\n"), HasSubstr("array of tables"));
  EXPECT_THAT(why("case = [3]\n"), HasSubstr("array of tables"));
  EXPECT_THAT(why("[case]\nproblem='peak:fma:f32'\n"), HasSubstr("array of tables"));
  EXPECT_THAT(why("[[case]]\n"), HasSubstr(":3: a case has one of"));
  EXPECT_THAT(why("[[case]]\nproblme = 'peak:fma:f32'\n"),
              HasSubstr(":4: a case has no key \"problme\" (did you mean \"problem\"?)"));
  EXPECT_THAT(why("[[case]]\nproblem = 'peak:fma:f32'\ncsv = 'shapes.csv'\n"), HasSubstr("not both"));
  EXPECT_THAT(why("[[case]]\nproblem = 'peak:fma:f32'\nset = { n = 1 }\n"), HasSubstr(":5: set"));
  EXPECT_THAT(why("[[case]]\nproblem = 'peak:fma:f32'\nwhere = { n = 1 }\n"), HasSubstr(":5: where"));
  EXPECT_THAT(why("[[case]]\nproblem = 3.5\n"), HasSubstr(":4: \"problem\" must be"));
  EXPECT_THAT(why("[[case]]\nproblem = []\n"), HasSubstr(":4: \"problem\" must be"));
  EXPECT_THAT(why("[[case]]\nproblem = 'peak:fma:f23'\n"), HasSubstr("did you mean \"f32\""));
  EXPECT_THAT(why("[[case]]\nproblem = 'peak:fma:f32'\noccurrences = 0\n"), HasSubstr(":5: occurrences"));
  EXPECT_THAT(why("[[case]]\nproblem = 'peak:fma:f32'\norigin = \"a\\nb\"\n"), HasSubstr(":5: origin"));
  EXPECT_THAT(why("[[case]\n"), HasSubstr(":3: it is no TOML"));
}

TEST_F(SuiteFile, RefusesChoicesThatChooseNothing) {
  EXPECT_THAT(why("[[case]]\ncsv = 'absent.csv'\n"), HasSubstr(":4: \"absent.csv\" is neither"));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nwhere = { nmae = 'a' }\n"), HasSubstr("did you mean \"name\""));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nwhere = { name = 'z' }\n"), HasSubstr("no row has \"z\" in column name"));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nexcept = { name = 'z' }\n"), HasSubstr("no row has \"z\""));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nwhere = { name = 'a' }\nexcept = { name = 'a' }\n"),
              HasSubstr("no problems"));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nset = { q = 1 }\n"), HasSubstr("no field \"q\""));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nset = { m = -1 }\n"), HasSubstr("negative"));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nset = { m = 1e3 }\n"), HasSubstr("\"m\" must be"));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\nset = {}\n"), HasSubstr("must be a table"));
  EXPECT_THAT(why("[[case]]\ncsv = 'shapes.csv'\noccurrences = 2\n"), HasSubstr("column of the csv"));
  EXPECT_THAT(why("[[case]]\nkernel = 'gem'\n"), HasSubstr("did you mean \"gemm\""));
  EXPECT_THAT(why("[[case]]\nkernel = 'gemm'\n"), HasSubstr("field m (rows of C) is missing"));
  EXPECT_THAT(why("[[case]]\nkernel = 'gemm'\nset = { m = 1, n = 'beyond-last-level', k = 1 }\n"), HasSubstr("array_bytes"));
  EXPECT_THAT(why("[[case]]\nkernel = 'stream'\nset = { op = 'triad', array_byte = 8 }\n"),
              HasSubstr("did you mean \"array_bytes\""));
}

TEST_F(SuiteFile, HoldsShippedSuitesAsParts) {
  const auto part = load_suite("smoke", kShare, {0, nullptr});
  const auto suite = load("[[case]]\nproblem = \"peak:fma:f64\"\n[[case]]\nsuite = \"smoke\"\n");
  ASSERT_TRUE(part && suite);
  const auto problems = problems_of(*suite);
  for (const auto& problem : problems_of(*part)) EXPECT_THAT(problems, testing::Contains(problem));
  EXPECT_THAT(why("[[case]]\nsuite = \"nothing\"\n"), HasSubstr("there is no suite \"nothing\""));
  EXPECT_THAT(why("[[case]]\nsuite = \"../smoke\"\n"), HasSubstr("is no suite's name"));
  EXPECT_THAT(why("[[case]]\nsuite = \"full\"\n"), HasSubstr("may not have parts itself"));
  EXPECT_THAT(why("[[case]]\nsuite = \"smoke\"\nset = { m = 1 }\n"), HasSubstr("does not go with suite"));
}

TEST_F(SuiteFile, SweepsAnArrayAndNothingElse) {
  const auto suite = load("[[case]]\nkernel = \"chase\"\nset = { array_bytes = \"sweep\" }\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_EQ(problems_of(*suite).front(), "chase:4096");
  EXPECT_EQ(problems_of(*suite).back(), "chase:1073741824");
  EXPECT_THAT(why("[[case]]\nkernel = \"gemm\"\nset = { m = \"sweep\", n = 1, k = 1 }\n"),
              HasSubstr("sweep is a size for array_bytes, not for m"));
}

TEST_F(SuiteFile, NamesWhatIsThereWhenASuiteIsNot) {
  const auto absent = load_suite("quik", kShare, {});
  ASSERT_FALSE(absent);
  EXPECT_THAT(absent.error().what, HasSubstr("did you mean \"quick\""));
  EXPECT_THAT(absent.error().why, HasSubstr("memory-sweep, networks, quick, skinny-gemm, smoke, square-gemm"));
  for (const char* name : {"", "..", "../suites/quick", "/etc/passwd", "quick.tom"})
    EXPECT_FALSE(load_suite(name, kShare, {})) << name;
  const auto file = load_suite((dir_.path() / "absent.toml").string(), kShare, {});
  ASSERT_FALSE(file);
  EXPECT_THAT(file.error().why, HasSubstr("no such file"));
  const auto nowhere = load_suite("quick", dir_.path() / "absent", {});
  ASSERT_FALSE(nowhere);
  EXPECT_EQ(nowhere.error().kind, ErrorKind::kEnvironment);
  std::filesystem::create_directories(dir_.path() / "folder.toml");
  EXPECT_FALSE(load_suite((dir_.path() / "folder.toml").string(), kShare, {}));
}

TEST_F(SuiteFile, RefusesASuiteWithoutNameOrSummary) {
  const auto file = dir_.write("bad.toml", "summary='x'\n[[case]]\nproblem='peak:fma:f32'\n");
  EXPECT_THAT(load_suite(file.string(), kShare, {}).error().why, HasSubstr("key name is missing"));
  dir_.write("bad.toml", "name='My Suite'\nsummary='x'\n[[case]]\nproblem='peak:fma:f32'\n");
  EXPECT_THAT(load_suite(file.string(), kShare, {}).error().why, HasSubstr(":1: name is \"My Suite\""));
  dir_.write("bad.toml", "name='x'\nsummary=''\n[[case]]\nproblem='peak:fma:f32'\n");
  EXPECT_THAT(load_suite(file.string(), kShare, {}).error().why, HasSubstr(":2: summary"));
  dir_.write("bad.toml", std::string("name='x'\n\0", 10));
  EXPECT_FALSE(load_suite(file.string(), kShare, {}));
}

}  // namespace
}  // namespace hbmark
