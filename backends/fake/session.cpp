#include "backends/fake/session.h"

#include <algorithm>
#include <limits>

namespace hbmark::fake {

sdk::Expected<Shape> FakeSession::check(const std::string& text, sdk::Expected<Shape> shape) const {
  HBMARK_SDK_TRY(shape);
  if (const auto reason = script_.behaviour(text).unsupported) return sdk::unsupported(*reason);
  return shape;
}

sdk::Expected<std::unique_ptr<sdk::Buffer>> FakeSession::allocate(std::uint64_t size_bytes) {
  HBMARK_SDK_TRY(pass(Step::kAlloc, current_));
  return sdk::Session::allocate(size_bytes);
}

sdk::Status FakeSession::timer_begin() {
  HBMARK_SDK_TRY(pass(Step::kBegin, current_));
  begin_s_ = now_s_;
  return {};
}

sdk::Status FakeSession::timer_end() {
  HBMARK_SDK_TRY(pass(Step::kEnd, current_));
  end_s_ = now_s_;
  return {};
}

sdk::Expected<double> FakeSession::timer_elapsed() {
  const auto falsify = pass(Step::kElapsed, current_);
  HBMARK_SDK_TRY(falsify);
  const auto due = [&](FaultKind kind) { return std::find(falsify->begin(), falsify->end(), kind) != falsify->end(); };
  if (due(FaultKind::kZeroClock)) return 0.0;
  if (due(FaultKind::kNanClock)) return std::numeric_limits<double>::quiet_NaN();
  return due(FaultKind::kNegativeClock) ? begin_s_ - end_s_ - 1e-9 : end_s_ - begin_s_;
}

}  // namespace hbmark::fake
