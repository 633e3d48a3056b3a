// The CSV as libcsv's own strict parser reads it.
#include <csv.h>
#include <gmock/gmock.h>

#include <charconv>
#include <sstream>

#include "records.h"

namespace hbmark::tests {
namespace {

using Table = std::vector<std::vector<std::string>>;

struct Parse {
  Table table;
  std::vector<std::string> row;
};

Table parsed(const std::string& text) {
  Parse state;
  csv_parser parser;
  EXPECT_EQ(csv_init(&parser, CSV_STRICT | CSV_STRICT_FINI), 0);
  const auto field = [](void* data, std::size_t size, void* parse) {
    static_cast<Parse*>(parse)->row.emplace_back(static_cast<const char*>(data), size);
  };
  const auto end = [](int, void* parse) {
    auto& [table, row] = *static_cast<Parse*>(parse);
    table.push_back(std::move(row));
    row.clear();
  };
  EXPECT_EQ(csv_parse(&parser, text.data(), text.size(), field, end, &state), text.size())
      << csv_strerror(csv_error(&parser));
  EXPECT_EQ(csv_fini(&parser, field, end, &state), 0);
  csv_free(&parser);
  return state.table;
}

class Csv : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto rows = golden_rows();
    for (const Format& format : formats()) {
      if (format.name != "csv") continue;
      std::ostringstream out;
      format.write(out, rows);
      text_ = out.str();
    }
    table_ = parsed(text_);
  }
  std::string at(std::size_t row, const std::string& column) const {
    for (std::size_t i = 0; i < table_[0].size(); ++i) {
      if (table_[0][i] == column) return table_[row + 1][i];
    }
    ADD_FAILURE() << "no column " << column;
    return "";
  }

  std::string text_;
  Table table_;
};

TEST_F(Csv, AHeaderAndAFullRowAResult) {
  ASSERT_EQ(table_.size(), 4U);
  for (const auto& row : table_) EXPECT_EQ(row.size(), table_[0].size());
}

TEST_F(Csv, ValuesAreBack) {
  EXPECT_EQ(at(0, "label"), "flat, bound");
  EXPECT_EQ(at(0, "problem"), "gemm:f32:nn:m1024n1024k1024");
  EXPECT_EQ(at(0, "outcome"), "ok");
  EXPECT_EQ(at(0, "flags"), "noisy;cold");
  EXPECT_EQ(at(0, "pages"), "0=0.25;1=0.75");
  EXPECT_EQ(at(0, "thread_pus"), "0;2;4;6");
  EXPECT_EQ(at(0, "samples"), "3");
}

TEST_F(Csv, DoublesAreShortestAndExact) {
  EXPECT_EQ(at(0, "ceiling_fraction"), "0.30000000000000004");
  EXPECT_EQ(at(0, "time_min_s"), "0.012");
  const std::string rate = at(0, "flop_per_s");
  double read = 0;
  std::from_chars(rate.data(), rate.data() + rate.size(), read);
  EXPECT_EQ(read, 2147483648.0 / 0.0123);
}

TEST_F(Csv, AbsentIsEmpty) {
  for (const char* column :
       {"time_median_s", "flop_per_s", "ceiling_fraction", "verified_checked", "reorder_s", "pages", "label", "reason"}) {
    EXPECT_EQ(at(1, column), "") << column;
  }
  EXPECT_EQ(at(1, "outcome"), "not_run");
}

TEST_F(Csv, TroubleIsQuotedAndReplaced) {
  EXPECT_EQ(at(2, "reason"), "he said \"no\",\r\nthen \xEF\xBF\xBD\xEF\xBF\xBD and été 漢 🙂");
  EXPECT_EQ(at(2, "implementation"), "x\xEF\xBF\xBDy");
  EXPECT_EQ(at(2, "verified_max_rel_error"), "NaN");
  EXPECT_EQ(at(2, "verified_tolerance"), "Infinity");
  EXPECT_EQ(at(2, "energy_j"), "-Infinity");
  EXPECT_EQ(at(2, "flop_per_s"), "");
  EXPECT_EQ(text_.find('\0'), std::string::npos);
}

TEST_F(Csv, LinesEndAsRfc4180Says) {
  EXPECT_TRUE(text_.ends_with("\r\n"));
  EXPECT_EQ(text_.find("\n\n"), std::string::npos);
  EXPECT_TRUE(text_.starts_with("run,label,"));
}

}  // namespace
}  // namespace hbmark::tests
