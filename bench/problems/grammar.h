// Building a problem field by field, whatever the fields come from: a problem string, a CSV row or a suite's table.
//
// Pure, thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/problems/problem.h"

namespace hbmark::grammar {

inline bool is_word(const FieldSpec& field) {
  return field.kind == FieldSpec::Kind::kWord || field.kind == FieldSpec::Kind::kOptionWord;
}
inline bool is_option(const FieldSpec& field) {
  return field.kind == FieldSpec::Kind::kOptionNumber || field.kind == FieldSpec::Kind::kOptionWord;
}

// Appends the field's value to the problem. Empty: done; else what is wrong with the text and what may stand there.
std::string put(Problem& problem, const FieldSpec& field, std::string_view text);
// Appends the option's default.
void put_default(Problem& problem, const FieldSpec& field);

std::vector<std::string_view> field_names(const KernelSpec& kernel);
std::vector<std::string_view> kernel_names();

// `field k (what it is)`.
std::string describe(const FieldSpec& field);

// The kernel's own validation and the limits that hold for all: the operands together fit 2^62 bytes.
Status validate(const Problem& problem);

}  // namespace hbmark::grammar
