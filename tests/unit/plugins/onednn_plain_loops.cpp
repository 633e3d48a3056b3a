#include "onednn_plain_loops.h"

namespace hbmark::tests {
namespace {

std::int64_t out_size(std::int64_t in, std::int64_t filter, std::int64_t stride, std::int64_t pad, std::int64_t dilation) {
  return (in + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
}

}  // namespace

std::vector<double> naive_gemm(const hbmark_gemm_problem& p, const std::vector<double>& a, const std::vector<double>& b) {
  std::vector<double> c(static_cast<std::size_t>(p.batch * p.m * p.n));
  for (std::int64_t batch = 0; batch < p.batch; ++batch) {
    const double* pa = a.data() + batch * p.m * p.k;
    const double* pb = b.data() + batch * p.k * p.n;
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t i = 0; i < p.m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < p.k; ++l) {
          sum += (p.trans_a ? pa[l + i * p.k] : pa[i + l * p.m]) * (p.trans_b ? pb[j + l * p.n] : pb[l + j * p.k]);
        }
        c[static_cast<std::size_t>(batch * p.m * p.n + i + j * p.m)] = sum;
      }
    }
  }
  return c;
}

ConvSizes sizes_of(const hbmark_conv_problem& x) {
  const std::int64_t p = out_size(x.h, x.r, x.sh, x.ph, x.dh), q = out_size(x.w, x.s, x.sw, x.pw, x.dw);
  return {static_cast<std::size_t>(x.n * x.c * x.h * x.w), static_cast<std::size_t>(x.k * x.c / x.g * x.r * x.s),
          static_cast<std::size_t>(x.n * x.k * p * q)};
}

void each_product(const hbmark_conv_problem& x, const std::function<void(std::size_t, std::size_t, std::size_t)>& visit) {
  const std::int64_t p = out_size(x.h, x.r, x.sh, x.ph, x.dh), q = out_size(x.w, x.s, x.sw, x.pw, x.dw);
  const std::int64_t cg = x.c / x.g, kg = x.k / x.g;
  for (std::int64_t n = 0; n < x.n; ++n) {
    for (std::int64_t k = 0; k < x.k; ++k) {
      for (std::int64_t i = 0; i < p * q; ++i) {
        for (std::int64_t c = 0; c < cg; ++c) {
          for (std::int64_t f = 0; f < x.r * x.s; ++f) {
            const std::int64_t y = i / q * x.sh - x.ph + f / x.s * x.dh, z = i % q * x.sw - x.pw + f % x.s * x.dw;
            if (y < 0 || y >= x.h || z < 0 || z >= x.w) continue;
            visit(static_cast<std::size_t>(((n * x.c + k / kg * cg + c) * x.h + y) * x.w + z),
                  static_cast<std::size_t>((k * cg + c) * x.r * x.s + f),
                  static_cast<std::size_t>((n * x.k + k) * p * q + i));
          }
        }
      }
    }
  }
}

std::vector<double> naive_conv(const hbmark_conv_problem& x, const std::vector<double>& first,
                               const std::vector<double>& second) {
  const ConvSizes sizes = sizes_of(x);
  std::vector<double> out;
  switch (x.pass) {
    case HBMARK_CONV_FWD:
      out.resize(sizes.dst);
      each_product(x, [&](std::size_t s, std::size_t w, std::size_t d) { out[d] += first[s] * second[w]; });
      break;
    case HBMARK_CONV_BWD_DATA:
      out.resize(sizes.src);
      each_product(x, [&](std::size_t s, std::size_t w, std::size_t d) { out[s] += first[d] * second[w]; });
      break;
    default:
      out.resize(sizes.weights);
      each_product(x, [&](std::size_t s, std::size_t w, std::size_t d) { out[w] += first[s] * second[d]; });
  }
  return out;
}

}  // namespace hbmark::tests
