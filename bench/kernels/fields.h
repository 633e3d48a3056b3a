// Makers of grammar fields, so that a kernel's table reads as one line a field. Pure.
#pragma once

#include <limits>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/kernels/kernel.h"

namespace hbmark::fields {

// Libraries index dimensions by 32 bits.
constexpr std::int64_t kMaxDimension = std::numeric_limits<std::int32_t>::max();

// `unless_given`: what a CSV without that column means; empty: the column is required.
inline FieldSpec word(std::string_view name, std::string_view summary, std::vector<std::string_view> allowed,
                      std::string_view unless_given = {}) {
  FieldSpec field{};
  field.kind = FieldSpec::Kind::kWord;
  field.name = name;
  field.summary = summary;
  field.allowed = std::move(allowed);
  field.default_word = unless_given;
  return field;
}

inline FieldSpec dimension(std::string_view name, std::string_view summary, std::int64_t min = 1,
                           std::vector<std::string_view> csv_aliases = {}) {
  FieldSpec field{};
  field.kind = FieldSpec::Kind::kDimension;
  field.name = name;
  field.summary = summary;
  field.min = min;
  field.max = kMaxDimension;
  field.csv_aliases = std::move(csv_aliases);
  return field;
}

inline FieldSpec option(std::string_view name, std::string_view summary, std::vector<std::string_view> csv_aliases = {}) {
  FieldSpec field = dimension(name, summary, 1, std::move(csv_aliases));
  field.kind = FieldSpec::Kind::kOptionNumber;
  field.default_number = 1;
  return field;
}

inline FieldSpec option_word(std::string_view name, std::string_view summary, std::vector<std::string_view> allowed) {
  FieldSpec field = word(name, summary, std::move(allowed));
  field.kind = FieldSpec::Kind::kOptionWord;
  field.default_word = field.allowed.front();
  return field;
}

}  // namespace hbmark::fields
