// move_pages_of PID FROM TO: moves every page of a process from one NUMA node to another, behind its back, as migratepages
// of numactl does. Ends with 0 when the kernel says that all could be moved.
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: %s PID FROM TO\n", arguments[0]);
    return 2;
  }
  const unsigned long from = 1UL << std::strtoul(arguments[2], nullptr, 10);
  const unsigned long to = 1UL << std::strtoul(arguments[3], nullptr, 10);
  const long left = syscall(SYS_migrate_pages, std::strtol(arguments[1], nullptr, 10), 8 * sizeof from, &from, &to);
  if (left < 0) std::perror("migrate_pages");
  return left == 0 ? 0 : 1;
}
