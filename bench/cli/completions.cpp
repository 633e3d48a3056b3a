#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/cli/generate.h"

namespace hbmark::cli {
namespace {

bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<std::string> names_of(const CLI::Option& option) {
  std::vector<std::string> names;
  for (const std::string& name : option.get_snames()) names.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) names.push_back("--" + name);
  return names;
}

std::string long_name(const CLI::Option& option) { return option.get_lnames().empty() ? "" : option.get_lnames().front(); }

// What a value may be completed with: words, files, folders, or nothing known.
enum class Values { kWords, kFiles, kFolders, kUnknown };

Values values_of(const CLI::Option& option, const std::string& command) {
  if (!known_words(command, option.get_positional() ? option.get_name() : long_name(option)).empty()) return Values::kWords;
  const std::string type = option.get_positional() ? option.get_name() : option.get_type_name();
  if (type.starts_with("FILE")) return Values::kFiles;
  if (type == "DIR") return Values::kFolders;
  return Values::kUnknown;
}

std::string words_of(const CLI::Option& option, const std::string& command) {
  return fmt::format("{}",
                     fmt::join(known_words(command, option.get_positional() ? option.get_name() : long_name(option)), " "));
}

const CLI::Option* positional_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->get_positional()) return option;
  }
  return nullptr;
}

// In single quotes, for a shell.
std::string quoted(const std::string& text) {
  std::string out = "'";
  for (const char c : text) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

// What zsh's _arguments reads between brackets.
std::string zsh_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') out += '\\';
    out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  }
  return out;
}

std::string bash_reply(const CLI::Option& option, const std::string& command) {
  switch (values_of(option, command)) {
    case Values::kWords:
      return fmt::format("COMPREPLY=($(compgen -W \"{}\" -- \"$cur\"))", words_of(option, command));
    case Values::kFiles:
      return "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")";
    case Values::kFolders:
      return "compopt -o filenames 2>/dev/null; mapfile -t COMPREPLY < <(compgen -d -- \"$cur\")";
    case Values::kUnknown:
      return "COMPREPLY=()";
  }
  return "COMPREPLY=()";
}

// Cases of `case "$command:$prev"`: the options that take a value.
std::string bash_values(const CLI::App& app, const std::string& command) {
  std::string out;
  for (const CLI::Option* option : shown_options(app)) {
    if (!takes_value(*option)) continue;
    std::string pattern;
    for (const std::string& name : names_of(*option)) {
      pattern += (pattern.empty() ? "" : "|") + (command.empty() ? "*" : command) + ":" + name;
    }
    out += fmt::format("    {}) {}; return ;;\n", pattern, bash_reply(*option, command));
  }
  return out;
}

std::string option_words(const CLI::App& app) {
  std::vector<std::string> words;
  for (const CLI::Option* option : shown_options(app)) {
    for (std::string& name : names_of(*option)) words.push_back(std::move(name));
  }
  return fmt::format("{}", fmt::join(words, " "));
}

std::string zsh_value(const CLI::Option& option, const std::string& command) {
  const std::string type = zsh_text(option.get_positional() ? option.get_name() : option.get_type_name());
  switch (values_of(option, command)) {
    case Values::kWords:
      return fmt::format(":{}:({})", type, words_of(option, command));
    case Values::kFiles:
      return fmt::format(":{}:_files", type);
    case Values::kFolders:
      return fmt::format(":{}:_files -/", type);
    case Values::kUnknown:
      return fmt::format(":{}: ", type);
  }
  return "";
}

std::string zsh_options(const CLI::App& app, const std::string& command) {
  std::string out;
  for (const CLI::Option* option : shown_options(app)) {
    for (const std::string& name : names_of(*option)) {
      out += fmt::format(" \\\n        '*{}[{}]{}'", name, zsh_text(option->get_description()),
                         takes_value(*option) ? zsh_value(*option, command) : "");
    }
  }
  return out;
}

std::string fish_options(const CLI::App& app, const std::string& command) {
  std::string out;
  for (const CLI::Option* option : shown_options(app)) {
    out += "complete -c hbmark";
    if (!command.empty()) out += fmt::format(" -n '__fish_seen_subcommand_from {}'", command);
    for (const std::string& name : option->get_snames()) out += " -s " + name;
    for (const std::string& name : option->get_lnames()) out += " -l " + name;
    if (takes_value(*option)) {
      const Values values = values_of(*option, command);
      out += " -r";
      if (values == Values::kWords) out += fmt::format(" -f -a '{}'", words_of(*option, command));
      if (values == Values::kFiles) out += " -F";
      if (values == Values::kFolders) out += " -f -a '(__fish_complete_directories)'";
      if (values == Values::kUnknown) out += " -f";
    }
    out += " -d " + quoted(option->get_description()) + "\n";
  }
  return out;
}

std::string command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : shown_commands(app)) names.push_back(command->get_name());
  return fmt::format("{}", fmt::join(names, " "));
}

}  // namespace

std::vector<std::string> known_words(const std::string& command, const std::string& option) {
  if (option == "format") return formats_of(command);
  if (option == "color") return {"auto", "always", "never"};
  if (command == "list" && option == "WHAT") return {"runs", "suites", "backends", "kernels"};
  if (command == "import" && option == "from") return {"gbench"};
  if (command == "generate" && option == "WHAT") return {"man", "completions"};
  if (command == "generate" && option == "SHELL") return {"bash", "zsh", "fish"};
  if (command == "help" && option == "COMMAND") {
    std::vector<std::string> names;
    for (const Command& row : commands()) {
      if (!row.hidden) names.emplace_back(row.name);
    }
    return names;
  }
  if (command == "run" && option == "resume") return {"last"};
  return {};
}

std::string bash_completion(const CLI::App& app) {
  std::string out =
      "# bash completion of hbmark, made by `hbmark generate completions bash`\n"
      "_hbmark() {\n"
      "  local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} command= word i\n"
      "  COMPREPLY=()\n"
      "  for ((i = 1; i < COMP_CWORD; ++i)); do\n"
      "    word=${COMP_WORDS[i]}\n"
      "    case \" " +
      command_names(app) +
      " \" in *\" $word \"*) command=$word; break ;; esac\n"
      "  done\n"
      "  case \"$command:$prev\" in\n";
  for (const CLI::App* command : shown_commands(app)) {
    out += bash_values(*command, command->get_name());
    if (command->get_name() == "export") {
      out += fmt::format("    export:--format) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")); return ;;\n",
                         fmt::join(known_words("export", "format"), " "));
    }
  }
  out += bash_values(app, "") + "  esac\n  if [[ $cur == -* ]]; then\n    case \"$command\" in\n";
  for (const CLI::App* command : shown_commands(app)) {
    out += fmt::format("      {}) COMPREPLY=($(compgen -W \"{} {}\" -- \"$cur\")) ;;\n", command->get_name(),
                       option_words(*command), option_words(app));
  }
  out += fmt::format(
      "      *) COMPREPLY=($(compgen -W \"{}\" -- \"$cur\")) ;;\n    esac\n    return\n  fi\n  case \"$command:$prev\" in\n",
      option_words(app));
  out += "    generate:completions) COMPREPLY=($(compgen -W \"bash zsh fish\" -- \"$cur\")); return ;;\n  esac\n";
  out += "  case \"$command\" in\n    '') COMPREPLY=($(compgen -W \"" + command_names(app) + "\" -- \"$cur\")) ;;\n";
  for (const CLI::App* command : shown_commands(app)) {
    const CLI::Option* option = positional_of(*command);
    if (option != nullptr)
      out += fmt::format("    {}) {} ;;\n", command->get_name(), bash_reply(*option, command->get_name()));
  }
  return out + "  esac\n}\ncomplete -F _hbmark hbmark\n";
}

std::string zsh_completion(const CLI::App& app) {
  std::string out =
      "#compdef hbmark\n# made by `hbmark generate completions zsh`\n_hbmark() {\n  local context state line\n  typeset -A "
      "opt_args\n"
      "  local -a commands=(\n";
  for (const CLI::App* command : shown_commands(app)) {
    out += "    " + quoted(command->get_name() + ":" + command->get_description()) + "\n";
  }
  out += "  )\n  _arguments -C" + zsh_options(app, "") +
         " \\\n        '1: :->command' \\\n        '*:: :->rest'\n  case $state in\n    command) _describe command commands "
         ";;\n"
         "    rest)\n      case $line[1] in\n";
  for (const CLI::App* command : shown_commands(app)) {
    out += "      " + command->get_name() + ") _arguments" + zsh_options(*command, command->get_name()) +
           zsh_options(app, command->get_name());
    for (const CLI::Option* option : command->get_options()) {
      if (option->get_positional()) out += " \\\n        ':" + zsh_value(*option, command->get_name()) + "'";
    }
    out += " ;;\n";
  }
  return out + "      esac ;;\n  esac\n}\n_hbmark \"$@\"\n";
}

std::string fish_completion(const CLI::App& app) {
  std::string out = "# fish completion of hbmark, made by `hbmark generate completions fish`\ncomplete -c hbmark -f\n";
  for (const CLI::App* command : shown_commands(app)) {
    out += fmt::format("complete -c hbmark -n __fish_use_subcommand -a {} -d {}\n", command->get_name(),
                       quoted(command->get_description()));
    for (const CLI::Option* option : command->get_options()) {
      if (!option->get_positional()) continue;
      const std::string seen = fmt::format("complete -c hbmark -n '__fish_seen_subcommand_from {}'", command->get_name());
      const Values values = values_of(*option, command->get_name());
      if (values == Values::kWords) out += seen + fmt::format(" -a '{}'\n", words_of(*option, command->get_name()));
      if (values == Values::kFiles) out += seen + " -F\n";
    }
    out += fish_options(*command, command->get_name());
  }
  return out + fish_options(app, "");
}

}  // namespace hbmark::cli
