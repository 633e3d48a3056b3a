/* What the host offers a plugin: services found by name.
 *
 * `service(host, id)` gives the table of that service or NULL when this host lacks it; a plugin must do without.
 * Threads: every service may be called from any thread of the plugin at any time between `open` and `close`.
 * Ownership: the host outlives every session; tables live as long as the process.
 */
#ifndef HBMARK_ABI_HOST_H
#define HBMARK_ABI_HOST_H

#include "backends/abi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HBMARK_HOST_LOG_V1 "hbmark.host.log/1"
#define HBMARK_HOST_MEMORY_V1 "hbmark.host.memory/1"
#define HBMARK_HOST_CANCEL_V1 "hbmark.host.cancel/1"

typedef struct hbmark_host {
  uint32_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  uint32_t reserved;
  void* context; /* the host's own; a plugin never reads it */
  const void* (*service)(const struct hbmark_host* host, const char* id);
} hbmark_host;

enum { HBMARK_LOG_DEBUG = 0, HBMARK_LOG_INFO = 1, HBMARK_LOG_WARNING = 2 };

/* Text for a person. A plugin never writes to stdout or stderr itself. */
typedef struct hbmark_host_log {
  uint32_t struct_size;
  uint32_t reserved;
  void (*write)(const hbmark_host* host, int32_t level, const char* text);
} hbmark_host_log;

/* Host memory, placed by the host's policy and first-touched in parallel by the pinned threads of the placement.
 * allocate: `bytes` > 0, `alignment` a power of two of at least 64; HBMARK_OUT_OF_MEMORY when it does not fit. */
typedef struct hbmark_host_memory {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*allocate)(const hbmark_host* host, uint64_t bytes, uint64_t alignment, void** address, hbmark_status* status);
  void (*release)(const hbmark_host* host, void* address);
} hbmark_host_memory;

/* requested: 1 once the host wants the running call to end early with HBMARK_CANCELLED. Cheap; look often in long loops,
 * but never inside what is timed more than once a call. */
typedef struct hbmark_host_cancel {
  uint32_t struct_size;
  uint32_t reserved;
  int32_t (*requested)(const hbmark_host* host);
} hbmark_host_cancel;

#ifdef __cplusplus
}
#endif

#endif
