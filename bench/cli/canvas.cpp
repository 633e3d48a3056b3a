#include "bench/cli/canvas.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace hbmark::cli {
namespace {

constexpr int kLabelWidth = 14;
constexpr int kDotsAcross = 2;  // of a braille cell
constexpr int kDotsUp = 4;

// The bit of each dot of a braille character, from the top row down (Unicode chapter 21.1: U+2800 plus these).
constexpr std::array<std::array<unsigned, kDotsAcross>, kDotsUp> kBits = {
    {{0x01, 0x08}, {0x02, 0x10}, {0x04, 0x20}, {0x40, 0x80}}};

std::string braille(unsigned bits) {
  const unsigned code = 0x2800U + bits;
  return {static_cast<char>(0xE0U | (code >> 12U)), static_cast<char>(0x80U | ((code >> 6U) & 0x3FU)),
          static_cast<char>(0x80U | (code & 0x3FU))};
}

std::string label(double value, const Axis& axis, const Style& style) {
  if (axis.binary) return binary_bytes(static_cast<std::uint64_t>(std::llround(value)));
  return axis.unit.empty() ? fmt::format("{:.4g}", value) : si(value, axis.unit, style, 3);
}

double share(double value, const Axis& axis) {
  return (std::log(value) - std::log(axis.low)) / (std::log(axis.high) - std::log(axis.low));
}

// Where labels stand: few enough to be read.
std::vector<double> ticks(const Axis& axis, int most) {
  const double base = axis.binary ? 2 : 10;
  const auto first = static_cast<int>(std::ceil(std::log(axis.low) / std::log(base) - 1e-9));
  const auto last = static_cast<int>(std::floor(std::log(axis.high) / std::log(base) + 1e-9));
  const int step = std::max(1, (last - first + most) / most);
  std::vector<double> values;
  for (int power = first; power <= last; power += step) values.push_back(std::pow(base, power));
  if (values.size() < 2) values = {axis.low, axis.high};
  return values;
}

}  // namespace

Canvas::Canvas(int columns, int rows, Axis x, Axis y, bool utf8)
    : columns_(std::max(10, columns)),
      rows_(std::max(4, rows)),
      x_(std::move(x)),
      y_(std::move(y)),
      utf8_(utf8),
      dots_(static_cast<std::size_t>(columns_) * static_cast<std::size_t>(rows_), 0),
      marks_(dots_.size(), 0) {}

double Canvas::across(double x) const { return share(x, x_); }
double Canvas::up(double y) const { return share(y, y_); }

void Canvas::dot(double at_across, double at_up) {
  if (!(at_across >= 0 && at_across <= 1 && at_up >= 0 && at_up <= 1)) return;
  const int dot_x = std::min(columns_ * kDotsAcross - 1, static_cast<int>(at_across * columns_ * kDotsAcross));
  const int dot_y = std::min(rows_ * kDotsUp - 1, static_cast<int>((1 - at_up) * rows_ * kDotsUp));
  const auto cell = static_cast<std::size_t>(dot_y / kDotsUp * columns_ + dot_x / kDotsAcross);
  dots_[cell] |= kBits[static_cast<std::size_t>(dot_y % kDotsUp)][static_cast<std::size_t>(dot_x % kDotsAcross)];
}

void Canvas::line(double x0, double y0, double x1, double y1) {
  const int steps = 4 * std::max(columns_ * kDotsAcross, rows_ * kDotsUp);
  for (int i = 0; i <= steps; ++i) {
    const double t = static_cast<double>(i) / steps;
    dot(across(x0) + t * (across(x1) - across(x0)), up(y0) + t * (up(y1) - up(y0)));
  }
}

void Canvas::mark(double x, double y, char glyph) {
  const double at_across = across(x);
  const double at_up = up(y);
  if (!(at_across >= 0 && at_across <= 1 && at_up >= 0 && at_up <= 1)) return;
  const int column = std::min(columns_ - 1, static_cast<int>(at_across * columns_));
  const int row = std::min(rows_ - 1, static_cast<int>((1 - at_up) * rows_));
  char& cell = marks_[static_cast<std::size_t>(row * columns_ + column)];
  cell = cell == 0 || cell == glyph ? glyph : kShared;
}

bool Canvas::shared() const { return std::find(marks_.begin(), marks_.end(), kShared) != marks_.end(); }

std::string Canvas::render(const Style& style) const {
  std::vector<std::string> labels(static_cast<std::size_t>(rows_));
  for (const double value : ticks(y_, rows_ / 2)) {
    const int row = std::clamp(static_cast<int>((1 - up(value)) * rows_), 0, rows_ - 1);
    labels[static_cast<std::size_t>(row)] = label(value, y_, style);
  }
  std::string out;
  for (int row = 0; row < rows_; ++row) {
    const std::string& text = labels[static_cast<std::size_t>(row)];
    out += std::string(static_cast<std::size_t>(std::max(0, kLabelWidth - 2 - display_width(text))), ' ') + text;
    out += utf8_ ? (text.empty() ? " │" : " ┤") : (text.empty() ? " |" : " +");
    std::string line;
    for (int column = 0; column < columns_; ++column) {
      const auto cell = static_cast<std::size_t>(row * columns_ + column);
      if (marks_[cell] != 0) {
        line += style.paint(std::string(1, marks_[cell]), Color::kBold);
      } else if (dots_[cell] == 0) {
        line += ' ';
      } else {
        line += utf8_ ? braille(dots_[cell]) : ".";
      }
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
  std::string axis;
  for (int column = 0; column < columns_; ++column) axis += utf8_ ? "─" : "-";
  out += std::string(kLabelWidth - 1, ' ') + (utf8_ ? "└" : "+") + axis + '\n';
  std::string beneath(static_cast<std::size_t>(kLabelWidth), ' ');
  for (const double value : ticks(x_, columns_ / 12)) {
    const std::string text = label(value, x_, style);
    const int at = kLabelWidth + std::clamp(static_cast<int>(across(value) * columns_), 0, columns_ - 1);
    const int start = std::min(at, kLabelWidth + columns_ - display_width(text));
    if (display_width(beneath) > start || (display_width(beneath) == start && start > kLabelWidth)) continue;
    beneath.append(static_cast<std::size_t>(start - display_width(beneath)), ' ');
    beneath += text;
  }
  return out + beneath + '\n';
}

Axis axis_around(const std::vector<double>& values, std::string unit, bool binary) {
  Axis axis{1, 10, std::move(unit), binary};
  std::vector<double> usable;
  std::copy_if(values.begin(), values.end(), std::back_inserter(usable),
               [](double value) { return value > 0 && std::isfinite(value); });
  if (usable.empty()) return axis;
  const double base = binary ? 2 : std::sqrt(10.0);
  const auto [low, high] = std::minmax_element(usable.begin(), usable.end());
  axis.low = std::pow(base, std::floor(std::log(*low) / std::log(base) - 0.05));
  axis.high = std::pow(base, std::ceil(std::log(*high) / std::log(base) + 0.05));
  return axis;
}

}  // namespace hbmark::cli
