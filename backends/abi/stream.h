/* hbmark.stream/1: one pass over arrays too simple to be bound by anything but memory.
 *
 * z = x (copy), z = scalar x (scale), z = x + y (add), z = x + scalar y (triad), element by element, in parallel.
 * Operands in order: "x" in [, "y" in for add and triad], "z" out. Each array has array_bytes bytes (a multiple of the
 * element size). Canonical layout: the array itself.
 */
#ifndef HBMARK_ABI_STREAM_H
#define HBMARK_ABI_STREAM_H

#include "backends/abi/kernel.h"

#define HBMARK_STREAM_V1 "hbmark.stream/1"

enum { HBMARK_STREAM_COPY = 1, HBMARK_STREAM_SCALE = 2, HBMARK_STREAM_ADD = 3, HBMARK_STREAM_TRIAD = 4 };

typedef struct hbmark_stream_problem {
  uint32_t struct_size;
  uint32_t op;
  uint32_t type;
  uint32_t reserved;
  uint64_t array_bytes;
  double scalar;
} hbmark_stream_problem;

#endif
