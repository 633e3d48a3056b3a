// The program's parser: global options and every command of the table. One thread.
#pragma once

#include <CLI/CLI.hpp>
#include <memory>
#include <string>
#include <vector>

#include "bench/cli/commands.h"

namespace hbmark::cli {

struct Globals {
  std::string db, format, output, color = "auto";
  bool quiet = false, verbose = false, version = false;
};

// `actions` gets one action a row of commands(); both have to live as long as the parser.
std::unique_ptr<CLI::App> make_parser(Globals& globals, std::vector<Action>& actions);

}  // namespace hbmark::cli
