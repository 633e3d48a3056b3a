/* Its table has no name. */
#include "table.h"

static const hbmark_backend table = {MEMBERS(NULL)};
DEFINE_ENTRY(table)
