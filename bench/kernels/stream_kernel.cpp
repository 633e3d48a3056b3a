// stream: z = x, z = a x, z = x + y, z = x + a y, z = a, or a read of x, over arrays of array_bytes each: nothing but memory
// traffic.
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

// The operations and what each moves and computes an element, as STREAM counts.
struct Operation {
  std::string_view word;
  std::uint32_t abi;
  int arrays;   // read or written
  double flop;  // an element
};
constexpr Operation kOperations[] = {{"copy", HBMARK_STREAM_COPY, 2, 0}, {"scale", HBMARK_STREAM_SCALE, 2, 1},
                                     {"add", HBMARK_STREAM_ADD, 3, 1},   {"triad", HBMARK_STREAM_TRIAD, 3, 2},
                                     {"read", HBMARK_STREAM_READ, 1, 0}, {"write", HBMARK_STREAM_WRITE, 1, 0}};

const Operation& operation(const Problem& problem) {
  const auto& word = problem.word("op");
  return *std::find_if(std::begin(kOperations), std::end(kOperations),
                       [&](const Operation& one) { return one.word == word; });
}

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

// One call, each element: copy 0, scale 1 (a product), add 1 (a sum), triad 2 (STREAM's convention); read and write 0: the
// sums that prove a read are of integers.
std::optional<double> flop(const Problem& problem) {
  return operation(problem).flop * static_cast<double>(elements(problem));
}

// One call: each array once: 2 arrays for copy and scale, 3 for add and triad, 1 for read and write. STREAM's convention:
// what the cache reads of the output before it is written over (write-allocate) is not counted. Nor are the sums of a read.
std::optional<double> bytes(const Problem& problem) {
  return operation(problem).arrays * static_cast<double>(problem.number("array_bytes"));
}

std::vector<OperandSpec> operands(const Problem& problem) {
  const auto type = find_type(problem.word("type"))->input;
  const auto count = elements(problem);
  const auto& op = operation(problem);
  if (op.abi == HBMARK_STREAM_READ) return {{"x", type, count, false}, {"z", HBMARK_S32, HBMARK_STREAM_READ_SUMS, true}};
  if (op.abi == HBMARK_STREAM_WRITE) return {{"z", type, count, true}};
  if (op.arrays == 3) return {{"x", type, count, false}, {"y", type, count, false}, {"z", type, count, true}};
  return {{"x", type, count, false}, {"z", type, count, true}};
}

std::vector<std::byte> to_abi(const Problem& problem) {
  hbmark_stream_problem abi{};
  abi.struct_size = sizeof(abi);
  abi.op = operation(problem).abi;
  abi.type = find_type(problem.word("type"))->problem;
  abi.array_bytes = static_cast<std::uint64_t>(problem.number("array_bytes"));
  abi.scalar = kScalar;
  return abi_bytes(abi);
}

// Of a read: the sums of its 32-bit words modulo 2^32, which one missing or altered element changes for certain.
CheckReport check_read(const CheckInput& input) {
  check::Tally tally(0);
  const auto& x = input.inputs[0].bytes;
  std::uint32_t sums[HBMARK_STREAM_READ_SUMS] = {};
  for (std::size_t word = 0; word < x.size() / sizeof(std::uint32_t); ++word) {
    std::uint32_t value = 0;
    std::memcpy(&value, x.data() + word * sizeof value, sizeof value);
    sums[word % HBMARK_STREAM_READ_SUMS] += value;
  }
  for (std::uint64_t j = 0; j < HBMARK_STREAM_READ_SUMS && !tally.found(); ++j) {
    const double got = check::at(input.outputs[0], j), expected = static_cast<std::int32_t>(sums[j]);
    if (tally.compare(got, expected, 0)) continue;
    tally.wrong(fmt::format("the sum of the words {}, {}, ... of x is {}, expected {}: not all of x was read", j,
                            j + HBMARK_STREAM_READ_SUMS, got, expected));
  }
  return tally.finish(static_cast<std::int64_t>(input.inputs[0].spec.elements), "every element, by 16 exact sums");
}

// z = a x + b y + c for every element. At most two roundings, or one where the compiler fuses: 2u(|a x| + |b y|), and as
// much again for our own arithmetic in the case of f64. Copies and constants have to be exact.
CheckReport check_stream(const CheckInput& input) {
  const auto op = operation(input.problem).abi;
  const double a = op == HBMARK_STREAM_SCALE ? kScalar : op == HBMARK_STREAM_WRITE ? 0 : 1;
  const double b = op == HBMARK_STREAM_TRIAD ? kScalar : op == HBMARK_STREAM_ADD ? 1 : 0;
  const double c = op == HBMARK_STREAM_WRITE ? kScalar : 0;
  const bool exact = op == HBMARK_STREAM_COPY || op == HBMARK_STREAM_WRITE;
  const double tolerance = exact ? 0 : 4 * unit_roundoff(find_type(input.problem.word("type"))->input);
  check::Tally tally(op == HBMARK_STREAM_READ ? 0 : tolerance);
  if (auto missing = check::missing_arrays(input); !missing.empty()) {
    tally.wrong(std::move(missing));
    return tally.finish(0, "none");
  }
  if (op == HBMARK_STREAM_READ) return check_read(input);
  const auto& z = input.outputs[0];
  constexpr std::uint64_t kBlock = 1024;
  double x_block[kBlock] = {}, y_block[kBlock] = {}, z_block[kBlock];
  for (std::uint64_t start = 0; start < z.spec.elements && !tally.found(); start += kBlock) {
    const auto count = std::min(kBlock, z.spec.elements - start);
    if (a != 0) check::load(input.inputs[0], start, count, x_block);
    if (b != 0) check::load(input.inputs[1], start, count, y_block);
    check::load(z, start, count, z_block);
    for (std::uint64_t i = 0; i < count; ++i) {
      const double ax = a * x_block[i], by = b * y_block[i], expected = ax + by + c;
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
  std::vector<std::string_view> words;
  for (const auto& one : kOperations) words.push_back(one.word);
  return {fields::word("op", "operation", words), fields::word("type", "number type", {"f32", "f64"}, "f64"), size};
}

}  // namespace

const KernelSpec& stream_kernel() {
  static const KernelSpec spec{.name = "stream",
                               .capability = HBMARK_STREAM_V1,
                               .summary = "memory bandwidth: copy, scale, add, triad, read, write",
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
