#include "tests/perf/plain_triad.h"

#include <chrono>
#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace hbmark::perf {
namespace {

void triad(const double* __restrict x, const double* __restrict y, double* __restrict z, double scalar,
           std::ptrdiff_t count) {
#pragma omp parallel for schedule(static)
  for (std::ptrdiff_t i = 0; i < count; ++i) z[i] = x[i] + scalar * y[i];
}

#if defined(__SSE2__)
void streaming_triad(const double* x, const double* y, double* z, double scalar, std::ptrdiff_t count) {
  const __m128d factor = _mm_set1_pd(scalar);
#pragma omp parallel
  {
#pragma omp for schedule(static)
    for (std::ptrdiff_t line = 0; line < count / 8; ++line) {
      for (std::ptrdiff_t i = 8 * line; i < 8 * line + 8; i += 2) {
        _mm_stream_pd(z + i, _mm_add_pd(_mm_load_pd(x + i), _mm_mul_pd(factor, _mm_load_pd(y + i))));
      }
    }
    _mm_sfence();
  }
  for (std::ptrdiff_t i = count / 8 * 8; i < count; ++i) z[i] = x[i] + scalar * y[i];
}
#else
void streaming_triad(const double* x, const double* y, double* z, double scalar, std::ptrdiff_t count) {
  triad(x, y, z, scalar, count);
}
#endif

}  // namespace

double time_plain_triad(const double* x, const double* y, double* z, double scalar, std::size_t count, bool streaming,
                        std::int64_t calls) {
  const auto begin = std::chrono::steady_clock::now();
  for (std::int64_t i = 0; i < calls; ++i) {
    (streaming ? streaming_triad : triad)(x, y, z, scalar, static_cast<std::ptrdiff_t>(count));
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace hbmark::perf
