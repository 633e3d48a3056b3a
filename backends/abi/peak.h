/* hbmark.peak/1: the arithmetic ceiling: independent chains of fused multiply-adds in registers, on every thread.
 *
 * Every chain starts at its element of "x" and repeats x = x * scale + offset, rounded as one fused operation; a call makes
 * enough steps that it comes to its fixed point offset / (1 - scale) whatever it started from (|scale| < 1), which is how
 * the host knows that the work was done. The plugin chooses the chains and steps, says so by info().flop_per_call
 * (2 flop a chain and step), and makes a call last about a millisecond.
 * Operands in order: "x" in, "z" out, one element a chain.
 */
#ifndef HBMARK_ABI_PEAK_H
#define HBMARK_ABI_PEAK_H

#include "backends/abi/kernel.h"

#define HBMARK_PEAK_V1 "hbmark.peak/1"

enum { HBMARK_PEAK_FMA = 1 };

typedef struct hbmark_peak_problem {
  uint32_t struct_size;
  uint32_t op;
  uint32_t type; /* HBMARK_F32 or HBMARK_F64 */
  uint32_t reserved;
  double scale;
  double offset;
} hbmark_peak_problem;

#endif
