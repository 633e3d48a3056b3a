/* hbmark.conv/1: two-dimensional convolution (cross-correlation, as deep-learning libraries mean it), zero padding.
 *
 * Shapes: input n,c,h,w; filters k,c/g,r,s; output n,k,p,q with p = (h + 2 ph - dh (r-1) - 1) / sh + 1 (rounded down), q
 * likewise.
 * Canonical layout: dense row-major NCHW for input and output, KCRS (with g groups: k, c/g, r, s) for filters. No bias.
 * Operands in order: fwd "src" in, "weights" in, "dst" out; bwd_data "diff_dst" in, "weights" in, "diff_src" out;
 * bwd_weights "src" in, "diff_dst" in, "diff_weights" out [, "workspace"].
 */
#ifndef HBMARK_ABI_CONV_H
#define HBMARK_ABI_CONV_H

#include "backends/abi/kernel.h"

#define HBMARK_CONV_V1 "hbmark.conv/1"

enum { HBMARK_CONV_FWD = 1, HBMARK_CONV_BWD_DATA = 2, HBMARK_CONV_BWD_WEIGHTS = 3 };

typedef struct hbmark_conv_problem {
  uint32_t struct_size;
  uint32_t type;
  uint32_t pass; /* HBMARK_CONV_* */
  uint32_t reserved;
  int64_t n, c, h, w, k, r, s;
  int64_t sh, sw, ph, pw;
  int64_t g;      /* groups, 1: none */
  int64_t dh, dw; /* dilation, 1: dense */
} hbmark_conv_problem;

#endif
