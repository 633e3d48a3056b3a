/* Nothing wrong with it: what must still load beside the others. */
#include "table.h"

static const hbmark_backend table = {MEMBERS("good")};
DEFINE_ENTRY(table)
