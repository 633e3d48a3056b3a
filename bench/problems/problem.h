// A problem: a kernel with all its numbers, and its canonical string, the key in the store and what a user pastes.
//
//   gemm:f32:nn:m1024n1024k1024[/batch=8]      words between colons, a run of named numbers, options in one fixed order
//
// One grammar table a kernel (bench/kernels/*.cpp) drives parsing, printing and CSV columns: print(parse(s)) == s for every
// canonical s, parse(print(p)) == p for every valid p. An option at its default is not printed. Immutable plain data.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "results/base/result.h"

namespace hbmark {

struct KernelSpec;  // bench/kernels/kernel.h

struct Problem {
  const KernelSpec* kernel = nullptr;                         // static table
  std::vector<std::pair<std::string, std::string>> words;     // field name -> word, in grammar order, options included
  std::vector<std::pair<std::string, std::int64_t>> numbers;  // field name -> number, in grammar order, options included

  // Both end the program on a name the grammar does not have: that is a bug.
  const std::string& word(std::string_view name) const;
  std::int64_t number(std::string_view name) const;

  bool operator==(const Problem&) const = default;
};

// Errors (usage) name the field, what stood there and what may stand there.
Result<Problem> parse_problem(std::string_view text);
std::string to_string(const Problem& problem);

}  // namespace hbmark
