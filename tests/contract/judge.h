// What the outputs of a contract problem must be, and how far off a backend may be. Expected values come from the reference
// plugin (itself held against independent arithmetic in reference_test.cpp); the scale of an element is what the reference
// gives for the absolute values of the inputs, so that cancellation is not taken for an error.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/contract/driver.h"
#include "tests/contract/problems.h"

namespace hbmark::tests {

struct Expected {
  std::vector<double> values;
  std::vector<double> scale;
  std::vector<hbmark_operand> operands;  // as the reference lists them
  // Where more than one output is right (a chase goes on from call to call): empty, or what is wrong. Null: `values` it is.
  std::function<std::string(const std::vector<double>& got)> holds;
};

// Fails the test when the reference is absent or does not know the problem. `seed` as for make_input.
Expected expect(const ContractKernel& kernel, const ContractProblem& problem, std::uint64_t seed);

// Empty when `got` is right; else which element is wrong and by how much.
std::string judge(const ContractProblem& problem, const Expected& expected, const std::vector<double>& got,
                  std::uint32_t algorithm_class);

}  // namespace hbmark::tests
