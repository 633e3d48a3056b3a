// 32 registers of 64 bytes. 24 chains: latency 6, two a cycle on Knights Landing (12 in flight), 4 and two on Skylake and
// later (https://www.agner.org/optimize/instruction_tables.pdf); twice that hides the loop's own instructions on a two-wide
// KNL.
#include <immintrin.h>

#include "backends/cpu/loops.h"

#define VF __m512
#define VD __m512d
#define VI __m512i
#define SET1_F _mm512_set1_ps
#define SET1_D _mm512_set1_pd
#define STREAM_F _mm512_stream_ps
#define STREAM_D _mm512_stream_pd
#define LOAD_I(p) _mm512_load_si512(p)
#define STORE_I(p, v) _mm512_storeu_si512(p, v)
#define ADD_I _mm512_add_epi32
#define ZERO_I _mm512_setzero_si512
#define MULTIPLY_ADD_F _mm512_fmadd_ps
#define MULTIPLY_ADD_D _mm512_fmadd_pd
#define FIRST_12(X) X(0) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11)
#define SECOND_12(X) X(12) X(13) X(14) X(15) X(16) X(17) X(18) X(19) X(20) X(21) X(22) X(23)
#define REPEAT(X) FIRST_12(X) SECOND_12(X)
#define PEAK_VECTORS 24
#define LOOPS kLoopsAvx512f
#include "backends/cpu/loops.inc"
