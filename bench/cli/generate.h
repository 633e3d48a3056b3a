// Man page and completions, made from the declared options and the table of commands, so that they cannot tell of others.
// Pure, thread-safe.
#pragma once

#include <string>

#include "bench/cli/parser.h"

namespace hbmark::cli {

std::string man_page(const CLI::App& app);
std::string bash_completion(const CLI::App& app);
std::string zsh_completion(const CLI::App& app);
std::string fish_completion(const CLI::App& app);

// Words an option or an argument takes, where they are few and known: {"text", "json", "csv"} for --format.
std::vector<std::string> known_words(const std::string& command, const std::string& option);

// The commands a person may give, in the table's order, each with its declared options.
std::vector<const CLI::App*> shown_commands(const CLI::App& app);
// The options of one, without those of every command and without positional arguments.
std::vector<const CLI::Option*> shown_options(const CLI::App& app);

}  // namespace hbmark::cli
