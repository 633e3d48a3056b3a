/* Its name would break command lines and problem files. */
#include "table.h"

static const hbmark_backend table = {MEMBERS("Bad Name\n")};
DEFINE_ENTRY(table)
