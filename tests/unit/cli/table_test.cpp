#include "bench/cli/table.h"

#include <gtest/gtest.h>

#include "tests/unit/cli/lines.h"

namespace hbmark::cli {
namespace {

using tests::widest_line;

Table sample() {
  Table table;
  table.columns = {{"problem", false, true}, {"median", true}, {"unused"}, {"flags"}};
  table.rows = {{{{"gemm:f32:nn:m1024n1024k1024"}, {"1.234 ms"}, {""}, {""}}, {}},
                {{{"stream"}, {"12.3 ms"}, {""}, {"noisy"}}, {{"a reason that is told", Color::kNone}}}};
  return table;
}

TEST(Table, AlignsAndLeavesOutEmptyColumns) {
  EXPECT_EQ(render(sample(), Style{}),
            "problem                        median  flags\n"
            "gemm:f32:nn:m1024n1024k1024  1.234 ms\n"
            "stream                        12.3 ms  noisy\n"
            "    a reason that is told\n");
  EXPECT_EQ(natural_width(sample()), 44);
}

TEST(Table, BreaksTheElasticColumnToFitAndCutsNothing) {
  EXPECT_EQ(render(sample(), Style{.width = 34}),
            "problem              median  flags\n"
            "gemm:f32:nn:       1.234 ms\n"
            "m1024n1024k1024\n"
            "stream              12.3 ms  noisy\n"
            "    a reason that is told\n");
}

TEST(Table, ABrokenCellKeepsItsIndentAndWholeCharacters) {
  Table table;
  table.columns = {{"problem", false, true}, {"median", true}};
  table.rows = {{{{"  äöüäöüäöüäöüäöü"}, {"1 s"}}, {}}};
  EXPECT_EQ(render(table, Style{.width = 20}),
            "problem       median\n"
            "  äöüäöüäöüä     1 s\n"
            "  öüäöü\n");
}

TEST(Table, PaintsWithoutChangingTheLayout) {
  Table table = sample();
  table.rows[0].cells[1].color = Color::kRed;
  std::string painted = render(table, Style{.color = true});
  for (std::size_t at = painted.find('\x1b'); at != std::string::npos; at = painted.find('\x1b')) {
    painted.erase(at, painted.find('m', at) - at + 1);
  }
  EXPECT_EQ(painted, render(sample(), Style{}));
}

TEST(Table, WrapsNotesWithinTheWidth) {
  Table table = sample();
  table.rows[0].notes = {
      {std::string("word ") + std::string(30, 'x') + " and more words that need another line", Color::kNone}};
  EXPECT_LE(widest_line(render(table, Style{.width = 44})), 44);
}

}  // namespace
}  // namespace hbmark::cli
