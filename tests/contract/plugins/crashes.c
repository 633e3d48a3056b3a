/* Its constructor dies, as code for a newer processor does. */
#include <signal.h>

#include "table.h"

__attribute__((constructor)) static void die(void) { raise(SIGILL); }

static const hbmark_backend table = {MEMBERS("crashes")};
DEFINE_ENTRY(table)
