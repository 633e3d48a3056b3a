/* The plugin contract: what a backend's shared object exports.
 *
 * One symbol, `hbmark_backend_v1`, returns a static table. Life of a backend:
 *   entry (no vendor call) -> probe (devices, or a reason) -> open(device) -> capability("hbmark.gemm/1") ... -> close.
 * Entry and probe are compiled for the baseline instruction set and make no assumption about the machine.
 * Growth is append-only: `struct_size` is the first member of every struct and a reader looks at no member beyond it.
 * A plugin never throws across this border, never exits, never prints, and leaves signal handlers alone.
 *
 * Threads: probe, open, close are called from one thread, one at a time. A session is used from one thread at a time.
 * The contract is version 0.x and may change until a GPU and a message-passing plugin have been built against it.
 */
#ifndef HBMARK_ABI_BACKEND_H
#define HBMARK_ABI_BACKEND_H

#include "backends/abi/host.h"
#include "backends/abi/status.h"

#ifdef __cplusplus
extern "C" {
#endif

#define HBMARK_ABI_MAJOR 0u
#define HBMARK_ABI_MINOR 1u
#define HBMARK_BACKEND_ENTRY "hbmark_backend_v1"

#if defined(__GNUC__)
#define HBMARK_EXPORT __attribute__((visibility("default")))
#else
#define HBMARK_EXPORT
#endif

typedef struct hbmark_session hbmark_session; /* one opened device; the plugin's own */

enum { HBMARK_DEVICE_CPU = 1, HBMARK_DEVICE_GPU = 2 };

typedef struct hbmark_device {
  uint32_t struct_size;  /* set by the host before the call */
  uint32_t kind;         /* HBMARK_DEVICE_* */
  char id[64];           /* handed to open: "cpu", "cuda:0" */
  char name[128];        /* for a person */
  uint64_t memory_bytes; /* the device's own memory; 0: shares the host's */
} hbmark_device;

typedef struct hbmark_backend {
  uint32_t struct_size;
  uint32_t abi_major; /* HBMARK_ABI_MAJOR the plugin was compiled with; the host refuses another */
  uint32_t abi_minor;
  uint32_t reserved;
  const char* name;    /* "onednn": [a-z0-9_]+, unique among loaded plugins */
  const char* version; /* the plugin's own version */
  const char* summary; /* one line for `hbmark list` */

  /* Fills at most `capacity` devices and sets *count to how many there are. HBMARK_UNAVAILABLE with a reason when none. */
  int32_t (*probe)(const hbmark_host* host, hbmark_device* devices, uint32_t capacity, uint32_t* count,
                   hbmark_status* status);
  int32_t (*open)(const hbmark_host* host, const char* device_id, hbmark_session** session, hbmark_status* status);
  void (*close)(hbmark_session* session);

  /* The table behind a capability id ("hbmark.gemm/1": hbmark_kernel), or NULL: unsupported. Pure; the table is static. */
  const void* (*capability)(const char* id);
} hbmark_backend;

typedef const hbmark_backend* (*hbmark_backend_entry)(void);

/* The one exported symbol. Makes no vendor call, cannot fail. */
HBMARK_EXPORT const hbmark_backend* hbmark_backend_v1(void);

#ifdef __cplusplus
}
#endif

#endif
