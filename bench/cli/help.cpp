#include "bench/cli/help.h"

#include <fmt/core.h>

#include <algorithm>

namespace hbmark::cli {
namespace {

constexpr int kWidth = 80;
constexpr int kTextColumn = 26;

std::string head_of(const CLI::Option& option) {
  std::string head;
  for (const std::string& name : option.get_snames()) head += (head.empty() ? "-" : ", -") + name;
  for (const std::string& name : option.get_lnames()) head += (head.empty() ? "--" : ", --") + name;
  if (head.empty()) head = option.get_name();
  if (!option.get_lnames().empty() && !option.get_type_name().empty() && option.get_items_expected_max() > 0) {
    head += " " + option.get_type_name();
  }
  return head;
}

void append_entry(const std::string& head, const std::string& text, std::string& out) {
  std::string line = "  " + head;
  const auto pad = [&] { line.append(static_cast<std::size_t>(std::max(0, kTextColumn - display_width(line))), ' '); };
  if (display_width(line) + 2 > kTextColumn) {
    out += line + '\n';
    line.clear();
  }
  for (const std::string& part : wrap(text, kWidth - kTextColumn)) {
    pad();
    out += line + part + '\n';
    line.clear();
  }
}

// What --format takes differs from command to command: the table says what.
std::string description_of(const CLI::Option& option, std::string_view command) {
  if (command.empty() || option.get_lnames() != std::vector<std::string>{"format"}) return option.get_description();
  std::vector<std::string> names = formats_of(command);
  const std::string first = names.front();
  std::replace(names.begin(), names.end(), std::string("json"), std::string("json (JSON Lines)"));
  return fmt::format("{} (default: {})", one_of(names), first);
}

// `command`: for which one, empty for all.
std::string options_text(const CLI::App& app, std::string_view command = "") {
  std::string out;
  for (const CLI::Option* option : app.get_options()) {
    if (app.get_parent() != nullptr && option == app.get_help_ptr()) continue;  // told with those of every command
    append_entry(head_of(*option), description_of(*option, command), out);
  }
  return out;
}

std::string usage_text(const CLI::App& command) {
  std::string out = "hbmark " + command.get_name();
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) out += fmt::format(" [{}]", option->get_name());
  }
  return out + " [OPTION]...\n";
}

constexpr std::string_view kExitCodes =
    "Exit codes: 0 ok, 1 a case failed or was wrong, 2 usage, 3 environment (no\n"
    "backend, no store), 4 nothing ran, 130 interrupted.\n";

}  // namespace

std::string overview_help(const CLI::App& app) {
  std::string out = "hbmark " HBMARK_VERSION
                    ": compare compute nodes with the same deep-learning microbenchmarks\n\n"
                    "Usage: hbmark COMMAND [OPTION]...\n\nCommands:\n";
  for (const Command& row : commands()) {
    if (!row.hidden) append_entry(std::string(row.name), std::string(row.summary), out);
  }
  out += "\nOptions of every command:\n" + options_text(app);
  out += "\nStart here:\n  hbmark doctor\n  hbmark run\n  hbmark show\n\n";
  out += kExitCodes;
  return out + "`hbmark help COMMAND` explains one.\n";
}

std::string command_help(const CLI::App& command, const CLI::App& app) {
  std::string out = "Usage: " + usage_text(command) + '\n' + command.get_description() + ".\n\nOptions:\n" +
                    options_text(command) + "\nOptions of every command:\n" + options_text(app, command.get_name());
  const auto table = commands();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Command& c) { return c.name == command.get_name(); });
  if (row != table.end() && !row->examples.empty()) {
    out += "\nExamples:\n  ";
    for (const char c : row->examples) out += c == '\n' ? std::string("\n  ") : std::string(1, c);
    out += '\n';
  }
  return out;
}

}  // namespace hbmark::cli
