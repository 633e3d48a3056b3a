/* Its table is too short to be one. */
#include "table.h"

static const hbmark_backend table = {.struct_size = 4, .abi_major = HBMARK_ABI_MAJOR, .name = "tiny"};
DEFINE_ENTRY(table)
