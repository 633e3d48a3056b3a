/* Its constructor writes to stdout, where results go. */
#include <stdio.h>

#include "table.h"

__attribute__((constructor)) static void announce(void) { printf("Welcome to PRINTS(tm)!\n"); }

static const hbmark_backend table = {MEMBERS("prints")};
DEFINE_ENTRY(table)
