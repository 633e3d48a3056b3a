/* Needs a library that is not there. */
#include "table.h"

int absent(void);

static int32_t probe(const hbmark_host* host, hbmark_device* devices, uint32_t capacity, uint32_t* count,
                     hbmark_status* status) {
  absent();
  return no_probe(host, devices, capacity, count, status);
}

static const hbmark_backend table = {.struct_size = sizeof(hbmark_backend),
                                     .abi_major = HBMARK_ABI_MAJOR,
                                     .name = "needs_absent",
                                     .version = "1",
                                     .summary = "",
                                     .probe = probe,
                                     .open = no_open,
                                     .close = no_close,
                                     .capability = no_capability};
DEFINE_ENTRY(table)
