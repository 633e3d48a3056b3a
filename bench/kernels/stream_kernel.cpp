// stream: z = x, z = a x, z = x + y, z = x + a y over arrays of array_bytes each, nothing but memory traffic.
#include "backends/abi/stream.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "bench/kernels/abi_bytes.h"
#include "bench/kernels/check.h"
#include "bench/kernels/fields.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark {
namespace {

constexpr double kScalar = 3.0;  // McCalpin's STREAM 5.10

bool has_y(const Problem& problem) { return problem.word("op") == "add" || problem.word("op") == "triad"; }

std::uint64_t elements(const Problem& problem) {
  return static_cast<std::uint64_t>(problem.number("array_bytes")) / element_bytes(find_type(problem.word("type"))->input);
}

Status validate(const Problem& problem) {
  const auto size = static_cast<std::int64_t>(element_bytes(find_type(problem.word("type"))->input));
  const auto given = problem.number("array_bytes");
  if (given % size == 0) return {};
  return usage_error(
      "its arrays do not hold whole elements",
      fmt::format("array_bytes is {}, no multiple of {} (an element of {})", given, size, problem.word("type")),
      fmt::format("give {}", std::max(given / size, std::int64_t{1}) * size));
}

// One call, each element: copy 0, scale 1 (a product), add 1 (a sum), triad 2 (STREAM's convention).
std::optional<double> flop(const Problem& problem) {
  const auto& op = problem.word("op");
  const double each = op == "copy" ? 0 : op == "triad" ? 2 : 1;
  return each * static_cast<double>(elements(problem));
}

// One call: each array once, 2 arrays for copy and scale, 3 for add and triad. STREAM's convention: what the cache reads of
// the output before it is written over (write-allocate) is not counted.
std::optional<double> bytes(const Problem& problem) {
  return (has_y(problem) ? 3.0 : 2.0) * static_cast<double>(problem.number("array_bytes"));
}

std::vector<OperandSpec> operands(const Problem& problem) {
  const auto type = find_type(problem.word("type"))->input;
  const auto count = elements(problem);
  if (has_y(problem)) return {{"x", type, count, false}, {"y", type, count, false}, {"z", type, count, true}};
  return {{"x", type, count, false}, {"z", type, count, true}};
}

std::vector<std::byte> to_abi(const Problem& problem) {
  hbmark_stream_problem abi{};
  const auto& op = problem.word("op");
  abi.struct_size = sizeof(abi);
  abi.op = op == "copy"    ? HBMARK_STREAM_COPY
           : op == "scale" ? HBMARK_STREAM_SCALE
           : op == "add"   ? HBMARK_STREAM_ADD
                           : HBMARK_STREAM_TRIAD;
  abi.type = find_type(problem.word("type"))->problem;
  abi.array_bytes = static_cast<std::uint64_t>(problem.number("array_bytes"));
  abi.scalar = kScalar;
  return abi_bytes(abi);
}

// z = a x + b y for every element. At most two roundings, or one where the compiler fuses: 2u(|a x| + |b y|), and as much
// again for our own arithmetic in the case of f64. A copy has to be exact.
CheckReport check_stream(const CheckInput& input) {
  const auto& op = input.problem.word("op");
  const double a = op == "scale" ? kScalar : 1, b = op == "triad" ? kScalar : op == "add" ? 1 : 0;
  const bool exact = op == "copy";
  check::Tally tally(exact ? 0 : 4 * unit_roundoff(find_type(input.problem.word("type"))->input));
  if (auto missing = check::missing_arrays(input); !missing.empty()) {
    tally.wrong(std::move(missing));
    return tally.finish(0, "none");
  }
  const double tolerance = exact ? 0 : 4 * unit_roundoff(find_type(input.problem.word("type"))->input);
  const auto& z = input.outputs[0];
  constexpr std::uint64_t kBlock = 1024;
  double x_block[kBlock], y_block[kBlock] = {}, z_block[kBlock];
  for (std::uint64_t start = 0; start < z.spec.elements && !tally.found(); start += kBlock) {
    const auto count = std::min(kBlock, z.spec.elements - start);
    check::load(input.inputs[0], start, count, x_block);
    if (b != 0) check::load(input.inputs[1], start, count, y_block);
    check::load(z, start, count, z_block);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double ax = a * x_block[i], by = b * y_block[i], expected = ax + by;
      if (tally.compare(z_block[i], expected, tolerance * (std::abs(ax) + std::abs(by)))) continue;
      tally.wrong(check::mismatch("z", {static_cast<std::int64_t>(start + i)}, z_block[i], expected));
    }
  }
  return tally.finish(static_cast<std::int64_t>(z.spec.elements), exact ? "every element, bit for bit" : "every element");
}

std::vector<FieldSpec> grammar() {
  FieldSpec size = fields::dimension("array_bytes", "bytes of one array", 1, {"bytes"});
  size.kind = FieldSpec::Kind::kNumber;
  size.max = std::int64_t{1} << 46;  // 64 TiB
  return {fields::word("op", "operation", {"copy", "scale", "add", "triad"}),
          fields::word("type", "number type", {"f32", "f64"}, "f64"), size};
}

}  // namespace

const KernelSpec& stream_kernel() {
  static const KernelSpec spec{.name = "stream",
                               .capability = HBMARK_STREAM_V1,
                               .summary = "memory bandwidth: copy, scale, add, triad",
                               .example = "stream:triad:f64:268435456",
                               .grammar = grammar(),
                               .validate = validate,
                               .flop = flop,
                               .bytes = bytes,
                               .operands = operands,
                               .to_abi = to_abi,
                               .check = check_stream};
  return spec;
}

}  // namespace hbmark
