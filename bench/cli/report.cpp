#include "bench/cli/report.h"

#include <fmt/core.h>
#include <unistd.h>

#include "bench/cli/output.h"

namespace hbmark::cli {

int exit_code(ErrorKind kind) {
  switch (kind) {
    case ErrorKind::kUsage:
      return kExitUsage;
    case ErrorKind::kEnvironment:
    case ErrorKind::kBusy:
      return kExitEnvironment;
    case ErrorKind::kNothingRan:
      return kExitNothingRan;
    case ErrorKind::kInterrupted:
      return kExitInterrupted;
    case ErrorKind::kInternal:
      return kExitEnvironment;
  }
  return kExitEnvironment;
}

std::string error_text(const Error& error, const Style& style) {
  std::string text = fmt::format("{} {}", style.paint("hbmark:", Color::kRed), printable(error.what));
  if (!error.why.empty()) text += ": " + printable(error.why);
  text += '\n';
  std::string next = printable(error.next);
  if (error.kind == ErrorKind::kInternal) {
    next += next.empty() ? "" : "; ";
    next += "this is a defect of hbmark: please report it with the command and `hbmark --version`";
  }
  if (!next.empty()) text += "  " + next + '\n';
  return text;
}

void print_error(const Error& error, const Style& style) { write_all(STDERR_FILENO, error_text(error, style)); }

void print_warning(std::string_view text, const Style& style) {
  write_all(STDERR_FILENO, fmt::format("hbmark: {} {}\n", style.paint("warning:", Color::kYellow), printable(text)));
}

void print_note(std::string_view text) { write_all(STDERR_FILENO, fmt::format("hbmark: {}\n", printable(text))); }

}  // namespace hbmark::cli
