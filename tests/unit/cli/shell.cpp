#include "tests/unit/cli/shell.h"

#include <sys/wait.h>

#include <array>
#include <cstdio>

namespace hbmark::tests {

Ran shell(const std::string& command) {
  Ran ran;
  FILE* pipe = popen(command.c_str(), "r");
  if (pipe == nullptr) return ran;
  std::array<char, 4096> block{};
  for (std::size_t got = 0; (got = fread(block.data(), 1, block.size(), pipe)) > 0;) ran.text.append(block.data(), got);
  const int status = pclose(pipe);
  ran.code = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  return ran;
}

Ran run_hbmark(const std::string& arguments, const std::string& before, const std::string& program) {
  return shell(before + " LC_ALL=C '" + program + "' " + arguments);
}

}  // namespace hbmark::tests
