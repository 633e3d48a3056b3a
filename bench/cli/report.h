// Errors and warnings as the user sees them, and the exit codes: the one place where they are made.
//
// Writes to stderr only; a failure to do so is ignored, there is nobody left to tell. One thread.
#pragma once

#include <string>
#include <string_view>

#include "bench/cli/text.h"
#include "results/base/result.h"

namespace hbmark::cli {

// DESIGN.md section 8.
enum ExitCode : int {
  kExitOk = 0,
  kExitCaseFailed = 1,
  kExitUsage = 2,
  kExitEnvironment = 3,
  kExitNothingRan = 4,
  kExitThreshold = 5,
  kExitInterrupted = 130,
};

int exit_code(ErrorKind kind);

// "hbmark: what: why" and, indented beneath, what to do next.
std::string error_text(const Error& error, const Style& style);

void print_error(const Error& error, const Style& style);
void print_warning(std::string_view text, const Style& style);
void print_note(std::string_view text);

}  // namespace hbmark::cli
