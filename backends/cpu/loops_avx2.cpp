// 16 registers of 32 bytes. 12 chains: latency 5, two a cycle on Haswell (10 in flight), 4 and two on later cores
// (https://www.agner.org/optimize/instruction_tables.pdf); two registers hold the constants.
#include <immintrin.h>

#include "backends/cpu/loops.h"

#define VF __m256
#define VD __m256d
#define VI __m256i
#define SET1_F _mm256_set1_ps
#define SET1_D _mm256_set1_pd
#define STREAM_F _mm256_stream_ps
#define STREAM_D _mm256_stream_pd
#define LOAD_I(p) _mm256_load_si256(reinterpret_cast<const __m256i*>(p))
#define STORE_I(p, v) _mm256_storeu_si256(reinterpret_cast<__m256i*>(p), v)
#define ADD_I _mm256_add_epi32
#define ZERO_I _mm256_setzero_si256
#define MULTIPLY_ADD_F _mm256_fmadd_ps
#define MULTIPLY_ADD_D _mm256_fmadd_pd
#define REPEAT(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define PEAK_VECTORS 12
#define LOOPS kLoopsAvx2
#include "backends/cpu/loops.inc"
