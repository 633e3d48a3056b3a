// Words for error messages about input: quoting what stood there, and guessing what was meant.
//
// Pure, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace hbmark::text {

// In double quotes, control characters and bytes beyond ASCII as \xNN, cut after `limit` characters with "...".
std::string quote(std::string_view given, std::size_t limit = 80);

// The candidate with the fewest edits (insert, delete, replace, swap neighbours), if few enough to be a slip of the hand:
// at most a third of the longer word, at least 1. Empty: none is near.
std::string_view nearest(std::string_view given, std::span<const std::string_view> candidates);

// "a, b or c".
std::string alternatives(std::span<const std::string_view> words);

// ` (did you mean "gemm"?)`, or "" when nothing is near.
std::string did_you_mean(std::string_view given, std::span<const std::string_view> candidates);

// "1.25 GiB", "64 B": four digits.
std::string bytes_text(std::uint64_t bytes);

// A whole number in its one canonical form: digits, no sign, no leading zero, from low to high. Else `why` says what is
// wrong and what may stand there.
bool read_number(std::string_view given, std::int64_t low, std::int64_t high, std::int64_t& value, std::string& why);

}  // namespace hbmark::text
