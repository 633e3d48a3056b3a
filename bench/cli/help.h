// Help texts, made from the declared options, so that they cannot tell of others. Pure, thread-safe.
#pragma once

#include <string>

#include "bench/cli/parser.h"

namespace hbmark::cli {

std::string overview_help(const CLI::App& app);
std::string command_help(const CLI::App& command, const CLI::App& app);

}  // namespace hbmark::cli
