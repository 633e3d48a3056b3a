/* Its entry ends the process. */
#include <stdlib.h>

#include "table.h"

const hbmark_backend* hbmark_backend_v1(void) { exit(3); }
