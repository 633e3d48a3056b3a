#include "bench/cli/values.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/cli/run_options.h"

namespace hbmark::cli {
namespace {

using testing::HasSubstr;

TEST(Precision, TakesAPercentageOrAFraction) {
  EXPECT_DOUBLE_EQ(parse_precision("2%").value(), 0.02);
  EXPECT_DOUBLE_EQ(parse_precision(" 0.5 % ").value(), 0.005);
  EXPECT_DOUBLE_EQ(parse_precision("0.02").value(), 0.02);
  EXPECT_DOUBLE_EQ(parse_precision("1").value(), 1);
}

TEST(Precision, RefusesWhatIsNoPrecision) {
  for (const char* text : {"", " ", "x", "nan", "inf", "-1%", "0", "0%", "1e30", "2 percent", "2%%", "1e-9", "101%", "2"}) {
    const auto parsed = parse_precision(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(parsed.error().what, HasSubstr("--precision"));
    EXPECT_FALSE(parsed.error().why.empty());
    EXPECT_THAT(parsed.error().next, HasSubstr("2%"));
  }
  EXPECT_THAT(parse_precision("2").error().why, HasSubstr("200 %"));
}

TEST(Seconds, TakesUnits) {
  EXPECT_DOUBLE_EQ(parse_seconds("--budget", "3").value(), 3);
  EXPECT_DOUBLE_EQ(parse_seconds("--budget", "3s").value(), 3);
  EXPECT_DOUBLE_EQ(parse_seconds("--budget", "500ms").value(), 0.5);
  EXPECT_DOUBLE_EQ(parse_seconds("--budget", "2 min").value(), 120);
  EXPECT_DOUBLE_EQ(parse_seconds("--budget", "1h").value(), 3600);
}

TEST(Seconds, RefusesWhatIsNoTime) {
  for (const char* text : {"", "abc", "nan", "-inf", "-3", "0", "1e30", "1e400", "3 fortnights", "3s3", "0x10"}) {
    const auto parsed = parse_seconds("--timeout", text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(parsed.error().what, HasSubstr("--timeout"));
  }
}

TEST(ThreadsPerCore, IsAListOfDifferentNumbers) {
  EXPECT_EQ(parse_threads_per_core("1").value(), (std::vector<int>{1}));
  EXPECT_EQ(parse_threads_per_core("1, 2,4").value(), (std::vector<int>{1, 2, 4}));
  for (const char* text : {"", "0", "1,", ",1", "1,x", "2,2", "-1", "1;2"}) {
    const auto parsed = parse_threads_per_core(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_THAT(parsed.error().what, HasSubstr("--threads-per-core"));
  }
}

TEST(Memories, AreAListOfDifferentPlaces) {
  EXPECT_EQ(parse_memories("ddr,mcdram , node:01").value(), (std::vector<std::string>{"ddr", "fast", "node:1"}));
  EXPECT_THAT(parse_memories("mcdram,hbm").error().why, HasSubstr("twice"));
  for (const char* text : {"", "ddr,", "ddr,,fast", "slow", "node"}) {
    const auto parsed = parse_memories(text);
    ASSERT_FALSE(parsed) << text;
    EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(parsed.error().what, HasSubstr("--memory"));
  }
}

TEST(Words, AreThoseThatAreKnown) {
  EXPECT_EQ(parse_word("--pin", " compact ", {"compact", "scatter", "none"}).value(), "compact");
  const auto parsed = parse_word("--pin", "compct", {"compact", "scatter", "none"});
  ASSERT_FALSE(parsed);
  EXPECT_THAT(parsed.error().next, HasSubstr("did you mean compact?"));
}

TEST(RunOptions, EveryMemoryIsRunWithEveryNumberOfThreadsACore) {
  RunText text;
  text.memory = "ddr,fast";
  text.threads_per_core = "1,2";
  text.pin = "none";
  text.pages = "2m";
  const auto wishes = understand(text);
  ASSERT_TRUE(wishes) << wishes.error().why;
  EXPECT_EQ(wishes->placements, (std::vector<PlacementWish>{{"ddr", 1}, {"fast", 1}, {"ddr", 2}, {"fast", 2}}));
  EXPECT_EQ(wishes->pin, "none");
  EXPECT_EQ(wishes->pages, "2m");
  EXPECT_EQ(understand(RunText{})->placements, std::vector<PlacementWish>{PlacementWish{}});
  text.resume = "last";
  EXPECT_FALSE(understand(text)) << "a resumed run keeps its placements";
}

TEST(Replicas, AreAWholeNumberAndRefuseWhatTheyCannotBeHadWith) {
  EXPECT_EQ(parse_replicas("4").value(), 4);
  for (const char* text : {"", "0", "-1", "1.5", "1025", "x"}) EXPECT_FALSE(parse_replicas(text)) << text;
  RunText text;
  text.replicas = "2";
  text.replicas_split = true;
  EXPECT_EQ(understand(text)->replicas, 2);
  EXPECT_TRUE(understand(text)->replicas_split);
  text.cold_cache = true;
  EXPECT_THAT(understand(text).error().why, HasSubstr("warm caches"));
  text.cold_cache = false;
  text.pin = "none";
  EXPECT_THAT(understand(text).error().what, HasSubstr("--pin none"));
  text.pin.clear();
  text.replicas.clear();
  EXPECT_THAT(understand(text).error().what, HasSubstr("--replicas-split"));
}

TEST(Threads, TakesOnlyPositiveWholeNumbers) {
  EXPECT_EQ(parse_threads("4").value(), 4);
  EXPECT_EQ(parse_threads("1000000").value(), 1000000);  // the placement says how many there are
  for (const char* text : {"", "0", "-2", "2.5", "1e3", "99999999999999", "two", "4 "}) {
    const auto parsed = parse_threads(text);
    if (std::string(text) == "4 ") {
      EXPECT_TRUE(parsed);  // blanks around a value are no fault
    } else {
      ASSERT_FALSE(parsed) << text;
      EXPECT_EQ(parsed.error().kind, ErrorKind::kUsage);
    }
  }
}

TEST(Seed, CoversAllOf64Bits) {
  EXPECT_EQ(parse_seed("18446744073709551615").value(), 18446744073709551615ULL);
  EXPECT_FALSE(parse_seed("18446744073709551616"));
  EXPECT_FALSE(parse_seed("-1"));
}

TEST(Label, RefusesWhatWouldConfuseLater) {
  EXPECT_TRUE(check_label(""));
  EXPECT_TRUE(check_label("nach dem Einbau, größer"));
  EXPECT_FALSE(check_label("last"));
  EXPECT_FALSE(check_label("a\x1b[2J"));
  EXPECT_FALSE(check_label(std::string(201, 'x')));
}

TEST(Nearest, FindsTheWordThatWasMeant) {
  const std::vector<std::string> known = {"run", "show", "list", "export"};
  EXPECT_EQ(nearest("runn", known), "run");
  EXPECT_EQ(nearest("exprot", known), "export");
  EXPECT_EQ(nearest("lst", known), "list");
  EXPECT_EQ(nearest("benchmark", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("xyz", known), "");
}

TEST(RunOptions, DefaultToTheQuickSuite) {
  EXPECT_EQ(understand({}).value().suite, "quick");
  RunText text;
  text.problems = {"peak:fma:f32"};
  EXPECT_EQ(understand(text).value().suite, "");
  text.suite = "smoke";
  EXPECT_EQ(understand(text).value().suite, "smoke");
}

TEST(RunOptions, ReportTheFirstBadValue) {
  RunText text;
  text.budget = "nan";
  text.threads = "0";
  const auto wishes = understand(text);
  ASSERT_FALSE(wishes);
  EXPECT_THAT(wishes.error().what, HasSubstr("--budget"));
}

TEST(RunOptions, ResumeRefusesWhatWouldChangeThePlan) {
  RunText text;
  text.resume = "last";
  EXPECT_EQ(understand(text).value().resume, "last");
  text.seed = "7";
  const auto wishes = understand(text);
  ASSERT_FALSE(wishes);
  EXPECT_EQ(wishes.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(wishes.error().what, HasSubstr("--seed"));
}

}  // namespace
}  // namespace hbmark::cli
