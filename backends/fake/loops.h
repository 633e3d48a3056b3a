// The fake's own arithmetic and its own way to write a problem down. f32 and f64; shares nothing with the oracle.
// Pure, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "backends/sdk/backend.h"

namespace hbmark::fake {

struct Array {
  std::string name;
  std::uint64_t elements = 0;
};

// The output seen as a matrix of `rows` consecutive elements, for faults that spoil a tile or a column.
struct Shape {
  std::vector<Array> inputs;
  Array output;
  std::uint64_t rows = 1;
  double flop = 0;            // of a call
  bool flop_is_news = false;  // the host cannot count it from the problem
};

std::string problem_text(const hbmark_gemm_problem& problem);
std::string problem_text(const hbmark_conv_problem& problem);
std::string problem_text(const hbmark_stream_problem& problem);
std::string problem_text(const hbmark_peak_problem& problem);

sdk::Expected<Shape> shape_of(const hbmark_gemm_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_conv_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_stream_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_peak_problem& problem);

using Inputs = std::span<const std::vector<double>>;  // in the order of the contract

// `transposed`: one operand is read the other way round.
std::vector<double> compute(const hbmark_gemm_problem& problem, Inputs inputs, bool transposed);
std::vector<double> compute(const hbmark_conv_problem& problem, Inputs inputs, bool transposed);
std::vector<double> compute(const hbmark_stream_problem& problem, Inputs inputs, bool transposed);
std::vector<double> compute(const hbmark_peak_problem& problem, Inputs inputs, bool transposed);

}  // namespace hbmark::fake
