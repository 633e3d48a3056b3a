/* hbmark.stream/1: one pass over arrays too simple to be bound by anything but memory.
 *
 * z = x (copy), z = scalar x (scale), z = x + y (add), z = x + scalar y (triad), z = scalar (write), element by element, in
 * parallel; and a read of x, which leaves sums that no element can be missing from.
 * Operands in order: "x" in (not for write) [, "y" in for add and triad], "z" out. Each array has array_bytes bytes (a
 * multiple of the element size). Canonical layout: the array itself.
 *
 * Of a read, "z" has HBMARK_STREAM_READ_SUMS elements of type HBMARK_S32: element j is the sum, modulo 2^32, of those 32-bit
 * words of x, as they lie in memory, whose index is j modulo HBMARK_STREAM_READ_SUMS. Integers, because such sums are the
 * same in every order and exact: one element left out changes one of them for certain. A cache line holds one word of each.
 */
#ifndef HBMARK_ABI_STREAM_H
#define HBMARK_ABI_STREAM_H

#include "backends/abi/kernel.h"

#define HBMARK_STREAM_V1 "hbmark.stream/1"

enum {
  HBMARK_STREAM_COPY = 1,
  HBMARK_STREAM_SCALE = 2,
  HBMARK_STREAM_ADD = 3,
  HBMARK_STREAM_TRIAD = 4,
  HBMARK_STREAM_READ = 5,
  HBMARK_STREAM_WRITE = 6
};
enum { HBMARK_STREAM_READ_SUMS = 16 };

typedef struct hbmark_stream_problem {
  uint32_t struct_size;
  uint32_t op;
  uint32_t type;
  uint32_t reserved;
  uint64_t array_bytes;
  double scalar;
} hbmark_stream_problem;

#endif
