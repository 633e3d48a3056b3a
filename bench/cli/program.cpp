#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstddef>
#include <system_error>

#include <fmt/core.h>

#include "bench/cli/commands.h"
#include "bench/cli/help.h"
#include "bench/cli/output.h"
#include "bench/cli/parser.h"
#include "bench/cli/report.h"
#include "bench/cli/values.h"
#include "bench/run/process.h"

namespace hbmark::cli {
namespace {

Result<std::filesystem::path> program_path() {
  std::error_code failed;
  auto path = std::filesystem::read_symlink("/proc/self/exe", failed);
  if (failed) {
    return environment_error("cannot tell where hbmark is installed", failed.message(),
                             "mount /proc, which hbmark reads a lot");
  }
  return path;
}

Result<OutputFormat> parse_format(const std::string& text, const std::string& command) {
  const std::vector<std::string> known = formats_of(command);
  const std::string& wanted = text.empty() ? known.front() : text;
  if (std::find(known.begin(), known.end(), wanted) == known.end()) {
    return usage_error(fmt::format("--format '{}'", printable(text)), fmt::format("'{}' has no such format", command),
                       "use " + one_of(known));
  }
  if (wanted == "text") return OutputFormat::kText;
  if (wanted == "json") return OutputFormat::kJson;
  if (wanted == "csv") return OutputFormat::kCsv;
  return OutputFormat::kGbench;
}

Result<ColorWish> parse_color(const std::string& text) {
  if (text == "auto") return ColorWish::kAuto;
  if (text == "always") return ColorWish::kAlways;
  if (text == "never") return ColorWish::kNever;
  return usage_error(fmt::format("--color '{}'", printable(text)), "there is no such choice", "use auto, always or never");
}

void warn_about_relative_folders(const Context& context) {
  for (const char* name : {"XDG_DATA_HOME", "HOME"}) {
    const std::string value = context.environment(name).value_or("");
    if (value.starts_with('/')) return;  // the later one is not looked at
    if (value.empty()) continue;
    print_warning(fmt::format("{} is '{}', which is no absolute path: it is ignored", name, value), context.err);
  }
}

Result<Context> make_context(const Globals& globals, const std::string& command, int argc, char** argv) {
  Context context;
  context.command_line.assign(argv, argv + argc);
  auto program = program_path();
  if (!program) return tl::make_unexpected(program.error());
  context.program = *program;
  auto format = parse_format(globals.format, command);
  if (!format) return tl::make_unexpected(format.error());
  context.format = *format;
  context.format_given = !globals.format.empty();
  auto color = parse_color(globals.color);
  if (!color) return tl::make_unexpected(color.error());
  context.color = *color;
  context.db = globals.db;
  if (globals.db.empty()) {
    auto db = default_db(context.environment);
    if (db) {
      context.db = *db;
    } else {
      context.db_fault = db.error();
    }
    context.db_is_default = context.environment("HBMARK_DB").value_or("").empty();
  }
  context.output = globals.output;
  context.quiet = globals.quiet;
  context.verbose = globals.verbose;
  context.out = style_for(STDOUT_FILENO, context.color, context.environment);
  if (!context.output.empty() && context.output != "-") {
    context.out.width = Style{}.width;
    context.out.color = context.color == ColorWish::kAlways;
  }
  context.err = style_for(STDERR_FILENO, context.color, context.environment);
  if (context.db_is_default && !context.quiet) warn_about_relative_folders(context);
  return context;
}

std::vector<std::string> option_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

// What the parser did not take, with the word that was probably meant.
Status check_leftovers(const CLI::App& app, const CLI::App* command) {
  const std::vector<std::string> rest = app.remaining(true);
  if (rest.empty()) return {};
  const std::string word = printable(rest.front());
  const std::string help = command == nullptr ? "hbmark help" : "hbmark help " + command->get_name();
  std::string guess;
  if (word.starts_with("-")) {
    std::vector<std::string> known = option_names(app);
    if (command != nullptr) {
      for (std::string& name : option_names(*command)) known.push_back(std::move(name));
    }
    guess = nearest(word.substr(0, word.find('=')), known);
    return usage_error(
        word, "there is no such option",
        (guess.empty() ? "" : fmt::format("did you mean {}? ", guess)) + fmt::format("`{}` lists them", help));
  }
  if (command != nullptr) {
    return usage_error(word, fmt::format("'{}' takes no such argument", command->get_name()), fmt::format("see `{}`", help));
  }
  std::vector<std::string> known;
  for (const Command& row : commands()) {
    if (!row.hidden) known.emplace_back(row.name);
  }
  guess = nearest(word, known);
  return usage_error(word, "there is no such command",
                     (guess.empty() ? "" : fmt::format("did you mean `hbmark {}`? ", guess)) + "`hbmark help` lists them");
}

// "--quiet=no" would be taken for --quiet: a switch has no value.
Status check_switches(const CLI::App& app, int argc, char** argv) {
  std::vector<std::string> switches;
  const auto collect = [&](const CLI::App& from) {
    for (const CLI::Option* option : from.get_options()) {
      if (option->get_items_expected_max() > 0) continue;
      for (const std::string& name : option->get_lnames()) switches.push_back("--" + name);
      for (const std::string& name : option->get_snames()) switches.push_back("-" + name);
    }
  };
  collect(app);
  for (const CLI::App* command : app.get_subcommands([](const CLI::App*) { return true; })) collect(*command);
  for (int i = 1; i < argc; ++i) {
    const std::string word = argv[i];
    if (word == "--") break;
    const std::size_t equals = word.find('=');
    if (equals == std::string::npos) continue;
    const std::string name = word.substr(0, equals);
    if (std::find(switches.begin(), switches.end(), name) == switches.end()) continue;
    return usage_error(printable(word), fmt::format("{} takes no value: it is on where it is given", name),
                       fmt::format("write {} alone, or leave it out", name));
  }
  return {};
}

// The option a word of the command line names, and how often it is there: "--db a", "--db=a" or "-q".
std::ptrdiff_t times_given(const CLI::Option& option, int argc, char** argv) {
  return std::count_if(argv, argv + argc, [&](std::string_view word) {
    const std::vector<std::string>& names = option.get_lnames();
    return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
      const std::string whole = "--" + name;
      return word == whole || word.starts_with(whole + "=");
    });
  });
}

// What the parser objects to, in this program's words: a value that is missing, or one too many.
Error parse_complaint(const CLI::ParseError& error, const CLI::App& app, const CLI::App* command, int argc, char** argv) {
  const std::string help = command == nullptr ? "hbmark help" : "hbmark help " + command->get_name();
  const std::string said = error.what();
  std::vector<const CLI::Option*> options = app.get_options();
  if (command != nullptr) {
    for (const CLI::Option* option : command->get_options()) options.push_back(option);
  }
  for (const CLI::Option* option : options) {
    if (option->get_lnames().empty() || !said.starts_with("--" + option->get_lnames().front() + ":")) continue;
    const std::string name = "--" + option->get_lnames().front();
    const auto times = times_given(*option, argc, argv);
    if (times > 1) {
      return {ErrorKind::kUsage, name, fmt::format("it was given {} times, and takes one value", times),
              fmt::format("leave one {}; `{}` says which options may be repeated", name, help)};
    }
    return {ErrorKind::kUsage, name, "its value is missing",
            fmt::format("write {} {}; see `{}`", name, option->get_type_name(), help)};
  }
  return {ErrorKind::kUsage, "the command line", said, fmt::format("see `{}`", help)};
}

// Exceptions of the parser are its way to say how parsing ended; they end here.
Result<int> parse_and_act(int argc, char** argv) {
  Globals globals;
  std::vector<Action> actions;
  const auto app = make_parser(globals, actions);
  const CLI::App* chosen = nullptr;
  if (auto checked = check_switches(*app, argc, argv); !checked) return tl::make_unexpected(checked.error());
  try {
    app->parse(argc, argv);
    if (!app->get_subcommands().empty()) chosen = app->get_subcommands().front();
  } catch (const CLI::CallForHelp&) {
    if (!app->get_subcommands().empty()) chosen = app->get_subcommands().front();
    auto written = write_output("", chosen == nullptr ? overview_help(*app) : command_help(*chosen, *app));
    if (!written) return tl::make_unexpected(written.error());
    return kExitOk;
  } catch (const CLI::ParseError& error) {
    if (!app->get_subcommands().empty()) chosen = app->get_subcommands().front();
    return tl::make_unexpected(parse_complaint(error, *app, chosen, argc, argv));
  }
  if (auto checked = check_leftovers(*app, chosen); !checked) return tl::make_unexpected(checked.error());
  if (globals.version) {
    auto written = write_output("", "hbmark " HBMARK_VERSION "\n");
    if (!written) return tl::make_unexpected(written.error());
    return kExitOk;
  }
  if (chosen == nullptr) {
    write_all(STDERR_FILENO, overview_help(*app));
    return usage_error("no command", "hbmark does nothing by itself", "start with `hbmark doctor`, then `hbmark run`");
  }
  auto context = make_context(globals, chosen->get_name(), argc, argv);
  if (!context) return tl::make_unexpected(context.error());
  for (std::size_t i = 0; i < actions.size(); ++i) {
    if (commands()[i].name == chosen->get_name()) return actions[i](*context);
  }
  return fail(ErrorKind::kInternal, "command " + chosen->get_name(), "it has no action", "");
}

// A stack as small as `ulimit -s` may make it ends in a crash. It can be raised while it is in use, as far as the hard limit
// allows, which root may raise too.
Status have_a_stack() {
  constexpr rlim_t kNeeded = rlim_t{64} << 10;  // every command works with that; half of it crashes several
  rlimit limit{};
  if (getrlimit(RLIMIT_STACK, &limit) != 0 || limit.rlim_cur >= kUsualStackBytes) return {};
  const rlimit usual{kUsualStackBytes, std::max<rlim_t>(limit.rlim_max, kUsualStackBytes)};
  const rlimit allowed{std::min<rlim_t>(limit.rlim_max, kUsualStackBytes), limit.rlim_max};
  if (setrlimit(RLIMIT_STACK, &usual) == 0 || setrlimit(RLIMIT_STACK, &allowed) == 0) {
    if (getrlimit(RLIMIT_STACK, &limit) != 0) return {};
  }
  if (limit.rlim_cur >= kNeeded) return {};
  return environment_error("cannot work", fmt::format("the stack is limited to {} KiB", limit.rlim_cur >> 10),
                           fmt::format("raise the limit of this shell: ulimit -s {}", kUsualStackBytes >> 10));
}

}  // namespace

Status Context::emit(std::string_view text) const { return write_output(output, text); }

Result<std::filesystem::path> default_db(const Environment& environment) {
  const auto value = [&](const char* name) { return environment(name).value_or(""); };
  if (const auto given = value("HBMARK_DB"); !given.empty()) return std::filesystem::path(given);
  // The XDG base directory specification: a relative path is to be ignored.
  if (const auto data = value("XDG_DATA_HOME"); data.starts_with('/'))
    return std::filesystem::path(data) / "hbmark/results.db";
  if (const auto home = value("HOME"); home.starts_with('/')) {
    return std::filesystem::path(home) / ".local/share/hbmark/results.db";
  }
  return environment_error("cannot tell where the store is",
                           "HBMARK_DB is not set, and neither XDG_DATA_HOME nor HOME is an absolute path",
                           "name it: --db results.db");
}

int run_program(int argc, char** argv) {
  occupy_closed_stdio();
  if (const Status enough = have_a_stack(); !enough) {
    print_error(enough.error(), style_for(STDERR_FILENO, ColorWish::kAuto, process_environment));
    return exit_code(enough.error().kind);
  }
  // A reader that goes away, or a file that would outgrow `ulimit -f`, is an error that is reported, not a death; workers
  // get the default back when they are started.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  const auto done = parse_and_act(argc, argv);
  if (done) return *done;
  print_error(done.error(), style_for(STDERR_FILENO, ColorWish::kAuto, process_environment));
  return exit_code(done.error().kind);
}

}  // namespace hbmark::cli
