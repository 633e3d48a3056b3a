#include "bench/cli/text.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace hbmark::cli {
namespace {

bool continues_code_point(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// Byte offset of the code point number `index`, or the size of the text.
std::size_t offset_of(std::string_view text, int index) {
  int seen = -1;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (continues_code_point(text[i])) continue;
    if (++seen == index) return i;
  }
  return text.size();
}

// `digits` significant digits without an exponent for values in [1, 1000).
std::string significant(double value, int digits) {
  const double magnitude = std::abs(value);
  const int before = magnitude >= 100 ? 3 : magnitude >= 10 ? 2 : 1;
  return fmt::format("{:.{}f}", value, std::max(0, digits - before));
}

}  // namespace

std::string Style::paint(std::string_view text, Color color_of_text) const {
  if (!color || color_of_text == Color::kNone || text.empty()) return std::string(text);
  std::string_view code = "0";
  switch (color_of_text) {
    case Color::kRed:
      code = "31";
      break;
    case Color::kYellow:
      code = "33";
      break;
    case Color::kGreen:
      code = "32";
      break;
    case Color::kBold:
      code = "1";
      break;
    case Color::kDim:
      code = "2";
      break;
    case Color::kNone:
      break;
  }
  return fmt::format("\x1b[{}m{}\x1b[0m", code, text);
}

int display_width(std::string_view text) {
  return static_cast<int>(std::count_if(text.begin(), text.end(), [](char c) { return !continues_code_point(c); }));
}

std::string printable(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x20 || byte == 0x7F) c = byte == '\n' || byte == '\t' ? ' ' : '?';
  }
  return out;
}

std::string elide_middle(std::string_view text, int width, const Style& style) {
  const int have = display_width(text);
  if (have <= width) return std::string(text);
  const int mark = display_width(style.ellipsis());
  if (width <= mark) return std::string(text.substr(0, offset_of(text, std::max(0, width))));
  const int head = (width - mark + 1) / 2;
  const int tail = width - mark - head;
  return fmt::format("{}{}{}", text.substr(0, offset_of(text, head)), style.ellipsis(),
                     text.substr(offset_of(text, have - tail)));
}

std::vector<std::string> wrap(std::string_view text, int width) {
  std::vector<std::string> lines(1);
  std::size_t at = 0;
  while (at < text.size()) {
    const std::size_t start = text.find_first_not_of(" \n\t", at);
    if (start == std::string_view::npos) break;
    const std::size_t end = std::min(text.find_first_of(" \n\t", start), text.size());
    const std::string_view word = text.substr(start, end - start);
    const bool first = lines.back().empty();
    if (!first && display_width(lines.back()) + 1 + display_width(word) > width) {
      lines.emplace_back(word);
    } else {
      lines.back().append(first ? "" : " ").append(word);
    }
    at = end;
  }
  return lines;
}

std::string si(double value, std::string_view unit, const Style& style, int digits) {
  if (!std::isfinite(value)) return std::string(style.dash());
  if (value == 0) return fmt::format("0 {}", unit);
  const std::array<std::string_view, 11> prefixes = {"p", "n", style.micro(), "m", "", "k", "M", "G", "T", "P", "E"};
  constexpr int kNoPrefix = 4;
  int exponent = static_cast<int>(std::floor(std::log10(std::abs(value)) / 3));
  exponent = std::clamp(exponent, -kNoPrefix, static_cast<int>(prefixes.size()) - 1 - kNoPrefix);
  double scaled = value / std::pow(1000.0, exponent);
  std::string number = significant(scaled, digits);
  // 999.96 prints as 1000.0 with four digits: that is 1.000 of the next prefix.
  if (std::abs(std::stod(number)) >= 1000 && exponent < static_cast<int>(prefixes.size()) - 1 - kNoPrefix) {
    ++exponent;
    scaled /= 1000;
    number = significant(scaled, digits);
  }
  return fmt::format("{} {}{}", number, prefixes.at(static_cast<std::size_t>(exponent + kNoPrefix)), unit);
}

std::string binary_bytes(std::uint64_t bytes) {
  static constexpr std::array<std::string_view, 7> kUnits = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  auto value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  const bool whole = value == std::floor(value) || value >= 100;
  return fmt::format("{:.{}f} {}", value, whole ? 0 : value >= 10 ? 1 : 2, kUnits.at(unit));
}

std::string percent(double fraction) {
  if (!std::isfinite(fraction)) return "-";
  const double value = fraction * 100;
  const double magnitude = std::abs(value);
  if (magnitude > 0 && magnitude < 0.005) return "<0.01 %";
  const int decimals = magnitude >= 9.95 ? 0 : magnitude >= 0.995 ? 1 : 2;
  return fmt::format("{:.{}f} %", value, decimals);
}

std::string duration(double seconds) {
  if (!std::isfinite(seconds) || seconds < 0) return "-";
  if (seconds < 9.95) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(std::min(seconds, 1e15)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {:02} s", whole / 60, whole % 60);
  return fmt::format("{} h {:02} min", whole / 3600, whole % 3600 / 60);
}

std::string one_of(const std::vector<std::string>& words) {
  std::string text;
  for (std::size_t i = 0; i < words.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  return text;
}

std::string ranges(std::vector<int> numbers) {
  std::sort(numbers.begin(), numbers.end());
  numbers.erase(std::unique(numbers.begin(), numbers.end()), numbers.end());
  std::string out;
  for (std::size_t i = 0; i < numbers.size();) {
    std::size_t last = i;
    while (last + 1 < numbers.size() && numbers[last + 1] == numbers[last] + 1) ++last;
    if (!out.empty()) out += ',';
    out += last == i ? fmt::format("{}", numbers[i]) : fmt::format("{}-{}", numbers[i], numbers[last]);
    i = last + 1;
  }
  return out;
}

}  // namespace hbmark::cli
