// hbmark help [COMMAND]
#include <fmt/core.h>

#include "bench/cli/commands.h"
#include "bench/cli/help.h"
#include "bench/cli/parser.h"
#include "bench/cli/report.h"
#include "bench/cli/values.h"

namespace hbmark::cli {
namespace {

Result<int> help(const Context& context, const std::string& name) {
  Globals globals;
  std::vector<Action> actions;
  const auto app = make_parser(globals, actions);
  std::string text;
  if (name.empty()) {
    text = overview_help(*app);
  } else {
    const auto found = app->get_subcommands([&](CLI::App* command) { return command->get_name() == name; });
    if (found.empty()) {
      std::vector<std::string> known;
      for (const Command& row : commands()) {
        if (!row.hidden) known.emplace_back(row.name);
      }
      const std::string guess = nearest(name, known);
      return usage_error(name, "there is no such command",
                         guess.empty() ? "`hbmark help` lists them" : fmt::format("did you mean `hbmark help {}`?", guess));
    }
    text = command_help(*found.front(), *app);
  }
  if (auto written = context.emit(text); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

Action declare_help(CLI::App& app) {
  auto name = std::make_shared<std::string>();
  add_positional(app, "COMMAND", *name, "Command to explain; without one, all are listed");
  return [name](const Context& context) { return help(context, *name); };
}

}  // namespace hbmark::cli
