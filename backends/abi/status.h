/* How a call across the plugin border says what happened.
 *
 * Every function of the contract that can fail returns one of the codes below and, when the code is not HBMARK_OK, fills the
 * `hbmark_status` it was handed (never NULL). `message` is one sentence for a person: what failed and why. Codes
 * HBMARK_UNSUPPORTED and HBMARK_UNAVAILABLE always carry a message; a host treats an empty one as a defect of the plugin.
 *
 * Threads: a status belongs to the caller; nothing here is shared.
 */
#ifndef HBMARK_ABI_STATUS_H
#define HBMARK_ABI_STATUS_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
  HBMARK_OK = 0,
  HBMARK_UNSUPPORTED = 1,   /* this backend cannot do this problem; another might */
  HBMARK_UNAVAILABLE = 2,   /* no such device, driver or library */
  HBMARK_OUT_OF_MEMORY = 3, /* an allocation was refused; nothing is leaked, the session stays usable */
  HBMARK_CANCELLED = 4,     /* the host's cancel service answered yes */
  HBMARK_INVALID = 5,       /* the host broke the contract (wrong order of calls, wrong size) */
  HBMARK_FAILED = 6         /* the library reported an error: see vendor_code */
};

typedef struct hbmark_status {
  uint32_t struct_size; /* set by the caller to sizeof(hbmark_status) */
  int32_t code;         /* repeats the returned code */
  int64_t vendor_code;  /* the library's own code, 0 where there is none */
  char message[480];    /* NUL-terminated UTF-8 */
} hbmark_status;

#ifdef __cplusplus
}
#endif

#endif
