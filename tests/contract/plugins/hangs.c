/* Its constructor never comes back. */
#include <unistd.h>

#include "table.h"

__attribute__((constructor)) static void wait_for_ever(void) {
  for (;;) pause();
}

static const hbmark_backend table = {MEMBERS("hangs")};
DEFINE_ENTRY(table)
