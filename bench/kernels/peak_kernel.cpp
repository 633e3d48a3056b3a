// peak: independent chains x = x * scale + offset in registers; the plugin chooses how many and how often.
#include "backends/abi/peak.h"

#include <fmt/format.h>

#include <cmath>

#include "bench/kernels/abi_bytes.h"
#include "bench/kernels/check.h"
#include "bench/kernels/fields.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark {
namespace {

// The fixed point is 1.3, outside of the inputs' [-1, 1). A chain is there, to the last bit of f64, after
// 53 ln 2 / -ln 0.99 = 3656 steps, a small part of the millisecond that a call lasts; the numbers stay normal throughout.
constexpr double kScale = 0.99;
constexpr double kOffset = 0.013;

Status validate(const Problem&) { return {}; }

// The plugin alone knows chains and steps: it says 2 flop a chain and step by info().flop_per_call.
std::optional<double> flop(const Problem&) { return std::nullopt; }

// Everything stays in registers.
std::optional<double> bytes(const Problem&) { return std::nullopt; }

std::vector<OperandSpec> operands(const Problem& problem) {
  const auto type = find_type(problem.word("type"))->input;
  return {{"x", type, 0, false}, {"z", type, 0, true}};  // 0: as many as the plugin has chains
}

std::vector<std::byte> to_abi(const Problem& problem) {
  hbmark_peak_problem abi{};
  abi.struct_size = sizeof(abi);
  abi.op = HBMARK_PEAK_FMA;
  abi.type = find_type(problem.word("type"))->problem;
  abi.scale = kScale;
  abi.offset = kOffset;
  return abi_bytes(abi);
}

CheckReport check_peak(const CheckInput& input) {
  const auto& type = *find_type(input.problem.word("type"));
  // The chain converges to the fixed point of the constants as rounded to its type.
  const bool single = type.input == HBMARK_F32;
  const double scale = single ? static_cast<float>(kScale) : kScale;
  const double offset = single ? static_cast<float>(kOffset) : kOffset;
  const double fixed = offset / (1 - scale);
  // Each step rounds by u |x|, and what earlier steps left shrinks by `scale` a step: u |x| / (1 - scale) in the end; twice
  // that is allowed, far less than the distance between the fixed point and any input.
  const double tolerance = 2 * unit_roundoff(type.input) / (1 - scale);
  check::Tally tally(tolerance);
  if (auto missing = check::missing_arrays(input); !missing.empty()) {
    tally.wrong(std::move(missing));
    return tally.finish(0, "none");
  }
  const auto& x = input.inputs[0];
  const auto& z = input.outputs[0];
  if (x.spec.elements != z.spec.elements) {
    tally.wrong(fmt::format("x has {} chains, z has {}", x.spec.elements, z.spec.elements));
    return tally.finish(0, "none");
  }
  for (std::uint64_t i = 0; i < z.spec.elements && !tally.found(); ++i) {
    const double start = check::at(x, i), got = check::at(z, i);
    if (!(std::abs(start - fixed) > 4 * tolerance * std::abs(fixed))) {
      tally.wrong(fmt::format("x[{}] is {:.9g}, where a chain ends whether it moves or not: the check would prove nothing",
                              i, start));
    } else if (!tally.compare(got, fixed, tolerance * std::abs(fixed))) {
      tally.wrong(check::mismatch("z", {static_cast<std::int64_t>(i)}, got, fixed));
    }
  }
  return tally.finish(static_cast<std::int64_t>(z.spec.elements), "every chain at its fixed point");
}

std::vector<FieldSpec> grammar() {
  return {fields::word("op", "operation", {"fma"}), fields::word("type", "number type", {"f32", "f64"})};
}

}  // namespace

const KernelSpec& peak_kernel() {
  static const KernelSpec spec{.name = "peak",
                               .capability = HBMARK_PEAK_V1,
                               .summary = "arithmetic ceiling: fused multiply-adds in registers",
                               .example = "peak:fma:f32",
                               .grammar = grammar(),
                               .validate = validate,
                               .flop = flop,
                               .bytes = bytes,
                               .operands = operands,
                               .to_abi = to_abi,
                               .check = check_peak};
  return spec;
}

}  // namespace hbmark
