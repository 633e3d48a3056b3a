#include <algorithm>
#include <cmath>

#include "backends/reference/cases.h"

namespace hbmark::reference {
namespace {

constexpr std::uint64_t kChains = 64;
// About a millisecond of fma calls on the processors at hand, without claiming anything about speed.
constexpr std::uint64_t kLeastSteps = 4096;
constexpr double kMostSteps = 1e6;
// A start anywhere in float's range must shrink below half an ulp of any fixed point: 2^-(128 + 149) and some.
constexpr double kLogShrink = 300 * 0.6931471805599453;

double steps_to_fixed_point(const hbmark_peak_problem& p) {
  return p.scale == 0 ? 1 : std::ceil(kLogShrink / -std::log(std::fabs(p.scale))) + 8;
}

class PeakCase final : public PlainCase {
 public:
  PeakCase(const hbmark_peak_problem& problem, const sdk::Host& host)
      : PlainCase(host),
        p_(problem),
        steps_(std::max(kLeastSteps, static_cast<std::uint64_t>(steps_to_fixed_point(problem)))),
        bytes_(kChains * sdk::size_of_type(problem.type)) {}

  std::vector<sdk::Operand> operands() const override {
    return {{"x", HBMARK_INPUT, p_.type, bytes_, bytes_}, {"z", HBMARK_OUTPUT, p_.type, bytes_, bytes_}};
  }
  sdk::CaseInfo info() const override {
    sdk::CaseInfo info = PlainCase::info();
    info.flop_per_call = 2.0 * static_cast<double>(kChains) * static_cast<double>(steps_);
    return info;
  }

 private:
  void compute() override { p_.type == HBMARK_F64 ? chains<double>() : chains<float>(); }

  template <class T>
  void chains() {
    const T* x = buffer(0).as<T>();
    T* z = buffer(1).as<T>();
    const T scale = static_cast<T>(p_.scale);
    const T offset = static_cast<T>(p_.offset);
    for (std::uint64_t i = 0; i < kChains; ++i) {
      T value = x[i];
      for (std::uint64_t step = 0; step < steps_; ++step) value = std::fma(value, scale, offset);
      z[i] = value;
    }
  }

  hbmark_peak_problem p_;
  std::uint64_t steps_;
  std::uint64_t bytes_;
};

}  // namespace

sdk::Status check(const hbmark_peak_problem& p) {
  if (p.type != HBMARK_F32 && p.type != HBMARK_F64) {
    return sdk::unsupported("the oracle's chains are f32 and f64, not " + sdk::type_name(p.type));
  }
  if (p.op != HBMARK_PEAK_FMA) return sdk::unsupported("the oracle has no peak operation " + std::to_string(p.op));
  if (!(std::fabs(p.scale) < 1) || !std::isfinite(p.offset)) {
    return sdk::invalid("a chain comes to its fixed point only with |scale| < 1 and a finite offset");
  }
  if (steps_to_fixed_point(p) > kMostSteps) return sdk::unsupported("scale is so near 1 that a chain needs over 10^6 steps");
  return {};
}

std::unique_ptr<sdk::Case> make_case(const hbmark_peak_problem& problem, const sdk::Host& host) {
  return std::make_unique<PeakCase>(problem, host);
}

}  // namespace hbmark::reference
