/* hbmark.chase/1: the latency of a load, by a chain in which each load's address is what the load before it brought.
 *
 * array_bytes of memory (at least two lines) are lines of HBMARK_CHASE_LINE_BYTES, and one cycle leads through all of them
 * in random order. A call follows it for `loads` loads, one after the other, in one thread, and nothing else; it starts
 * where the call before it ended (at line 0 after "next" was written), so that calls that are too short to see every line
 * see them all between them. Operands in order: "next" in, HBMARK_S32, one element a line: the index of the line that
 * follows; "z" out, HBMARK_S32, two elements: the line where the last call started and the line where it ended. A plugin
 * lays the cycle out in array_bytes of its own as its device follows it best (an address in each line, on a CPU): that is
 * its conversion, and never timed.
 *
 * What a load's time holds: the level of the memory hierarchy that keeps array_bytes, and the translation of addresses for
 * accesses all over them: no two loads in a row share a page once there are many pages. With pages of 2 MiB, which hbmark's
 * host asks for, misses in the first translation buffers begin at some 100 MiB; with 4 KiB at some 256 KiB.
 */
#ifndef HBMARK_ABI_CHASE_H
#define HBMARK_ABI_CHASE_H

#include "backends/abi/kernel.h"

#define HBMARK_CHASE_V1 "hbmark.chase/1"

enum { HBMARK_CHASE_LINE_BYTES = 64 };

typedef struct hbmark_chase_problem {
  uint32_t struct_size;
  uint32_t reserved;
  uint64_t array_bytes; /* a multiple of HBMARK_CHASE_LINE_BYTES */
  uint64_t loads;       /* of one call; at least 1 */
} hbmark_chase_problem;

#endif
