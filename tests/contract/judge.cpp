#include "tests/contract/judge.h"

#include <fmt/format.h>

#include <cmath>
#include <cstring>
#include <limits>

namespace hbmark::tests {
namespace {

// Unit roundoff of the accumulator and of the output of a type (the table in backends/abi/kernel.h).
struct Roundoff {
  double accumulator;
  double output;
};
Roundoff roundoff_of(std::uint32_t type) {
  switch (type) {
    case HBMARK_F64:
      return {0x1p-53, 0x1p-53};
    case HBMARK_BF16:
      return {0x1p-24, 0x1p-8};
    case HBMARK_F16:
      return {0x1p-24, 0x1p-11};
    case HBMARK_S8:
    case HBMARK_S32:
      return {0, 0};  // integers: exact
    default:
      return {0x1p-24, 0x1p-24};
  }
}

// Winograd, FFT and Strassen lose some digits to the additions of their transforms.
constexpr double kTransformLoss = 64;
// Rounding of the inputs' conversions and of the final sum.
constexpr double kExtraRoundings = 8;

// The chains of hbmark.peak/1 all end at their fixed point, whatever they started from.
Expected expect_peak(const ContractProblem& problem) {
  hbmark_peak_problem p;
  std::memcpy(&p, problem.bytes.data(), sizeof p);
  const auto as_type = [&](double x) { return p.type == HBMARK_F64 ? x : static_cast<double>(static_cast<float>(x)); };
  const double fixed_point = as_type(p.offset) / (1 - as_type(p.scale));
  return {{fixed_point}, {std::fabs(fixed_point)}, {}, nullptr};
}

// `loads` steps of the cycle lead from the first to the second.
std::string judge_chase(const hbmark_chase_problem& p, const std::vector<double>& next, const std::vector<double>& got) {
  if (got.size() != 2) return fmt::format("{} elements, 2 expected", got.size());
  if (!(got[0] >= 0 && got[0] < static_cast<double>(next.size()))) return fmt::format("line {} is not there", got[0]);
  double line = got[0];
  for (std::uint64_t load = 0; load < p.loads; ++load) line = next[static_cast<std::size_t>(line)];
  if (line == got[1]) return {};
  return fmt::format("{} loads after line {} comes line {}, not {}", p.loads, got[0], line, got[1]);
}

}  // namespace

Expected expect(const ContractKernel& kernel, const ContractProblem& problem, std::uint64_t seed) {
  if (kernel.name == "peak") return expect_peak(problem);
  const hbmark_backend* reference = find_backend("reference");
  if (reference == nullptr) {
    ADD_FAILURE() << "the reference backend is not there: build hbmark_backend_reference";
    return {};
  }
  Expected expected;
  for (const bool absolute : {false, true}) {
    TestHost host;
    TestSession session(reference, host);
    TestCase c(session, kernel.capability, problem.bytes);
    Bytes out;
    Called result = c.everything_until_run(seed, absolute);
    if (result) result = c.read(out);
    if (!result) {
      ADD_FAILURE() << "the reference cannot do " << problem.text << ": " << result.message;
      return expected;
    }
    (absolute ? expected.scale : expected.values) = to_doubles(out, c.output().type);
    expected.operands = c.operands();
  }
  if (kernel.name == "chase") {
    hbmark_chase_problem p;
    std::memcpy(&p, problem.bytes.data(), sizeof p);
    const auto next = to_doubles(make_input(expected.operands[0], seed, false), HBMARK_S32);
    expected.holds = [p, next](const std::vector<double>& got) { return judge_chase(p, next, got); };
  }
  return expected;
}

std::string judge(const ContractProblem& problem, const Expected& expected, const std::vector<double>& got,
                  std::uint32_t algorithm_class) {
  const bool one_value = expected.values.size() == 1 && expected.operands.empty();
  if (expected.values.empty()) return "nothing to compare with";
  if (expected.holds) return expected.holds(got);
  if (got.empty() || (!one_value && got.size() != expected.values.size())) {
    return fmt::format("{} elements, {} expected", got.size(), expected.values.size());
  }
  const Roundoff roundoff = roundoff_of(problem.type);
  const double loss = algorithm_class == HBMARK_ALGORITHM_DIRECT ? 1 : kTransformLoss;
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double want = expected.values[one_value ? 0 : i];
    const double scale = std::fabs(expected.scale[one_value ? 0 : i]);
    const double allowed =
        (problem.reduction + kExtraRoundings) * loss * roundoff.accumulator * scale + 2 * roundoff.output * std::fabs(want);
    if (!(std::fabs(got[i] - want) <= allowed)) {
      return fmt::format("element {} of {} is {}, expected {} +- {}", i, got.size(), got[i], want, allowed);
    }
  }
  return {};
}

}  // namespace hbmark::tests
