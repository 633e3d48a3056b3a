// The baseline: 16 registers of 16 bytes, no fused multiply-add.
//
// 12 chains: a product and a sum take 8 cycles one after the other, and a core with two units finishes one such pair a cycle
// (Skylake and Zen, https://www.agner.org/optimize/instruction_tables.pdf); two registers hold the constants.
#include <emmintrin.h>

#include "backends/cpu/loops.h"

#define VF __m128
#define VD __m128d
#define VI __m128i
#define SET1_F _mm_set1_ps
#define SET1_D _mm_set1_pd
#define STREAM_F _mm_stream_ps
#define STREAM_D _mm_stream_pd
#define LOAD_I(p) _mm_load_si128(reinterpret_cast<const __m128i*>(p))
#define STORE_I(p, v) _mm_storeu_si128(reinterpret_cast<__m128i*>(p), v)
#define ADD_I _mm_add_epi32
#define ZERO_I _mm_setzero_si128
#define MULTIPLY_ADD_F(x, scale, offset) _mm_add_ps(_mm_mul_ps(x, scale), offset)
#define MULTIPLY_ADD_D(x, scale, offset) _mm_add_pd(_mm_mul_pd(x, scale), offset)
#define REPEAT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define PEAK_VECTORS 12
#define LOOPS kLoopsSse2
#include "backends/cpu/loops.inc"
