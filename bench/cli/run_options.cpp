#include "bench/cli/run_options.h"

#include <fmt/core.h>

#include <utility>

#include "bench/cli/values.h"

namespace hbmark::cli {
namespace {

// A resumed run keeps its plan: what would change it is refused, not dropped in silence.
Status check_resume(const RunText& text) {
  const std::pair<bool, const char*> given[] = {
      {!text.suite.empty(), "--suite"},         {!text.problems.empty(), "--problem"}, {!text.problem_files.empty(), "--problems"},
      {!text.filters.empty(), "--filter"},      {!text.backends.empty(), "--backend"}, {!text.precision.empty(), "--precision"},
      {!text.budget.empty(), "--budget"},       {!text.timeout.empty(), "--timeout"},  {!text.threads.empty(), "--threads"},
      {!text.seed.empty(), "--seed"},           {!text.label.empty(), "--label"},
      {!text.backend_paths.empty(), "--backend-path"}};
  for (const auto& [is_given, name] : given) {
    if (is_given) {
      return usage_error(fmt::format("--resume with {}", name), "a resumed run goes on with the plan it was started with",
                         fmt::format("leave {} out, or start a new run without --resume", name));
    }
  }
  return {};
}

// Reads one value when it was given.
template <class T, class Parse>
Status read(const std::string& text, T& into, Parse&& parse) {
  if (text.empty()) return {};
  auto value = parse(text);
  if (!value) return tl::make_unexpected(value.error());
  into = *value;
  return {};
}

CLI::Option* repeated(CLI::App& app, const char* name, std::vector<std::string>& into, const char* text, const char* type) {
  return app.add_option(name, into, text)->type_name(type)->allow_extra_args(false);
}

}  // namespace

void declare_options(CLI::App& app, RunText& text) {
  app.add_option("--suite", text.suite, "Suite to measure: a name of `hbmark list suites`, or a FILE.toml (default: quick)")
      ->type_name("SUITE");
  repeated(app, "--problem", text.problems, "One problem, as a canonical string; may be repeated", "STRING");
  repeated(app, "--problems", text.problem_files, "Problems of a CSV file with named columns; may be repeated", "FILE");
  repeated(app, "--filter", text.filters,
           "Keep the cases that match a pattern (* ? [abc]) or hold this text; may be repeated, any of them keeps", "PATTERN");
  repeated(app, "--backend", text.backends, "Use this backend; may be repeated (default: all that have a device)", "NAME");
  repeated(app, "--backend-path", text.backend_paths, "Look for backends in DIR first; may be repeated", "DIR");
  app.add_option("--precision", text.precision,
                 "Stop a case when the 95 % interval of its median is within this: 2% or 0.02 (default: the suite's)")
      ->type_name("SHARE");
  app.add_option("--budget", text.budget, "Seconds of sampling for the whole run (default: the suite's, or 3 a case)")
      ->type_name("SECONDS");
  app.add_option("--timeout", text.timeout, "Seconds without a sign of life before a case is ended (default: 60)")
      ->type_name("SECONDS");
  app.add_option("--threads", text.threads, "Threads to pin (default: one for each core we are allowed)")->type_name("N");
  app.add_option("--seed", text.seed, "Seed of the input data (default: 1)")->type_name("N");
  app.add_option("--label", text.label, "Name to find the run by")->type_name("TEXT");
  app.add_option("--resume", text.resume, "Carry out what is missing of an earlier run: its id, label, or last")->type_name("RUN");
  app.add_flag("--dry-run", text.dry_run, "List the cases with their cost and measure nothing");
}

Result<RunWishes> understand(const RunText& text) {
  RunWishes wishes;
  Status read_all;
  const auto then = [&](Status status) {
    if (read_all && !status) read_all = std::move(status);
  };
  if (!text.resume.empty()) {
    then(check_resume(text));
    wishes.resume = text.resume;
  }
  then(read(text.precision, wishes.precision, parse_precision));
  then(read(text.budget, wishes.budget_s, [](const std::string& value) { return parse_seconds("--budget", value); }));
  then(read(text.timeout, wishes.timeout_s, [](const std::string& value) { return parse_seconds("--timeout", value); }));
  then(read(text.threads, wishes.threads, parse_threads));
  then(read(text.seed, wishes.seed, parse_seed));
  then(check_label(text.label));
  if (!read_all) return tl::make_unexpected(read_all.error());
  wishes.label = text.label;
  wishes.problems = text.problems;
  wishes.problem_files = text.problem_files;
  wishes.filters = text.filters;
  wishes.backends = text.backends;
  wishes.backend_paths = text.backend_paths;
  wishes.dry_run = text.dry_run;
  wishes.suite = text.suite;
  if (text.suite.empty() && text.problems.empty() && text.problem_files.empty()) wishes.suite = "quick";
  return wishes;
}

}  // namespace hbmark::cli
