/* What it calls a table is not one. */
#include "table.h"

static const hbmark_backend table = {.struct_size = 0xdeadbeefu, .abi_major = HBMARK_ABI_MAJOR, .name = "garbage"};
DEFINE_ENTRY(table)
