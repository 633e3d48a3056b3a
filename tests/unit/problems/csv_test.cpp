// Problem files: DeepBench's as they are, everyone's by column name, and one clear error for what is none.
#include <gmock/gmock.h>

#include "bench/problems/suite.h"
#include "tests/shared_data.h"
#include "tests/unit/problems/temp_dir.h"

namespace hbmark {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::vector<std::string> problems_of(const Suite& suite) {
  std::vector<std::string> out;
  for (const auto& one : suite.cases) out.push_back(to_string(one.problem));
  return out;
}

TEST(DeepBench, GemmFileHas248RowsAnd243Problems) {
  HBMARK_NEED_SHARED("data/deepbench/gemm_problems.csv");
  std::vector<std::string> notes;
  const auto suite = load_problem_csv(tests::shared_dir() / "data/deepbench/gemm_problems.csv", "", &notes);
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_EQ(suite->rows_read, 248);
  EXPECT_EQ(suite->cases.size(), 243u);
  EXPECT_EQ(suite->repeats_folded, 5);
  EXPECT_EQ(to_string(suite->cases[0].problem), "gemm:f32:nn:m1760n16k1760");
  EXPECT_EQ(suite->cases[0].origin, "gemm_problems training");
  EXPECT_THAT(notes, IsEmpty());
  double occurrences = 0;
  for (const auto& one : suite->cases) occurrences += one.occurrences;
  EXPECT_EQ(occurrences, 248);
}

TEST(DeepBench, ConvolutionFileHas217RowsAnd191Problems) {
  HBMARK_NEED_SHARED("data/deepbench/conv_problems.csv");
  const auto suite = load_problem_csv(tests::shared_dir() / "data/deepbench/conv_problems.csv", "");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_EQ(suite->rows_read, 217);
  EXPECT_EQ(suite->cases.size(), 191u);
  EXPECT_EQ(suite->repeats_folded, 26);
  // width 700, height 161; filter 20 wide, 5 high
  EXPECT_EQ(to_string(suite->cases[0].problem), "conv:fwd:f32:n4c1h161w700k32r5s20sh2sw2ph0pw0");
}

class ProblemCsv : public testing::Test {
 protected:
  Result<Suite> load(std::string_view text, std::string_view kernel = "") {
    return load_problem_csv(dir_.write("problems.csv", text), kernel, &notes_);
  }
  std::string why(std::string_view text, std::string_view kernel = "") {
    const auto suite = load(text, kernel);
    if (suite) return "accepted";
    EXPECT_EQ(suite.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(suite.error().what, HasSubstr("problems.csv"));
    EXPECT_FALSE(suite.error().next.empty());
    return suite.error().why;
  }
  tests::TempDir dir_;
  std::vector<std::string> notes_;
};

TEST_F(ProblemCsv, TakesColumnsInAnyOrderAndFillsDefaults) {
  const auto suite = load("k,n,m\n3,2,1\n6,5,4\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_THAT(problems_of(*suite), ElementsAre("gemm:f32:nn:m1n2k3", "gemm:f32:nn:m4n5k6"));
}

TEST_F(ProblemCsv, TakesWordsOptionsAndFlags) {
  const auto suite = load("type,a_t,b_t,m,n,k,batch\nf64,1,0,1,2,3,4\nf32,0,1,1,2,3,1\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_THAT(problems_of(*suite), ElementsAre("gemm:f64:tn:m1n2k3/batch=4", "gemm:f32:nt:m1n2k3"));
}

TEST_F(ProblemCsv, TakesThePassOfEachRow) {
  const auto suite =
      load("pass,n,c,h,w,k,r,s,sh,sw,ph,pw,groups\nbwd_data,1,2,5,5,4,3,3,1,1,1,1,2\nfwd,1,2,5,5,4,3,3,1,1,1,1,1\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_THAT(problems_of(*suite),
              ElementsAre("conv:bwd_data:f32:n1c2h5w5k4r3s3sh1sw1ph1pw1/g=2", "conv:fwd:f32:n1c2h5w5k4r3s3sh1sw1ph1pw1"));
}

TEST_F(ProblemCsv, TakesProblemStrings) {
  const auto suite = load("name,problem,occurrences\nfirst,peak:fma:f32,2\n,stream:copy:f64:800,1\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_THAT(problems_of(*suite), ElementsAre("peak:fma:f32", "stream:copy:f64:800"));
  EXPECT_EQ(suite->cases[0].occurrences, 2);
  EXPECT_EQ(suite->cases[0].origin, "problems first");
  EXPECT_EQ(suite->cases[1].origin, "problems");
}

TEST_F(ProblemCsv, TakesStreamsAndTellsThemFromPeaks) {
  EXPECT_THAT(problems_of(load("op,array_bytes\ntriad,800\n").value()), ElementsAre("stream:triad:f64:800"));
  EXPECT_THAT(problems_of(load("op,type,bytes\nadd,f32,800\n").value()), ElementsAre("stream:add:f32:800"));
  EXPECT_THAT(problems_of(load("op,type\nfma,f32\n").value()), ElementsAre("peak:fma:f32"));
}

TEST_F(ProblemCsv, TakesBomCrlfQuotesSpacesAndEmptyLines) {
  const auto suite = load("\xef\xbb\xbf\"m\",n,k,name\r\n\r\n1, 2 ,\"3\",\"a, \"\"b\"\"\r\nc\"\r\n4,5,6,x");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_THAT(problems_of(*suite), ElementsAre("gemm:f32:nn:m1n2k3", "gemm:f32:nn:m4n5k6"));
  EXPECT_THAT(suite->cases[0].origin, HasSubstr("a, \"b\""));
}

TEST_F(ProblemCsv, FoldsRepeatsAndSaysSo) {
  const auto suite = load("m,n,k,occurrences,name\n1,2,3,4,a\n9,9,9,1,b\n1,2,3,2,c\n");
  ASSERT_TRUE(suite) << suite.error().why;
  EXPECT_EQ(suite->rows_read, 3);
  EXPECT_EQ(suite->repeats_folded, 1);
  ASSERT_EQ(suite->cases.size(), 2u);
  EXPECT_EQ(suite->cases[0].occurrences, 6);
  EXPECT_EQ(suite->cases[0].origin, "problems a; problems c");
}

TEST_F(ProblemCsv, NotesColumnsItDoesNotRead) {
  EXPECT_TRUE(load("m,n,k,time_ms\n1,2,3,7.5\n"));
  EXPECT_THAT(notes_, ElementsAre(HasSubstr("column \"time_ms\" is not read")));
}

TEST_F(ProblemCsv, RefusesHeadersWithTheReason) {
  EXPECT_THAT(why(""), HasSubstr("problems.csv:1: it is empty"));
  EXPECT_THAT(why("\n\n"), HasSubstr("empty"));
  EXPECT_THAT(why("m,n,k\n"), HasSubstr("no problems below the header"));
  EXPECT_THAT(why("m,n\n1,2\n"), HasSubstr("gemm lacks column k"));
  EXPECT_THAT(why("m,n\n1,2\n", "gemm"), HasSubstr(":1: column k (length of the sums) is missing"));
  EXPECT_THAT(why("1,2,3\n4,5,6\n"), HasSubstr("no kernel"));
  EXPECT_THAT(why("m,n,k,m\n1,2,3,4\n"), HasSubstr("\"m\" is there twice"));
  EXPECT_THAT(why("m,n,k,\n1,2,3,4\n"), HasSubstr("column 4 of 4 has no name"));
  EXPECT_THAT(why("m,n,k,bacth\n1,2,3,4\n"), HasSubstr("did you mean \"batch\""));
  EXPECT_THAT(why("m,n,k,occurences\n1,2,3,4\n"), HasSubstr("did you mean \"occurrences\""));
  EXPECT_THAT(why("m,n,k,trans,a_t,b_t\n1,2,3,nn,0,0\n"), HasSubstr("field trans"));
  EXPECT_THAT(why("n,c,h,w,k,r,s,filter_w,sh,sw,ph,pw\n1,1,1,1,1,1,1,1,1,1,1,1\n"), HasSubstr("more than one column"));
  EXPECT_THAT(why("m,n,k\n1,2,3\n", "gem"), HasSubstr("did you mean \"gemm\""));
  EXPECT_THAT(why("m,n,k\n1,2,3\n", "conv"), HasSubstr("column"));
}

TEST_F(ProblemCsv, RefusesRowsWithLineAndColumn) {
  EXPECT_THAT(why("m,n,k\n1,2,3\n4,5\n"), HasSubstr("problems.csv:3: the row has 2 fields"));
  EXPECT_THAT(why("m,n,k\n1,2,3,4\n"), HasSubstr(":2: the row has 4 fields"));
  EXPECT_THAT(why("m,n,k\n1,-2,3\n"), HasSubstr(":2: field n (columns of C) is \"-2\", a negative number"));
  EXPECT_THAT(why("m,n,k\n1,2,1e30\n"), HasSubstr(":2: field k (length of the sums) is \"1e30\""));
  EXPECT_THAT(why("m,n,k\n1,2,99999999999999999999\n"), HasSubstr("out of range"));
  EXPECT_THAT(why("m,n,k\n1,2,\n"), HasSubstr("field k (length of the sums) is empty"));
  EXPECT_THAT(why("m,n,k\n1,2,007\n"), HasSubstr("leading zero"));
  EXPECT_THAT(why("m,n,k\n1,2,nan\n"), HasSubstr("\"nan\""));
  EXPECT_THAT(why("m,n,k,a_t,b_t\n1,2,3,2,0\n"), HasSubstr("a_t=2"));
  EXPECT_THAT(why("m,n,k,occurrences\n1,2,3,0\n"), HasSubstr(":2: column occurrences"));
  EXPECT_THAT(why("m,n,k,type\n1,2,3,f23\n"), HasSubstr("did you mean \"f32\""));
  EXPECT_THAT(why("problem\npeak:fma:f23\n"), HasSubstr(":2: column problem"));
  EXPECT_THAT(why("problem\npeak:fma:f32\n", "gemm"), HasSubstr("no gemm"));
  EXPECT_THAT(why("n,c,h,w,k,r,s,sh,sw,ph,pw\n1,1,2,2,1,3,3,1,1,0,0\n"), HasSubstr("no rows"));
}

TEST_F(ProblemCsv, RefusesWhatIsNoCsv) {
  EXPECT_THAT(why(std::string_view("m,n,k\n1,\0,3\n", 12)), HasSubstr(":2: character 3 is the control character \\x00"));
  EXPECT_THAT(why("m,n,k\n1,2\"3,4\n"), HasSubstr(":2: a double quote"));
  EXPECT_THAT(why("m,n,k\n1,2,\"3\n4,5,6\n"), HasSubstr("never closed"));
  EXPECT_THAT(why("m,n,k\n1,2," + std::string(70000, '3') + "\n"), HasSubstr(":2: the line has"));
  EXPECT_THAT(why("m,n,k\n1,2," + std::string(60000, '3') + "\n"), HasSubstr("out of range"));
  EXPECT_THAT(why("m\tn\tk\n1\t2\t3\n"), HasSubstr("no kernel"));
  EXPECT_THAT(why("m;n;k\n1;2;3\n"), HasSubstr("no kernel"));
  EXPECT_THAT(why("\xff\xfem\0,\0"), HasSubstr("problems.csv:1"));
}

TEST_F(ProblemCsv, LineNumbersSurviveQuotedLineBreaks) {
  EXPECT_THAT(why("name,m,n,k\n\"a\nb\nc\",1,2,3\nd,1,2,x\n"), HasSubstr("problems.csv:5:"));
}

TEST_F(ProblemCsv, RefusesWhatIsNoFile) {
  const auto absent = load_problem_csv(dir_.path() / "absent.csv", "");
  ASSERT_FALSE(absent);
  EXPECT_EQ(absent.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(absent.error().why, HasSubstr("no such file"));
  const auto folder = load_problem_csv(dir_.path(), "");
  ASSERT_FALSE(folder);
  EXPECT_THAT(folder.error().why, HasSubstr("folder"));
}

}  // namespace
}  // namespace hbmark
