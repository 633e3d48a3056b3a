// What the places we write to can show: colour, UTF-8, width.
//
// Decided from a snapshot of the environment and the descriptor, so that tests need no terminal. Thread-safe as long as
// nobody changes the environment.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "bench/cli/text.h"

namespace hbmark::cli {

// The value of an environment variable; nullopt: not set.
using Environment = std::function<std::optional<std::string>(const char* name)>;
std::optional<std::string> process_environment(const char* name);

enum class ColorWish { kAuto, kAlways, kNever };

// Columns of the terminal behind `descriptor`; nullopt: no terminal, or it does not say.
std::optional<int> terminal_columns(int descriptor);

// From LC_ALL, LC_CTYPE, LANG, the first that is set and not empty: a locale we speak UTF-8 in, installed or not.
bool wants_utf8(const Environment& environment);

// --color first, then NO_COLOR and TERM=dumb, then whether it is a terminal.
bool wants_color(ColorWish wish, bool is_terminal, const Environment& environment);

// A terminal on which a line can be redrawn.
bool can_redraw(int descriptor, const Environment& environment);

// How to write to `descriptor`: 100 columns where there is no terminal.
Style style_for(int descriptor, ColorWish wish, const Environment& environment);

}  // namespace hbmark::cli
