// The widest line of a text, in columns.
#pragma once

#include <algorithm>
#include <sstream>
#include <string>

#include "bench/cli/text.h"

namespace hbmark::tests {

inline int widest_line(const std::string& text) {
  std::istringstream in(text);
  int widest = 0;
  for (std::string line; std::getline(in, line);) widest = std::max(widest, cli::display_width(line));
  return widest;
}

}  // namespace hbmark::tests
