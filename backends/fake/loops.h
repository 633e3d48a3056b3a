// The fake's own arithmetic, in double, and its own way to write a problem down. Shares nothing with the oracle.
// Pure, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "backends/abi/chase.h"
#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "backends/sdk/backend.h"

namespace hbmark::fake {

struct Array {
  std::string name;
  std::uint64_t elements = 0;
  std::uint32_t type = 0;  // of its elements
};

// The output seen as a matrix of `rows` consecutive elements, for faults that spoil a tile or a column.
struct Shape {
  std::vector<Array> inputs;
  Array output;
  std::uint64_t rows = 1;
  double flop = 0;            // of a call
  bool flop_is_news = false;  // the host cannot count it from the problem
};

// Options that an older host's shorter struct leaves 0 are absent, which means 1.
inline hbmark_gemm_problem with_defaults(hbmark_gemm_problem p) { return p.batch += p.batch == 0, p; }
inline hbmark_conv_problem with_defaults(hbmark_conv_problem x) {
  return x.g += x.g == 0, x.dh += x.dh == 0, x.dw += x.dw == 0, x;
}
inline hbmark_stream_problem with_defaults(const hbmark_stream_problem& p) { return p; }
inline hbmark_chase_problem with_defaults(const hbmark_chase_problem& p) { return p; }
inline hbmark_peak_problem with_defaults(const hbmark_peak_problem& p) { return p; }

std::string problem_text(const hbmark_gemm_problem& problem);
std::string problem_text(const hbmark_conv_problem& problem);
std::string problem_text(const hbmark_stream_problem& problem);
std::string problem_text(const hbmark_chase_problem& problem);
std::string problem_text(const hbmark_peak_problem& problem);

sdk::Expected<Shape> shape_of(const hbmark_gemm_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_conv_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_stream_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_chase_problem& problem);
sdk::Expected<Shape> shape_of(const hbmark_peak_problem& problem);

using Inputs = std::span<const std::vector<double>>;  // in the order of the contract

// How a result is computed. `transposed`: one operand is read the other way round.
struct Manner {
  bool transposed = false;
  std::uint64_t calls_before = 0;  // since the inputs were written: a chase goes on where they ended
};
std::vector<double> compute(const hbmark_gemm_problem& problem, Inputs inputs, const Manner& manner);
std::vector<double> compute(const hbmark_conv_problem& problem, Inputs inputs, const Manner& manner);
std::vector<double> compute(const hbmark_stream_problem& problem, Inputs inputs, const Manner& manner);
std::vector<double> compute(const hbmark_chase_problem& problem, Inputs inputs, const Manner& manner);
std::vector<double> compute(const hbmark_peak_problem& problem, Inputs inputs, const Manner& manner);

}  // namespace hbmark::fake
