#include "bench/cli/render_verdict.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/cli/render_node.h"
#include "bench/cli/table.h"

namespace hbmark::cli {
namespace {

constexpr std::size_t kClassesExplained = 5;

Row class_row(const ClassVerdict& each, const Style& style) {
  const std::string dash(style.dash());
  Row row;
  row.cells = {{printable(each.name)},
               {fmt::format("{}/{}", each.ok, each.cases), each.ok < each.cases ? Color::kYellow : Color::kNone}};
  const auto rate = each.fastest == nullptr ? std::nullopt : rate_of(*each.fastest);
  row.cells.push_back({rate ? rate_text(*rate, style) : dash});
  row.cells.push_back({rate ? interval_text(*each.fastest->time, style, false) : dash});
  row.cells.push_back({rate ? fmt::format("{}", each.fastest->time->samples) : dash});
  if (each.of_ceiling) {
    const Spread& spread = *each.of_ceiling;
    row.cells.push_back(
        {percent(spread.median), spread.median < kGood || spread.median > 1 ? Color::kYellow : Color::kGreen});
    row.cells.push_back(
        {spread.cases == 1 ? "1 case" : fmt::format("{:.0f}-{:.0f} %", spread.low * 100, spread.high * 100)});
  } else {
    row.cells.push_back({dash});
    row.cells.push_back({""});
  }
  row.cells.push_back({each.of_nominal ? percent(*each.of_nominal) : dash});
  return row;
}

void append_section(std::string_view title, const std::vector<std::string>& lines, const Style& style, std::string& out) {
  if (lines.empty()) return;
  out += "\n" + style.paint(title, Color::kBold) + "\n";
  for (const std::string& text : lines) {
    std::string indent = "  ";
    for (const std::string& line : wrap(printable(text), std::max(20, style.width - 4))) {
      out += indent + line + "\n";
      indent = "    ";
    }
  }
}

std::string shortfall_text(const ClassVerdict& each) {
  const Spread& spread = *each.of_ceiling;
  std::string text = fmt::format("{}: {} of its ceiling", each.name, percent(spread.median));
  if (spread.cases > 1) {
    text += fmt::format(" (median of {} cases); lowest {} at {}", spread.cases, each.slowest->problem, percent(spread.low));
  } else {
    text += fmt::format(" ({})", each.slowest->problem);
  }
  return text + (each.reasons.empty() ? ": nothing recorded tells why; `hbmark show -v` has the implementation used"
                                      : fmt::format(": likely {}", fmt::join(each.reasons, "; ")));
}

std::vector<std::string> shortfall_lines(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const ClassVerdict* each : verdict.shortfall) {
    if (lines.size() == kClassesExplained) {
      lines.push_back(fmt::format("and {} more below {}: --format json has all", verdict.shortfall.size() - lines.size(),
                                  percent(kGood)));
      break;
    }
    lines.push_back(shortfall_text(*each));
  }
  const bool any_ceiling =
      std::any_of(verdict.classes.begin(), verdict.classes.end(), [](const auto& each) { return each.of_ceiling; });
  if (lines.empty()) {
    lines.push_back(any_ceiling
                        ? fmt::format("none: every class with a ceiling reaches {} of it in its median case", percent(kGood))
                        : "cannot be told: no ceiling applies to any case of this run");
  }
  return lines;
}

std::vector<std::string> finding_lines(const Findings& findings) {
  std::vector<std::string> lines;
  std::int64_t good = 0;
  for (const topology::Finding& finding : findings.list) {
    if (finding.severity != topology::Severity::kWarning && finding.severity != topology::Severity::kProblem) {
      ++good;
      continue;
    }
    lines.push_back(fmt::format("{} {}: {}{}{}", severity_word(finding.severity), finding.id, finding.observed,
                                finding.advice.empty() ? "" : "; ", finding.advice));
  }
  if (good > 0)
    lines.push_back(fmt::format("{} finding{} without warning: `hbmark doctor` lists them", good, good == 1 ? "" : "s"));
  lines.push_back(findings.when);
  return lines;
}

std::vector<std::string> gap_lines(const Verdict& verdict) {
  std::vector<std::string> lines;
  for (const Gap& gap : verdict.gaps) lines.push_back(gap.why.empty() ? gap.what : gap.what + ": " + gap.why);
  return lines;
}

std::vector<std::string> level_lines(const std::vector<MemoryLevel>& levels) {
  std::vector<std::string> lines;
  for (const MemoryLevel& level : levels) lines.push_back(level.sweep + ": " + level.text);
  return lines;
}

}  // namespace

std::string render_verdict(const RunView& view, const Verdict& verdict, const Findings& findings,
                           const std::vector<MemoryLevel>& levels, const Style& style) {
  std::string out = run_heading(view, style);
  if (view.results.empty()) return out + "no result was stored\n";
  Table table;
  table.columns = {{"class", false, true}, {"ok", true},     {"best", true},   {"95 %", true}, {"n", true},
                   {"ceiling", true},      {"spread", true}, {"nominal", true}};
  for (const ClassVerdict& each : verdict.classes) table.rows.push_back(class_row(each, style));
  out += render(table, style);
  append_section("Slowest classes", shortfall_lines(verdict), style, out);
  append_section("Doubtful ceilings", verdict.doubts, style, out);
  append_section("Memory levels", level_lines(levels), style, out);
  append_section("The machine", finding_lines(findings), style, out);
  append_section("Not measured", gap_lines(verdict), style, out);
  append_section("Nominal figures", {verdict.nominal}, style, out);
  append_section("Columns",
                 {"best: highest rate of a case, with the interval of its median time and its samples",
                  "ceiling: share of what peak and stream measured with the same threads, median over the cases; spread: "
                  "lowest to highest case (no interval: they are different problems)",
                  "nominal: of `best`, where a data sheet's figure is known"},
                 style, out);
  return out;
}

}  // namespace hbmark::cli
