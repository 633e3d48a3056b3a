/* Built for a later major version of the contract. */
#include "table.h"

static const hbmark_backend table = {.struct_size = sizeof(hbmark_backend),
                                     .abi_major = 1,
                                     .abi_minor = 4,
                                     .name = "other_abi",
                                     .version = "1",
                                     .summary = ""};
DEFINE_ENTRY(table)
