/* hbmark.gemm/1: C(m,n) = op(A)(m,k) op(B)(k,n), alpha 1, beta 0, column-major as in BLAS.
 *
 * Operands, in this order and by these names: "a" input, "b" input, "c" output [, "workspace"].
 * Canonical layout: column-major without padding; A is m x k (leading dimension m) or, transposed, stored k x m (leading
 * dimension k); B is k x n (k) or stored n x k (n); C is m x n (m). With batch > 1, matrices follow one another.
 * The capability's table is hbmark_kernel.
 */
#ifndef HBMARK_ABI_GEMM_H
#define HBMARK_ABI_GEMM_H

#include "backends/abi/kernel.h"

#define HBMARK_GEMM_V1 "hbmark.gemm/1"

typedef struct hbmark_gemm_problem {
  uint32_t struct_size;
  uint32_t type;    /* HBMARK_F32, ... */
  uint32_t trans_a; /* 1: A is stored transposed */
  uint32_t trans_b;
  int64_t m, n, k;
  int64_t batch; /* 1: a single product */
} hbmark_gemm_problem;

#endif
