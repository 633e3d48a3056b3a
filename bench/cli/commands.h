// The table of commands: one file a command and one row here. Parsing is CLI11's; what a command needs of the program is
// handed to it in a Context. One thread.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "bench/cli/declare.h"
#include "bench/cli/terminal.h"
#include "bench/cli/text.h"
#include "results/base/result.h"

namespace hbmark::cli {

enum class OutputFormat { kText, kJson, kCsv, kGbench };  // the last one: export only

struct Context {
  std::filesystem::path program;  // absolute path of hbmark itself
  std::vector<std::string> command_line;
  std::filesystem::path db;
  bool db_is_default = false;     // neither --db nor $HBMARK_DB named it
  std::optional<Error> db_fault;  // why there is no `db`: an error only for a command that needs the store
  OutputFormat format = OutputFormat::kText;
  bool format_given = false;
  std::string output;  // file; empty or "-": stdout
  bool quiet = false;
  bool verbose = false;
  ColorWish color = ColorWish::kAuto;
  Environment environment = process_environment;
  Style out;  // for results
  Style err;  // for messages and progress

  // share/hbmark beside the program: suites and problems.
  std::filesystem::path share_dir() const { return program.parent_path().parent_path() / "share" / "hbmark"; }
  Status emit(std::string_view text) const;  // to --output
};

using Action = std::function<Result<int>(const Context&)>;  // the exit code

struct Command {
  std::string_view name;
  std::string_view summary;
  std::string_view examples;                   // lines for the help text
  Action (*declare)(CLI::App& app);            // adds its options; the action owns their values
  bool hidden = false;                         // not in the help
  std::string_view formats = "text json csv";  // that --format may name; the first is the one without it
};

std::span<const Command> commands();
std::vector<std::string> formats_of(std::string_view command);  // of the table; those of most where it has no such command

// A whole run of the program: parse, act, print errors; returns the exit code.
int run_program(int argc, char** argv);

// Where the store is when --db does not say: $HBMARK_DB, $XDG_DATA_HOME/hbmark/results.db, ~/.local/share/hbmark/results.db.
Result<std::filesystem::path> default_db(const Environment& environment);

Action declare_run(CLI::App& app);
Action declare_show(CLI::App& app);
Action declare_compare(CLI::App& app);
Action declare_list(CLI::App& app);
Action declare_node(CLI::App& app);
Action declare_doctor(CLI::App& app);
Action declare_export(CLI::App& app);
Action declare_import(CLI::App& app);
Action declare_generate(CLI::App& app);
Action declare_help(CLI::App& app);
Action declare_worker(CLI::App& app);

}  // namespace hbmark::cli
