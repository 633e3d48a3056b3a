#include "bench/cli/parser.h"

namespace hbmark::cli {

std::unique_ptr<CLI::App> make_parser(Globals& globals, std::vector<Action>& actions) {
  auto app = std::make_unique<CLI::App>("Compare compute nodes with the same deep-learning microbenchmarks", "hbmark");
  app->set_help_flag("-h,--help", "Show this help");
  add_switch(*app, "--version", globals.version, "Show the version");
  add_value(*app, "--db", globals.db, "FILE",
            "Store to use (default: $HBMARK_DB, else hbmark/results.db in the XDG data folder)");
  add_value(*app, "--format", globals.format, "FORMAT", "text, json (JSON Lines) or csv");
  add_value(*app, "--output", globals.output, "FILE", "Write results to FILE, whole or not at all; - is stdout");
  add_switch(*app, "-q,--quiet", globals.quiet, "No progress, no notes: results and errors only");
  add_switch(*app, "-v,--verbose", globals.verbose, "More of everything");
  add_value(*app, "--color", globals.color, "WHEN", "auto, always or never");
  app->allow_extras();
  app->require_subcommand(0, 1);
  app->fallthrough();
  for (const Command& row : commands()) {
    CLI::App* command = app->add_subcommand(std::string(row.name), std::string(row.summary));
    command->fallthrough();
    if (row.hidden) command->group("");
    actions.push_back(row.declare(*command));
  }
  return app;
}

}  // namespace hbmark::cli
