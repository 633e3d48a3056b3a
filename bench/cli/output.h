// Where results go: stdout or a file that appears whole or not at all.
//
// A command hands over its finished text; nothing is written before. One thread. Errors (environment) say which place could
// not be written and why; a closed pipe is one too (SIGPIPE is ignored in this program).
#pragma once

#include <string>
#include <string_view>

#include "results/base/result.h"

namespace hbmark::cli {

// Gives a closed descriptor 0, 1 or 2 to /dev/null, the wrong way round: using it still fails with EBADF, but no store, pipe
// or plugin file that is opened later gets its number and is written to by mistake. First thing in the program.
void occupy_closed_stdio();

// `place`: "" or "-" for stdout, else a file. Looks whether writing can work, before a long run; writes nothing.
Status check_output(const std::string& place);

// A regular file is written beside its place, synced and renamed over it, with the rights it had or the umask's;
// anything else (a device, a pipe) is written straight. A SQLite file is refused (usage): it may be the store.
Status write_output(const std::string& place, std::string_view text);

// Everything to an open descriptor, whatever the kernel takes at a time. Returns 0 or an errno.
int write_all(int descriptor, std::string_view text);

}  // namespace hbmark::cli
