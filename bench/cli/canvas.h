// A drawing of characters with logarithmic axes: braille dots where the terminal speaks UTF-8, plain letters elsewhere.
//
// Plain value, not thread-safe. What lies outside the ranges is cut off.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/text.h"

namespace hbmark::cli {

struct Axis {
  double low = 1, high = 10;  // positive, low < high
  std::string unit;           // "FLOP/s"
  bool binary = false;        // labels as binary bytes
};

class Canvas {
 public:
  Canvas(int columns, int rows, Axis x, Axis y, bool utf8);

  void line(double x0, double y0, double x1, double y1);  // straight between the two in the drawing
  void mark(double x, double y, char glyph);              // over any line; other glyphs in one cell make kShared

  static constexpr char kShared = '*';
  bool shared() const;  // is there such a cell?

  // Axes with labels on the left and beneath; width is columns + the labels' (14).
  std::string render(const Style& style) const;

 private:
  double across(double x) const;  // 0 to 1
  double up(double y) const;
  void dot(double across, double up);

  int columns_, rows_;
  Axis x_, y_;
  bool utf8_;
  std::vector<unsigned> dots_;  // a cell: braille's eight bits
  std::vector<char> marks_;     // a cell: 0 or a glyph
};

// Around the values, up to the next half decade outwards (or octave, for bytes). Of no positive value: 1 to 10.
Axis axis_around(const std::vector<double>& values, std::string unit, bool binary);

}  // namespace hbmark::cli
