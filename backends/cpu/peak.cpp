#include <omp.h>

#include <cmath>

#include "backends/cpu/cpu_backend.h"

namespace hbmark::cpu {
namespace {

// A call is to last about a millisecond: 2.5 million cycles at 2.5 GHz, two multiply-adds a cycle. By formula, not by clock,
// so that every call of every run does the same work; a core with one unit takes twice as long, and says so by its rate.
constexpr std::uint64_t kMultiplyAdds = 5'000'000;  // vectors, a thread and call

std::uint64_t steps_of(std::uint32_t vectors) { return kMultiplyAdds / vectors; }

class PeakCase final : public sdk::Case {
 public:
  PeakCase(const hbmark_peak_problem& problem, const Isa& isa, const sdk::Host& host)
      : problem_(problem), isa_(isa), host_(host), threads_(omp_get_max_threads()) {}

  std::vector<sdk::Operand> operands() const override {
    const std::uint64_t bytes = thread_bytes() * static_cast<std::uint64_t>(threads_);
    return {{"x", HBMARK_INPUT, problem_.type, bytes, bytes}, {"z", HBMARK_OUTPUT, problem_.type, bytes, bytes}};
  }

  sdk::Status run(std::uint64_t calls) override {
    const PeakLoop loop = isa_.loops->peak[problem_.type == HBMARK_F64 ? kDouble : kFloat];
    const auto* x = buffer(0).as<const char>();
    auto* z = buffer(1).as<char>();
    const std::uint64_t stride = thread_bytes();
    const std::uint64_t steps = steps_of(isa_.loops->peak_vectors);
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (host_.cancel_requested()) return sdk::cancelled();
        // One part a thread; all parts are done even if the runtime gives a smaller team than it announced.
#pragma omp parallel for schedule(static, 1)
      for (int thread = 0; thread < threads_; ++thread) {
        const std::uint64_t begin = stride * static_cast<std::uint64_t>(thread);
        loop(x + begin, z + begin, problem_.scale, problem_.offset, steps);
      }
    }
    return {};
  }

  sdk::CaseInfo info() const override {
    const double chains = static_cast<double>(threads_) * static_cast<double>(thread_bytes()) /
                          static_cast<double>(sdk::size_of_type(problem_.type));
    sdk::CaseInfo info;
    info.flop_per_call = 2 * chains * static_cast<double>(steps_of(isa_.loops->peak_vectors));
    info.implementation = std::string(isa_.fused ? "fma:" : "multiply, then add:") +
                          std::to_string(isa_.loops->peak_vectors) + " chains of " +
                          std::to_string(isa_.loops->vector_bytes * 8) + " bits";
    info.isa = isa_.name;
    info.layout = "plain";
    return info;
  }

 private:
  std::uint64_t thread_bytes() const { return std::uint64_t{isa_.loops->peak_vectors} * isa_.loops->vector_bytes; }

  hbmark_peak_problem problem_;
  Isa isa_;
  sdk::Host host_;
  int threads_;
};

}  // namespace

sdk::Status peak_supported(const hbmark_peak_problem& problem) {
  if (problem.op != HBMARK_PEAK_FMA) return sdk::unsupported("peak operation " + std::to_string(problem.op) + " is not fma");
  if (problem.type != HBMARK_F32 && problem.type != HBMARK_F64) {
    return sdk::unsupported("peak runs on f32 and f64, not on " + sdk::type_name(problem.type));
  }
  // The distance to the fixed point shrinks by |scale| a step. It must vanish against f64's 53 bits in the fewest steps of
  // any table: |scale|^steps < 2^-60.
  const double limit = std::exp2(-60.0 / static_cast<double>(steps_of(kLoopsAvx512f.peak_vectors)));
  if (!(std::fabs(problem.scale) <= limit)) {
    return sdk::unsupported("peak comes to its fixed point for a scale of at most " + std::to_string(limit) +
                            " in absolute value, not for " + std::to_string(problem.scale));
  }
  if (!std::isfinite(problem.offset) || problem.offset == 0) {
    return sdk::unsupported("peak needs a finite offset other than 0, or the chains run through denormal numbers");
  }
  return {};
}

std::unique_ptr<sdk::Case> make_peak_case(const hbmark_peak_problem& problem, const Isa& isa, const sdk::Host& host) {
  return std::make_unique<PeakCase>(problem, isa, host);
}

}  // namespace hbmark::cpu
