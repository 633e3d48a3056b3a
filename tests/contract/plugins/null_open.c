/* Its table lacks a function. */
#include "table.h"

static const hbmark_backend table = {.struct_size = sizeof(hbmark_backend),
                                     .abi_major = HBMARK_ABI_MAJOR,
                                     .name = "null_open",
                                     .version = "1",
                                     .summary = "",
                                     .probe = no_probe,
                                     .close = no_close};
DEFINE_ENTRY(table)
