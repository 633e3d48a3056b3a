// Runs a command line as a person does and tells what it printed. Not for threads: it waits for the command.
#pragma once

#include <string>

namespace hbmark::tests {

struct Ran {
  int code = -1;     // exit code, or 128 + signal; -1: it could not be started
  std::string text;  // its stdout
};

Ran shell(const std::string& command);

// hbmark with these arguments, which may redirect, in the C locale. `before`: what stands before it (VARIABLE=value).
Ran run_hbmark(const std::string& arguments, const std::string& before = "", const std::string& program = HBMARK_PROGRAM);

}  // namespace hbmark::tests
