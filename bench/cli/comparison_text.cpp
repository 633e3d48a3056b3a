#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>

#include "bench/cli/comparison_advice.h"
#include "bench/cli/comparison_render.h"
#include "bench/cli/render_footer.h"
#include "bench/cli/table.h"

namespace hbmark::cli {
namespace {

using stats::Verdict;

Color color_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kFaster:
      return Color::kGreen;
    case Verdict::kSlower:
      return Color::kRed;
    case Verdict::kNotEstablished:
    case Verdict::kNotComparable:
      return Color::kYellow;
    case Verdict::kSame:
    case Verdict::kNoDifference:
      break;
  }
  return Color::kNone;
}

std::string time_text(const std::optional<double>& time_s, const Style& style) {
  return time_s ? si(*time_s, "s", style) : std::string(style.dash());
}

std::string interval(const std::optional<double>& low, const std::optional<double>& high, const Style& style) {
  return low && high ? fmt::format("{:.3f} to {:.3f}", *low, *high) : std::string(style.dash());
}

Row make_row(const PairRow& pair, const std::set<std::string>& common, double margin, const Style& style) {
  const stats::RatioEstimate& ratio = pair.ratio;
  Row row{{{printable(pair.problem)},
           {time_text(ratio.a_s, style)},
           {time_text(ratio.b_s, style)},
           {ratio.ratio ? fmt::format("{:.3f}", *ratio.ratio) : std::string(style.dash())},
           {interval(ratio.low, ratio.high, style)},
           {verdict_words(pair.verdict, margin), color_of(pair.verdict)}},
          {}};
  // That launches are few is said once beneath; what one launch's samples tell is said here.
  if (pair.verdict == Verdict::kNotComparable) row.notes.push_back({pair.reason, Color::kYellow});
  if (ratio.within_low) {
    row.notes.push_back(
        {fmt::format("within these two launches {}", interval(ratio.within_low, ratio.within_high, style)), Color::kDim});
  }
  std::vector<std::string> own;
  for (const std::string& note : pair.notes) {
    if (!common.contains(note)) own.push_back(note);
  }
  if (!own.empty()) row.notes.push_back({fmt::format("{}", fmt::join(own, "; ")), Color::kYellow});
  return row;
}

// Notes that every pair has are said once, beneath.
std::set<std::string> common_notes(const Comparison& comparison) {
  std::map<std::string, std::size_t> counts;
  std::size_t pairs = 0;
  for (const PairRow& row : comparison.rows) {
    pairs += row.verdict != Verdict::kNotComparable;
    for (const std::string& note : row.notes) ++counts[note];
  }
  std::set<std::string> common;
  for (const auto& [note, count] : counts) {
    if (pairs > 1 && count == pairs) common.insert(note);
  }
  return common;
}

Table make_table(const Comparison& comparison, const std::set<std::string>& common, double margin, const Style& style) {
  Table table;
  table.columns = {{"problem", false, true}, {"A", true}, {"B", true}, {"B/A", true}, {"95 %", true}, {"verdict"}};
  // Rows of one configuration stand together, in the order in which it first came.
  std::vector<std::string> configurations;
  for (const PairRow& row : comparison.rows) {
    if (std::find(configurations.begin(), configurations.end(), row.configuration) == configurations.end())
      configurations.push_back(row.configuration);
  }
  for (const std::string& configuration : configurations) {
    table.rows.push_back({{{configuration, Color::kBold}}, {}});
    for (const PairRow& row : comparison.rows) {
      if (row.configuration == configuration) table.rows.push_back(make_row(row, common, margin, style));
    }
  }
  return table;
}

std::string method_text(const Comparison& comparison) {
  std::set<std::string> methods;
  for (const PairRow& row : comparison.rows) {
    if (row.ratio.low) methods.insert(row.ratio.method);
  }
  if (methods.empty()) return "";
  return fmt::format("{}; false discoveries held at 5 % of the problems (Benjamini-Hochberg)", fmt::join(methods, "; "));
}

void add_entries(const char* name, const std::vector<std::string>& texts,
                 std::vector<std::pair<std::string, std::string>>& entries) {
  for (std::size_t i = 0; i < texts.size(); ++i) entries.emplace_back(i == 0 ? name : "", texts[i]);
}

std::string render_one(const Comparison& comparison, double margin, const Style& style, bool verbose) {
  std::string out;
  const std::string by = comparison.by.empty() ? "" : comparison.by + " ";
  out += render_entries({{"A", by + comparison.a_name}, {"B", by + comparison.b_name}}, style) + "\n";
  const std::set<std::string> common = common_notes(comparison);
  const Table table = make_table(comparison, common, margin, style);
  Style wide = style;
  if (verbose) wide.width = std::max(style.width, natural_width(table));
  out += render(table, wide) + "\n";
  std::vector<std::pair<std::string, std::string>> entries = {
      {"Verdicts",
       fmt::format("{}: {}", comparison.rows.size() == 1 ? "1 problem" : fmt::format("{} problems", comparison.rows.size()),
                   verdict_counts(comparison.rows, margin))},
      {"Method", method_text(comparison)},
      {"Columns",
       "A, B: time of a call, the geometric mean of the launches' medians; B/A: above 1, B is slower; "
       "95 %: its interval between launches"}};
  std::vector<std::string> remarks(common.begin(), common.end());
  for (const Remark& remark : comparison.remarks) remarks.push_back(remark.text);
  add_entries("Beware", remarks, entries);
  add_entries("Advice", advice_lines(comparison, margin), entries);
  out += render_entries(entries, style);
  for (const Recipe& recipe : recipes(comparison)) {
    out += fmt::format("\n{} as placed here{}:\n", recipe.side, recipe.when.empty() ? "" : ", " + recipe.when);
    for (const std::string& line : recipe.lines) out += "  " + line + "\n";
  }
  return out;
}

}  // namespace

std::string render_comparisons(const std::vector<Comparison>& all, double margin, const Style& style, bool verbose) {
  std::string out;
  for (const Comparison& comparison : all) out += (out.empty() ? "" : "\n") + render_one(comparison, margin, style, verbose);
  return out;
}

}  // namespace hbmark::cli
