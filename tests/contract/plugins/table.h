/* What the hostile plugins of this folder share: a table of the contract that does nothing, to be spoilt in one respect
 * each. Plain C11 on backends/abi alone, so that this folder also shows that a plugin can be written that way. */
#ifndef HBMARK_TESTS_PLUGIN_TABLE_H
#define HBMARK_TESTS_PLUGIN_TABLE_H

#include <stddef.h>
#include <string.h>

#include "backends/abi/backend.h"

static inline int32_t say(hbmark_status* status, int32_t code, const char* message) {
  status->code = code;
  status->vendor_code = 0;
  strncpy(status->message, message, sizeof status->message - 1);
  status->message[sizeof status->message - 1] = '\0';
  return code;
}
static inline int32_t no_probe(const hbmark_host* host, hbmark_device* devices, uint32_t capacity, uint32_t* count,
                               hbmark_status* status) {
  (void)host, (void)devices, (void)capacity;
  *count = 0;
  return say(status, HBMARK_UNAVAILABLE, "a plugin of the tests has no device");
}
static inline int32_t no_open(const hbmark_host* host, const char* id, hbmark_session** session, hbmark_status* status) {
  (void)host, (void)id;
  *session = NULL;
  return say(status, HBMARK_UNAVAILABLE, "a plugin of the tests has no device");
}
static inline void no_close(hbmark_session* session) { (void)session; }
static inline const void* no_capability(const char* id) {
  (void)id;
  return NULL;
}

#define MEMBERS(NAME)                                                                                                  \
  .struct_size = sizeof(hbmark_backend), .abi_major = HBMARK_ABI_MAJOR, .abi_minor = HBMARK_ABI_MINOR, .name = (NAME), \
  .version = "1.2.3", .summary = "a plugin of the tests", .probe = no_probe, .open = no_open, .close = no_close,       \
  .capability = no_capability

#define DEFINE_ENTRY(TABLE) \
  const hbmark_backend* hbmark_backend_v1(void) { return &(TABLE); }

#endif
