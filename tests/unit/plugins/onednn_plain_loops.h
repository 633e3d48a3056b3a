// What the onednn plugin's tests compare with: GEMM and convolution as plain loops in double, in the layouts of
// backends/abi. Pure functions; they fail for nothing and trust their caller's sizes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"

namespace hbmark::tests {

// C = op(A) op(B), column-major.
std::vector<double> naive_gemm(const hbmark_gemm_problem& p, const std::vector<double>& a, const std::vector<double>& b);

struct ConvSizes {  // elements
  std::size_t src, weights, dst;
};
ConvSizes sizes_of(const hbmark_conv_problem& x);

// Calls visit(src index, weights index, dst index) for every product of the convolution; all passes are sums over these.
void each_product(const hbmark_conv_problem& x, const std::function<void(std::size_t, std::size_t, std::size_t)>& visit);

// The pass's output from its two inputs, in the order of backends/abi/conv.h.
std::vector<double> naive_conv(const hbmark_conv_problem& x, const std::vector<double>& first,
                               const std::vector<double>& second);

}  // namespace hbmark::tests
