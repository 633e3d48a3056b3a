#include "bench/problems/text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <vector>

namespace hbmark::text {
namespace {

// Optimal string alignment distance (Damerau-Levenshtein without overlapping swaps).
std::size_t edits(std::string_view a, std::string_view b) {
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i) d[i][0] = i;
  for (std::size_t j = 0; j <= b.size(); ++j) d[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const std::size_t differs = a[i - 1] == b[j - 1] ? 0 : 1;
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, d[i - 1][j - 1] + differs});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  }
  return d[a.size()][b.size()];
}

}  // namespace

std::string quote(std::string_view given, std::size_t limit) {
  std::string out = "\"";
  for (const char c : given.substr(0, limit)) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (byte < 0x20 || byte >= 0x7f) {
      out += fmt::format("\\x{:02x}", byte);
    } else {
      out += c;
    }
  }
  out += '"';
  if (given.size() > limit) out += fmt::format("... ({} characters)", given.size());
  return out;
}

std::string_view nearest(std::string_view given, std::span<const std::string_view> candidates) {
  std::string_view best;
  std::size_t fewest = 0;
  if (given.empty() || given.size() > 64) return best;
  for (const auto candidate : candidates) {
    const auto allowed = std::max<std::size_t>(1, std::max(given.size(), candidate.size()) / 3);
    const auto count = edits(given, candidate);
    if (count > allowed || count >= std::max(given.size(), candidate.size())) continue;
    if (best.empty() || count < fewest) {
      best = candidate;
      fewest = count;
    }
  }
  return best;
}

std::string alternatives(std::span<const std::string_view> words) {
  std::string out;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != 0) out += i + 1 == words.size() ? " or " : ", ";
    out += words[i];
  }
  return out;
}

std::string did_you_mean(std::string_view given, std::span<const std::string_view> candidates) {
  const auto guess = nearest(given, candidates);
  return guess.empty() ? std::string() : fmt::format(" (did you mean \"{}\"?)", guess);
}

bool read_number(std::string_view given, std::int64_t low, std::int64_t high, std::int64_t& value, std::string& why) {
  const auto is_digit = [](char c) { return c >= '0' && c <= '9'; };
  const std::string wanted = fmt::format("a whole number from {} to {} must stand there", low, high);
  if (given.empty()) {
    why = fmt::format("is empty; {}", wanted);
    return false;
  }
  const bool negative = given.front() == '-' && given.size() > 1 && std::all_of(given.begin() + 1, given.end(), is_digit);
  if (!negative && !std::all_of(given.begin(), given.end(), is_digit)) {
    why = fmt::format("is {}, not plain digits; {}", quote(given, 40), wanted);
    return false;
  }
  if (negative) {
    why = fmt::format("is {}, a negative number; {}", quote(given, 40), wanted);
    return false;
  }
  if (given.size() > 1 && given.front() == '0') {
    why = fmt::format("is {}, with a leading zero; {}", quote(given, 40), wanted);
    return false;
  }
  const auto [end, code] = std::from_chars(given.data(), given.data() + given.size(), value);
  if (code != std::errc() || end != given.data() + given.size() || value < low || value > high) {
    why = fmt::format("is {}, out of range; {}", quote(given, 40), wanted);
    return false;
  }
  return true;
}

std::string bytes_text(std::uint64_t bytes) {
  constexpr std::array<const char*, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes) / 1024;
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < kUnits.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, kUnits[unit]);
}

}  // namespace hbmark::text
