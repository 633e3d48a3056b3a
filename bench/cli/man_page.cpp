#include <fmt/core.h>

#include <algorithm>

#include "bench/cli/generate.h"

namespace hbmark::cli {
namespace {

// Text in roff: a backslash, a hyphen that is to be copied, and a line that would begin with a request.
std::string roff(std::string_view text) {
  std::string out;
  for (const char c : text) {
    if (c == '\\') {
      out += "\\e";
    } else if (c == '-') {
      out += "\\-";
    } else {
      if ((c == '.' || c == '\'') && (out.empty() || out.back() == '\n')) out += "\\&";
      out += c;
    }
  }
  return out;
}

// Prose, in lines that a person can read in the source.
std::string prose(std::string_view text) {
  constexpr int kColumns = 70;  // room for escapes
  std::string lines;
  for (const std::string& line : wrap(text, kColumns)) lines += (lines.empty() ? "" : "\n") + line;
  return roff(lines);
}

std::string sentence(std::string text) {
  if (!text.empty() && text.back() != '.') text += '.';
  return text;
}

std::string option_item(const CLI::Option& option) {
  std::string names;
  for (const std::string& name : option.get_snames())
    names += (names.empty() ? "\\fB\\-" : ", \\fB\\-") + roff(name) + "\\fR";
  for (const std::string& name : option.get_lnames())
    names += (names.empty() ? "\\fB\\-\\-" : ", \\fB\\-\\-") + roff(name) + "\\fR";
  if (option.get_items_expected_max() > 0 && !option.get_type_name().empty()) {
    names += " \\fI" + roff(option.get_type_name()) + "\\fR";
  }
  return ".TP\n" + names + "\n" + prose(sentence(option.get_description())) + "\n";
}

std::string positional(const CLI::App& command) {
  std::string out;
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) out += fmt::format(" [\\fI{}\\fR]", roff(option->get_name()));
  }
  return out;
}

std::string examples(std::string_view lines) {
  if (lines.empty()) return "";
  return ".PP\n.RS\n.nf\n" + roff(lines) + "\n.fi\n.RE\n";
}

std::string command_section(const CLI::App& command) {
  std::string out =
      fmt::format(".SS \"hbmark {}\"\n\\fBhbmark {}\\fR{} [\\fIOPTION\\fR]...\n.PP\n{}\n", roff(command.get_name()),
                  roff(command.get_name()), positional(command), prose(sentence(command.get_description())));
  for (const CLI::Option* option : command.get_options()) {
    if (!option->get_positional()) continue;
    out += fmt::format(".TP\n\\fI{}\\fR\n{}\n", roff(option->get_name()), prose(sentence(option->get_description())));
  }
  for (const CLI::Option* option : shown_options(command)) out += option_item(*option);
  const auto table = commands();
  const auto row = std::find_if(table.begin(), table.end(), [&](const Command& c) { return c.name == command.get_name(); });
  return out + (row == table.end() ? "" : examples(row->examples));
}

}  // namespace

std::string man_page(const CLI::App& app) {
  // No date of building: the same source gives the same page.
  std::string out =
      ".TH HBMARK 1 \"\" \"hbmark " HBMARK_VERSION "\" \"User Commands\"\n.SH NAME\nhbmark \\- " +
      roff("compare compute nodes with the same deep-learning microbenchmarks") +
      "\n.SH SYNOPSIS\n\\fBhbmark\\fR \\fICOMMAND\\fR [\\fIOPTION\\fR]...\n.SH DESCRIPTION\n" +
      prose(
          "Measures convolution, matrix products, memory bandwidth and arithmetic peaks through the vendor's library, with "
          "threads and memory placed deliberately and checked, stores every sample, and shows what a node reaches. "
          "Start with `hbmark doctor`, then `hbmark run`, then `hbmark show`.") +
      "\n.SH COMMANDS\n";
  for (const CLI::App* command : shown_commands(app)) out += command_section(*command);
  out += ".SH OPTIONS OF EVERY COMMAND\n";
  for (const CLI::Option* option : shown_options(app)) out += option_item(*option);
  out += ".SH EXIT STATUS\n";
  constexpr std::pair<int, const char*> kCodes[] = {{0, "Success."},
                                                    {1, "A case failed or was wrong."},
                                                    {2, "The command line is off."},
                                                    {3, "Something of the environment is missing: no backend, no store."},
                                                    {4, "Nothing ran."},
                                                    {130, "Interrupted; what was measured is kept."}};
  for (const auto& [code, text] : kCodes) out += fmt::format(".TP\n{}\n{}\n", code, prose(text));
  out += ".SH ENVIRONMENT\n";
  constexpr std::pair<const char*, const char*> kVariables[] = {
      {"HBMARK_DB", "The store, unless --db names one."},
      {"HBMARK_BACKEND_PATH", "Folders to look for backends in, separated by colons."},
      {"HBMARK_NODE_ID", "A name of your own for this node, where nothing else tells it from others (a container)."},
      {"XDG_DATA_HOME", "Folder of the default store, hbmark/results.db; without it $HOME/.local/share."},
      {"NO_COLOR, TERM", "No colour when NO_COLOR is set or TERM is dumb."}};
  for (const auto& [name, text] : kVariables) out += fmt::format(".TP\n\\fB{}\\fR\n{}\n", name, prose(text));
  return out;
}

}  // namespace hbmark::cli
