/* Running one problem: the table behind every kernel capability, and memory, timer and info beside it.
 *
 * Life of a case, all from the session's one thread:
 *   supports(problem)            pure and cheap; says truthfully whether prepare will succeed, memory aside
 *   prepare(problem)             -> case, candidate 0 selected
 *   candidates() / select(i)     the algorithms to choose from; the host times them and selects the best before sampling
 *   operands()                   the buffers the selected algorithm wants, inputs, outputs and workspace
 *   memory.alloc + bind(i, buf)  the host allocates and binds every operand
 *   memory.write_input(i)        canonical data in, converted to the plugin's layout; never timed
 *   run(calls)                   `calls` honest executions, finished or enqueued on the timer's stream; alone is timed
 *   memory.read_output(i)        canonical data out; waits for the device
 *   release
 * The host owns warm-up, loops, clocks, search, stopping and statistics. `run` must recompute everything each call and must
 * leave the outputs as one call would, however often it ran.
 *
 * Problem structs are in one header a kernel (gemm.h, conv.h, ...), handed over as `const void*` whose first member is its
 * struct_size. Counts are elements unless a name ends in _bytes.
 */
#ifndef HBMARK_ABI_KERNEL_H
#define HBMARK_ABI_KERNEL_H

#include "backends/abi/backend.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct hbmark_case hbmark_case;     /* one prepared problem; the plugin's own */
typedef struct hbmark_buffer hbmark_buffer; /* one allocation; the plugin's own */

/* Element types. A problem's type names input, accumulator, output: f32/f32/f32, bf16/f32/bf16, f16/f32/f16, s8/s32/s32. */
enum {
  HBMARK_F32 = 1,
  HBMARK_F64 = 2,
  HBMARK_BF16 = 3,
  HBMARK_F16 = 4,
  HBMARK_S8 = 5,
  HBMARK_U8 = 6,
  HBMARK_S32 = 7,
  HBMARK_TF32 = 8 /* f32 storage, products rounded to tf32 */
};

enum { HBMARK_INPUT = 1, HBMARK_OUTPUT = 2, HBMARK_WORKSPACE = 3 };

/* What the arithmetic of an algorithm is like: decides the tolerance and whether "above the ceiling" is to be expected. */
enum { HBMARK_ALGORITHM_DIRECT = 0, HBMARK_ALGORITHM_WINOGRAD = 1, HBMARK_ALGORITHM_FFT = 2, HBMARK_ALGORITHM_STRASSEN = 3 };

typedef struct hbmark_operand {
  uint32_t struct_size; /* set by the host before the call */
  uint32_t role;        /* HBMARK_INPUT, HBMARK_OUTPUT or HBMARK_WORKSPACE */
  uint32_t type;        /* element type of the canonical layout; 0 for a workspace */
  uint32_t reserved;
  char name[32];            /* the kernel header's name for it: "a", "src"; "workspace" */
  uint64_t canonical_bytes; /* size in the kernel header's plain layout; 0 for a workspace */
  uint64_t device_bytes;    /* size to allocate, in the plugin's layout; 0: nothing to bind */
} hbmark_operand;

typedef struct hbmark_candidate {
  uint32_t struct_size;
  uint32_t algorithm_class; /* HBMARK_ALGORITHM_* */
  uint64_t workspace_bytes;
  char name[96];
} hbmark_candidate;

typedef struct hbmark_case_info {
  uint32_t struct_size;
  uint32_t algorithm_class;
  uint32_t has_conversion; /* 1: a framework with plain tensors would pay for layout conversion; time it with `convert` */
  uint32_t reserved;
  double flop_per_call;     /* 0: as counted from the problem; set where only the plugin knows (peak) */
  double bytes_per_call;    /* 0: as counted from the problem */
  char implementation[128]; /* the library's name for what runs: "brgemm:avx512_core" */
  char isa[48];             /* effective instruction set: "avx512_core"; "" unknown */
  char layout[160];         /* layouts of the operands as the library chose them, and what is converted */
} hbmark_case_info;

typedef struct hbmark_kernel {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*supports)(hbmark_session* session, const void* problem, hbmark_status* status);
  int32_t (*prepare)(hbmark_session* session, const void* problem, hbmark_case** out, hbmark_status* status);
  int32_t (*candidates)(hbmark_case* c, hbmark_candidate* list, uint32_t capacity, uint32_t* count, hbmark_status* status);
  int32_t (*select)(hbmark_case* c, uint32_t index, hbmark_status* status); /* unbinds every operand */
  int32_t (*operands)(hbmark_case* c, hbmark_operand* list, uint32_t capacity, uint32_t* count, hbmark_status* status);
  int32_t (*bind)(hbmark_case* c, uint32_t operand, hbmark_buffer* buffer, hbmark_status* status);
  int32_t (*run)(hbmark_case* c, uint64_t calls, hbmark_status* status);
  /* The layout conversions of one call (plain inputs in, plain outputs out), `calls` times, timed by the host and reported
   * beside the result. NULL, or has_conversion 0: there are none. */
  int32_t (*convert)(hbmark_case* c, uint64_t calls, hbmark_status* status);
  int32_t (*info)(hbmark_case* c, hbmark_case_info* info, hbmark_status* status);
  void (*release)(hbmark_case* c);
} hbmark_kernel;

#define HBMARK_MEMORY_V1 "hbmark.memory/1"
typedef struct hbmark_memory {
  uint32_t struct_size;
  uint32_t reserved;
  /* Aligned to 64 bytes or more. A CPU plugin takes it from hbmark.host.memory/1, which places and first-touches it. */
  int32_t (*alloc)(hbmark_session* session, uint64_t bytes, hbmark_buffer** out, hbmark_status* status);
  void (*free)(hbmark_session* session, hbmark_buffer* buffer);
  /* The address the host may look at (to prove where its pages are), or NULL for device memory. */
  void* (*address)(hbmark_buffer* buffer);
  int32_t (*write_input)(hbmark_case* c, uint32_t operand, const void* canonical, uint64_t bytes, hbmark_status* status);
  int32_t (*read_output)(hbmark_case* c, uint32_t operand, void* canonical, uint64_t bytes, hbmark_status* status);
} hbmark_memory;

/* Time as the device itself counts it. Absent: the host uses its own monotonic clock round `run`. */
#define HBMARK_TIMER_V1 "hbmark.timer/1"
typedef struct hbmark_timer {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*begin)(hbmark_session* session, hbmark_status* status);
  int32_t (*end)(hbmark_session* session, hbmark_status* status);
  int32_t (*elapsed)(hbmark_session* session, double* seconds, hbmark_status* status); /* waits for the end mark */
} hbmark_timer;

#define HBMARK_INFO_V1 "hbmark.info/1"
typedef struct hbmark_info {
  uint32_t struct_size;
  uint32_t reserved;
  char library[64];  /* "oneDNN 2.6.3"; "" where the plugin's own loops run */
  char runtime[64];  /* threading runtime: "OpenMP" */
  char isa[48];      /* the best the library will use on this machine */
  char warning[480]; /* something the user must know ("a KNL without AVX-512 kernels: ..."); "" none */
} hbmark_info;
typedef struct hbmark_info_capability {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*describe)(hbmark_session* session, hbmark_info* info, hbmark_status* status);
} hbmark_info_capability;

#ifdef __cplusplus
}
#endif

#endif
