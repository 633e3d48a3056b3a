#include "bench/cli/text.h"

#include <gtest/gtest.h>

#include <limits>

namespace hbmark::cli {
namespace {

const Style kAscii;
const Style kUtf8{.utf8 = true};

TEST(Si, PicksThePrefixAndKeepsFourDigits) {
  EXPECT_EQ(si(0.0012345, "s", kAscii), "1.234 ms");
  EXPECT_EQ(si(0.12345, "s", kAscii), "123.5 ms");
  EXPECT_EQ(si(12.345, "s", kAscii), "12.35 s");
  EXPECT_EQ(si(8.71e10, "FLOP/s", kAscii, 3), "87.1 GFLOP/s");
  EXPECT_EQ(si(4.2e-6, "s", kAscii), "4.200 us");
  EXPECT_EQ(si(4.2e-6, "s", kUtf8), "4.200 µs");
}

TEST(Si, CarriesIntoTheNextPrefixWhenRoundingReachesAThousand) {
  EXPECT_EQ(si(999.96e-6, "s", kAscii), "1.000 ms");
  EXPECT_EQ(si(999.94e-6, "s", kAscii), "999.9 us");
  EXPECT_EQ(si(1000.0, "B", kAscii, 3), "1.00 kB");
}

TEST(Si, SurvivesTheEdgesOfTheNumberLine) {
  EXPECT_EQ(si(0, "s", kAscii), "0 s");
  EXPECT_EQ(si(-0.002, "s", kAscii), "-2.000 ms");
  EXPECT_EQ(si(1e-15, "s", kAscii), "0.001 ps");
  EXPECT_EQ(si(5e18, "FLOP/s", kAscii, 3), "5.00 EFLOP/s");
  EXPECT_EQ(si(std::numeric_limits<double>::quiet_NaN(), "s", kAscii), "-");
  EXPECT_EQ(si(std::numeric_limits<double>::infinity(), "s", kAscii), "-");
}

TEST(BinaryBytes, IsExactForPowersAndShortForOthers) {
  EXPECT_EQ(binary_bytes(0), "0 B");
  EXPECT_EQ(binary_bytes(1023), "1023 B");
  EXPECT_EQ(binary_bytes(32768), "32 KiB");
  EXPECT_EQ(binary_bytes(34359738368), "32 GiB");
  EXPECT_EQ(binary_bytes(1536), "1.50 KiB");
  EXPECT_EQ(binary_bytes(16'500'000), "15.7 MiB");
}

TEST(Percent, KeepsTwoDigitsBelowAHundred) {
  EXPECT_EQ(percent(0.834), "83 %");
  EXPECT_EQ(percent(0.0834), "8.3 %");
  EXPECT_EQ(percent(0.00834), "0.83 %");
  EXPECT_EQ(percent(0.00001), "<0.01 %");
  EXPECT_EQ(percent(0), "0.00 %");
  EXPECT_EQ(percent(1.5), "150 %");
  EXPECT_EQ(percent(0.0996), "10 %");
  EXPECT_EQ(percent(std::numeric_limits<double>::infinity()), "-");
}

TEST(Duration, ReadsAsAPersonSaysIt) {
  EXPECT_EQ(duration(0.84), "0.8 s");
  EXPECT_EQ(duration(12.4), "12 s");
  EXPECT_EQ(duration(185), "3 min 05 s");
  EXPECT_EQ(duration(7440), "2 h 04 min");
  EXPECT_EQ(duration(-1), "-");
}

TEST(Ranges, JoinsNeighboursWhateverTheOrder) {
  EXPECT_EQ(ranges({5, 0, 1, 2, 1}), "0-2,5");
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({7}), "7");
}

TEST(ElideMiddle, KeepsBothEndsWithinTheWidth) {
  EXPECT_EQ(elide_middle("short", 10, kAscii), "short");
  EXPECT_EQ(elide_middle("n32c64h56w56k64", 11, kAscii), "n32c...6k64");
  EXPECT_EQ(elide_middle("n32c64h56w56k64", 11, kUtf8), "n32c6…56k64");
  EXPECT_EQ(elide_middle("abcdef", 2, kAscii), "ab");
  EXPECT_EQ(elide_middle("abcdef", 0, kAscii), "");
  EXPECT_EQ(display_width(elide_middle("äöüäöüäöü", 5, kUtf8)), 5);
}

TEST(Wrap, BreaksAtBlanksAndNeverCutsAWord) {
  EXPECT_EQ(wrap("one two three", 8), (std::vector<std::string>{"one two", "three"}));
  EXPECT_EQ(wrap("averyveryverylongword x", 8), (std::vector<std::string>{"averyveryverylongword", "x"}));
  EXPECT_EQ(wrap("", 8), (std::vector<std::string>{""}));
  EXPECT_EQ(wrap("  two\nlines  ", 80), (std::vector<std::string>{"two lines"}));
}

TEST(Printable, DisarmsTerminalControl) {
  EXPECT_EQ(printable("a\x1b[31mred\nline\x7f"), "a?[31mred line?");
  EXPECT_EQ(printable("grün"), "grün");
}

TEST(Paint, WritesNothingWithoutColour) {
  EXPECT_EQ(kAscii.paint("x", Color::kRed), "x");
  EXPECT_EQ((Style{.color = true}).paint("x", Color::kRed), "\x1b[31mx\x1b[0m");
  EXPECT_EQ((Style{.color = true}).paint("", Color::kRed), "");
}

}  // namespace
}  // namespace hbmark::cli
