// The numbers of a convolution problem by name, and which output positions a filter tap meets. Pure, thread-safe.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>

#include "bench/problems/problem.h"

namespace hbmark {

enum class ConvPass { kForward, kBackwardData, kBackwardWeights };

struct ConvShape {
  explicit ConvShape(const Problem& problem);

  ConvPass pass = ConvPass::kForward;
  std::int64_t n, c, h, w, k, r, s, sh, sw, ph, pw, g, dh, dw;
  // Output height and width: (h + 2 ph - dh (r - 1) - 1) / sh + 1, rounded down; 0 or less where the filter does not fit.
  std::int64_t p = 0, q = 0;

  std::int64_t channels_in() const { return c / g; }  // of one group
  std::int64_t channels_out() const { return k / g; }
  std::int64_t row(std::int64_t out, std::int64_t tap) const { return out * sh - ph + tap * dh; }  // input row under a tap
  std::int64_t column(std::int64_t out, std::int64_t tap) const { return out * sw - pw + tap * dw; }
  // Output rows [first, second) whose input row under filter row `tap` is not padding.
  std::pair<std::int64_t, std::int64_t> rows_met(std::int64_t tap) const { return met(ph - tap * dh, sh, h, p); }
  std::pair<std::int64_t, std::int64_t> columns_met(std::int64_t tap) const { return met(pw - tap * dw, sw, w, q); }

 private:
  static std::pair<std::int64_t, std::int64_t> met(std::int64_t before, std::int64_t stride, std::int64_t size,
                                                   std::int64_t outputs) {
    // 0 <= out * stride - before < size
    const std::int64_t low = before > 0 ? (before + stride - 1) / stride : 0;
    const std::int64_t last = size - 1 + before;
    const std::int64_t high = last < 0 ? 0 : std::min(outputs, last / stride + 1);
    return {low, std::max(low, high)};
  }
};

}  // namespace hbmark
