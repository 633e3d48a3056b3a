/* A second backend named "good". */
#include "table.h"

static const hbmark_backend table = {MEMBERS("good")};
DEFINE_ENTRY(table)
