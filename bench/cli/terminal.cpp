#include "bench/cli/terminal.h"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cstdlib>

namespace hbmark::cli {
namespace {

constexpr int kColumnsWithoutTerminal = 100;
constexpr int kMinColumns = 40;  // narrower is no place for a table: let it wrap

}  // namespace

std::optional<std::string> process_environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? std::nullopt : std::optional<std::string>(value);
}

std::optional<int> terminal_columns(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 0 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return std::nullopt;
  return size.ws_col;
}

bool wants_utf8(const Environment& environment) {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    std::string value = environment(name).value_or("");
    if (value.empty()) continue;
    std::transform(value.begin(), value.end(), value.begin(), [](unsigned char c) { return std::tolower(c); });
    return value.find("utf-8") != std::string::npos || value.find("utf8") != std::string::npos;
  }
  return false;
}

bool wants_color(ColorWish wish, bool is_terminal, const Environment& environment) {
  if (wish != ColorWish::kAuto) return wish == ColorWish::kAlways;
  // https://no-color.org: set and not empty.
  if (!environment("NO_COLOR").value_or("").empty() || environment("TERM").value_or("dumb") == "dumb") return false;
  return is_terminal;
}

bool can_redraw(int descriptor, const Environment& environment) {
  return isatty(descriptor) == 1 && environment("TERM").value_or("dumb") != "dumb";
}

Style style_for(int descriptor, ColorWish wish, const Environment& environment) {
  Style style;
  style.utf8 = wants_utf8(environment);
  style.color = wants_color(wish, isatty(descriptor) == 1, environment);
  style.width = std::max(kMinColumns, terminal_columns(descriptor).value_or(kColumnsWithoutTerminal));
  return style;
}

}  // namespace hbmark::cli
