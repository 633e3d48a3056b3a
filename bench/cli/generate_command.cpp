// hbmark generate man|completions [SHELL]
#include <fmt/core.h>

#include <algorithm>

#include "bench/cli/commands.h"
#include "bench/cli/generate.h"
#include "bench/cli/report.h"

namespace hbmark::cli {
namespace {

struct GenerateWishes {
  std::string what, shell;
};

Result<std::string> generated(const GenerateWishes& wishes) {
  const std::string next = "hbmark generate man, or hbmark generate completions bash, zsh or fish";
  Globals globals;
  std::vector<Action> actions;
  const auto app = make_parser(globals, actions);
  if (wishes.what == "man") {
    if (!wishes.shell.empty()) return usage_error(wishes.shell, "a man page is for every shell", "leave it out");
    return man_page(*app);
  }
  if (wishes.what != "completions") {
    return wishes.what.empty() ? usage_error("generate", "nothing was named", next)
                               : usage_error("generate " + wishes.what, "there is no such thing to make", next);
  }
  if (wishes.shell == "bash") return bash_completion(*app);
  if (wishes.shell == "zsh") return zsh_completion(*app);
  if (wishes.shell == "fish") return fish_completion(*app);
  return wishes.shell.empty() ? usage_error("generate completions", "no shell was named", next)
                              : usage_error("generate completions " + wishes.shell, "no such shell is known", next);
}

Result<int> generate(const Context& context, const GenerateWishes& wishes) {
  if (context.format_given && context.format != OutputFormat::kText) {
    return usage_error("--format", "what is made here has one form", "leave the option out");
  }
  auto text = generated(wishes);
  if (!text) return tl::make_unexpected(text.error());
  if (auto written = context.emit(*text); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

std::vector<const CLI::App*> shown_commands(const CLI::App& app) {
  std::vector<const CLI::App*> shown;
  for (const Command& row : commands()) {
    if (!row.hidden) shown.push_back(app.get_subcommand(std::string(row.name)));
  }
  return shown;
}

std::vector<const CLI::Option*> shown_options(const CLI::App& app) {
  std::vector<const CLI::Option*> shown;
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional()) continue;
    if (app.get_parent() != nullptr && option == app.get_help_ptr()) continue;  // told with those of every command
    shown.push_back(option);
  }
  return shown;
}

Action declare_generate(CLI::App& app) {
  auto wishes = std::make_shared<GenerateWishes>();
  add_positional(app, "WHAT", wishes->what, "man, or completions");
  add_positional(app, "SHELL", wishes->shell, "Of completions: bash, zsh or fish");
  return [wishes](const Context& context) { return generate(context, *wishes); };
}

}  // namespace hbmark::cli
