// Text for people: which characters may be used, how wide a text is, eliding and wrapping, numbers with units.
//
// Pure functions, thread-safe. Widths are counted in code points (what the project prints is one column wide each).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hbmark::cli {

enum class Color { kNone, kRed, kYellow, kGreen, kBold, kDim };

// How a text is to look where it goes: decided once (terminal.h), handed to every renderer.
struct Style {
  bool utf8 = false;
  bool color = false;
  int width = 100;

  std::string paint(std::string_view text, Color color_of_text) const;
  std::string_view ellipsis() const { return utf8 ? "…" : "..."; }
  std::string_view plus_minus() const { return utf8 ? "±" : "+-"; }
  std::string_view micro() const { return utf8 ? "µ" : "u"; }
  std::string_view dash() const { return "-"; }
  std::string_view times() const { return utf8 ? "×" : "x"; }
};

int display_width(std::string_view text);

// Control characters (a label, a library's message) as '?', so that stored text cannot drive the terminal.
std::string printable(std::string_view text);

// At most `width` columns; the middle is replaced by an ellipsis when it is longer.
std::string elide_middle(std::string_view text, int width, const Style& style);

// Lines of at most `width` columns, broken at blanks; a longer word stands alone, uncut.
std::vector<std::string> wrap(std::string_view text, int width);

// 0.0012345, "s" -> "1.234 ms": an SI prefix and `digits` significant digits.
std::string si(double value, std::string_view unit, const Style& style, int digits = 4);

// 34359738368 -> "32 GiB", 1536 -> "1.5 KiB".
std::string binary_bytes(std::uint64_t bytes);

// 0.834 -> "83 %", 0.0083 -> "0.83 %": two significant digits below 100 %.
std::string percent(double fraction);

// "0.8 s", "12 s", "3 min 05 s", "2 h 04 min".
std::string duration(double seconds);

// {"a", "b", "c"} -> "a, b or c".
std::string one_of(const std::vector<std::string>& words);

// Sorted numbers as ranges: {0,1,2,5} -> "0-2,5". The input's order does not matter.
std::string ranges(std::vector<int> numbers);

}  // namespace hbmark::cli
