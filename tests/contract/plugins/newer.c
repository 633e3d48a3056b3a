/* Built against a newer, longer layout of the same major version: members behind the ones this host knows. */
#include "table.h"

typedef struct newer_backend {
  hbmark_backend known;
  const void* (*later)(const char* id);
  char much_later[256];
} newer_backend;

static const newer_backend table = {.known = {MEMBERS("newer")}, .later = no_capability, .much_later = "not for you"};

const hbmark_backend* hbmark_backend_v1(void) {
  static newer_backend copy;
  copy = table;
  copy.known.struct_size = sizeof copy;
  copy.known.abi_minor = HBMARK_ABI_MINOR + 1;
  return &copy.known;
}
