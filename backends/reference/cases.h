// The oracle's kernels: for each, whether a problem is one of its, and a case that computes it with plain loops.
//
// One thread. Sums are taken in double, in the order of the definition in backends/abi/<kernel>.h; the canonical layout is
// the layout. Slow on purpose: it is right because it is short.
#pragma once

#include <memory>

#include "backends/abi/chase.h"
#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "backends/sdk/backend.h"

namespace hbmark::reference {

sdk::Status check(const hbmark_gemm_problem& problem);
sdk::Status check(const hbmark_conv_problem& problem);
sdk::Status check(const hbmark_stream_problem& problem);
sdk::Status check(const hbmark_chase_problem& problem);
sdk::Status check(const hbmark_peak_problem& problem);

// Of a problem that passed its check.
std::unique_ptr<sdk::Case> make_case(const hbmark_gemm_problem& problem, const sdk::Host& host);
std::unique_ptr<sdk::Case> make_case(const hbmark_conv_problem& problem, const sdk::Host& host);
std::unique_ptr<sdk::Case> make_case(const hbmark_stream_problem& problem, const sdk::Host& host);
std::unique_ptr<sdk::Case> make_case(const hbmark_chase_problem& problem, const sdk::Host& host);
std::unique_ptr<sdk::Case> make_case(const hbmark_peak_problem& problem, const sdk::Host& host);

// What all cases have in common: `calls` times the same computation, given up between calls when the host asks.
class PlainCase : public sdk::Case {
 public:
  explicit PlainCase(const sdk::Host& host) : host_(host) {}
  sdk::Status run(std::uint64_t calls) final {
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (host_.cancel_requested()) return sdk::cancelled();
      compute();
    }
    return {};
  }
  sdk::CaseInfo info() const override {
    sdk::CaseInfo info;
    info.implementation = "plain loops";
    info.layout = "canonical";
    return info;
  }

 protected:
  virtual void compute() = 0;

 private:
  sdk::Host host_;
};

}  // namespace hbmark::reference
