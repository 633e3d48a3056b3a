#include "bench/cli/plots.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <optional>

#include "bench/cli/canvas.h"
#include "bench/cli/sweeps.h"
#include "bench/cli/verdict.h"
#include "bench/problems/problem.h"
#include "bench/run/ceilings.h"

namespace hbmark::cli {
namespace {

constexpr int kMargin = 16;  // labels of the axis
constexpr int kMaxColumns = 100;
constexpr int kRows = 16;
constexpr std::size_t kMaxDrawings = 8;
constexpr std::string_view kGlyphs = "abcdefghijklmnopqrstuvwxyz";

struct Roof {
  std::string device, type;
  std::int64_t threads = 0;
  std::optional<double> flop_per_s, bytes_per_s;
  std::vector<const ResultRecord*> points;
};

void keep_greater(std::optional<double>& into, const std::optional<double>& value) {
  if (value) into = std::max(into.value_or(0), *value);
}

// Of each device, type and number of threads: its ceilings, and the results that have an intensity.
std::vector<Roof> roofs_of(const RunView& view, const topology::Node& node) {
  std::vector<Roof> roofs;
  std::map<std::pair<std::string, std::int64_t>, std::optional<double>> bandwidth;
  for (const ResultRecord& result : view.results) {
    if (result.outcome != Outcome::kOk || !result.time) continue;
    keep_greater(bandwidth[{result.device, result.threads}], result.ceiling_bytes_per_s);
    const auto rate = rate_of(result);
    // The only stream of a run has no ceiling, and is one.
    if (rate && result.kernel == "stream" && !class_name(result, node).ends_with(kInCaches)) {
      keep_greater(bandwidth[{result.device, result.threads}], rate->per_s);
    }
    if (!rate || rate->unit != "FLOP/s") continue;
    const auto problem = parse_problem(result.problem);
    const std::string type = problem ? type_word(*problem) : "";
    auto roof = std::find_if(roofs.begin(), roofs.end(), [&](const Roof& each) {
      return each.device == result.device && each.type == type && each.threads == result.threads;
    });
    if (roof == roofs.end()) roof = roofs.insert(roofs.end(), {result.device, type, result.threads, {}, {}, {}});
    if (result.kernel == "peak") {
      keep_greater(roof->flop_per_s, rate->per_s);
    } else {
      keep_greater(roof->flop_per_s, result.ceiling_flop_per_s);
      if (result.bytes && *result.bytes > 0) roof->points.push_back(&result);
    }
  }
  for (Roof& roof : roofs) roof.bytes_per_s = bandwidth[{roof.device, roof.threads}];
  std::erase_if(roofs, [](const Roof& roof) { return roof.points.empty(); });
  return roofs;
}

double intensity(const ResultRecord& result) { return *result.flop / *result.bytes; }

void draw_roof(const Roof& roof, Canvas& canvas, const Axis& x) {
  if (!roof.flop_per_s) return;
  const double ridge = roof.bytes_per_s ? *roof.flop_per_s / *roof.bytes_per_s : x.low;
  if (roof.bytes_per_s) canvas.line(x.low, x.low * *roof.bytes_per_s, ridge, *roof.flop_per_s);
  canvas.line(ridge, *roof.flop_per_s, x.high, *roof.flop_per_s);
}

void append_wrapped(const std::string& text, const Style& style, std::string& out) {
  std::string indent = "  ";
  for (const std::string& line : wrap(printable(text), std::max(20, style.width - 4))) {
    out += indent + line + '\n';
    indent = "    ";
  }
}

std::string roofline(const Roof& roof, const topology::Node& node, const Style& style) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const ResultRecord* point : roof.points) {
    xs.push_back(intensity(*point));
    ys.push_back(rate_of(*point)->per_s);
  }
  if (roof.flop_per_s) ys.push_back(*roof.flop_per_s);
  if (roof.flop_per_s && roof.bytes_per_s) xs.push_back(*roof.flop_per_s / *roof.bytes_per_s);
  const Axis x = axis_around(xs, "", false);
  Canvas canvas(std::min(kMaxColumns, style.width - kMargin), kRows, x, axis_around(ys, "FLOP/s", false), style.utf8);
  draw_roof(roof, canvas, x);
  std::vector<std::string> classes;
  std::vector<std::string> legend;
  std::map<std::string, std::pair<double, double>> span;
  std::map<std::string, int> count;
  for (const ResultRecord* point : roof.points) {
    const std::string name = class_name(*point, node);
    const double per_s = rate_of(*point)->per_s;
    if (std::find(classes.begin(), classes.end(), name) == classes.end()) classes.push_back(name);
    auto [at, fresh] = span.try_emplace(name, per_s, per_s);
    if (!fresh) at->second = {std::min(at->second.first, per_s), std::max(at->second.second, per_s)};
    ++count[name];
    const auto index = static_cast<std::size_t>(std::find(classes.begin(), classes.end(), name) - classes.begin());
    canvas.mark(intensity(*point), per_s, kGlyphs[std::min(index, kGlyphs.size() - 1)]);
  }
  std::string out = style.paint(fmt::format("Roofline, {}, {} thread{}, {}", roof.type, roof.threads,
                                            roof.threads == 1 ? "" : "s", roof.device),
                                Color::kBold) +
                    "\n";
  out += canvas.render(style) + std::string(kMargin - 2, ' ') + "FLOP a byte (operands moved once)\n";
  for (std::size_t i = 0; i < classes.size(); ++i) {
    const auto& [low, high] = span[classes[i]];
    const std::string rates =
        low == high ? si(low, "FLOP/s", style, 3) : si(low, "FLOP/s", style, 3) + " to " + si(high, "FLOP/s", style, 3);
    append_wrapped(fmt::format("{}  {}: {}, {} case{}", kGlyphs[std::min(i, kGlyphs.size() - 1)], classes[i], rates,
                               count[classes[i]], count[classes[i]] == 1 ? "" : "s"),
                   style, out);
  }
  if (canvas.shared()) {
    append_wrapped(fmt::format("{}  marks of several classes in one place", Canvas::kShared), style, out);
  }
  append_wrapped(roof.flop_per_s ? fmt::format("peak measured: {}", si(*roof.flop_per_s, "FLOP/s", style, 3))
                                 : "no peak was measured with these threads and this type: no roof is drawn",
                 style, out);
  append_wrapped(roof.bytes_per_s ? fmt::format("bandwidth measured: {} (operands in caches may lie above it)",
                                                si(*roof.bytes_per_s, "B/s", style, 3))
                                  : "no bandwidth beyond the caches was measured with these threads: the slope is missing",
                 style, out);
  return out;
}

std::string draw_sweep(const Sweep& sweep, const topology::Node& node, const Style& style) {
  std::vector<double> xs;
  std::vector<double> ys;
  for (const stats::CurvePoint& point : sweep.points) {
    xs.push_back(point.x);
    ys.push_back(point.value);
  }
  Canvas canvas(std::min(kMaxColumns, style.width - kMargin), kRows, axis_around(xs, "", sweep.of_memory),
                axis_around(ys, sweep.unit, false), style.utf8);
  for (std::size_t i = 1; i < sweep.points.size(); ++i) {
    canvas.line(sweep.points[i - 1].x, sweep.points[i - 1].value, sweep.points[i].x, sweep.points[i].value);
  }
  for (const stats::CurvePoint& point : sweep.points) canvas.mark(point.x, point.value, 'o');
  std::string out = style.paint(printable(sweep.name), Color::kBold) + "\n" + canvas.render(style) +
                    std::string(kMargin - 2, ' ') + sweep.over + "\n";
  double widest = 0;
  std::int64_t least = sweep.results.front()->time->samples;
  std::int64_t without = 0;
  for (const ResultRecord* result : sweep.results) {
    const auto half_width = half_width_of(*result->time);
    if (half_width) {
      widest = std::max(widest, *half_width);
    } else {
      ++without;
    }
    least = std::min(least, result->time->samples);
  }
  append_wrapped(
      fmt::format("{} medians of {} samples or more, 95 % intervals up to {}{}", sweep.points.size(), least,
                  widest > 1 ? "more than the median itself" : fmt::format("{}{}", style.plus_minus(), percent(widest)),
                  without > 0 ? fmt::format(", {} without one", without) : ""),
      style, out);
  for (const std::string& text : level_texts(sweep, node, style)) append_wrapped(text, style, out);
  return out;
}

}  // namespace

std::vector<MemoryLevel> memory_levels(const RunView& view, const topology::Node& node, const Style& style) {
  std::vector<MemoryLevel> levels;
  for (const Sweep& sweep : find_sweeps(view)) {
    for (std::string& text : level_texts(sweep, node, style)) levels.push_back({sweep.name, std::move(text)});
  }
  return levels;
}

std::string render_plots(const RunView& view, const topology::Node& node, const Style& style) {
  std::vector<std::string> drawings;
  for (const Roof& roof : roofs_of(view, node)) drawings.push_back(roofline(roof, node, style));
  for (const Sweep& sweep : find_sweeps(view)) drawings.push_back(draw_sweep(sweep, node, style));
  std::string out = run_heading(view, style);
  if (drawings.empty()) {
    append_wrapped(
        "Nothing to draw: no ok result has operations and bytes, and no four results differ in one number alone. "
        "Sweeps come from `hbmark run --suite memory-sweep` or --problems with sizes.",
        style, out);
    return out;
  }
  for (std::size_t i = 0; i < std::min(drawings.size(), kMaxDrawings); ++i) out += (i > 0 ? "\n" : "") + drawings[i];
  if (drawings.size() > kMaxDrawings) {
    append_wrapped(
        fmt::format("{} more drawings were left out: measure them in runs of their own", drawings.size() - kMaxDrawings),
        style, out);
  }
  return out;
}

}  // namespace hbmark::cli
