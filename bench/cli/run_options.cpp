#include "bench/cli/run_options.h"

#include <fmt/core.h>

#include <utility>

#include "bench/cli/values.h"

namespace hbmark::cli {
namespace {

// A resumed run keeps its plan: what would change it is refused, not dropped in silence.
Status check_resume(const RunText& text) {
  const std::pair<bool, const char*> given[] = {{!text.suite.empty(), "--suite"},
                                                {!text.problems.empty(), "--problem"},
                                                {!text.problem_files.empty(), "--problems"},
                                                {!text.filters.empty(), "--filter"},
                                                {!text.backends.empty(), "--backend"},
                                                {!text.precision.empty(), "--precision"},
                                                {!text.budget.empty(), "--budget"},
                                                {!text.timeout.empty(), "--timeout"},
                                                {!text.threads.empty(), "--threads"},
                                                {!text.launches.empty(), "--launches"},
                                                {!text.replicas.empty(), "--replicas"},
                                                {text.replicas_split, "--replicas-split"},
                                                {!text.threads_per_core.empty(), "--threads-per-core"},
                                                {!text.pin.empty(), "--pin"},
                                                {!text.memory.empty(), "--memory"},
                                                {!text.pages.empty(), "--pages"},
                                                {!text.seed.empty(), "--seed"},
                                                {!text.label.empty(), "--label"},
                                                {text.cold_cache, "--cold-cache"},
                                                {text.energy, "--energy"},
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

// What cannot be had together with replicas.
Status check_replicas(const RunWishes& wishes) {
  if (wishes.replicas == 1) {
    if (!wishes.replicas_split) return {};
    return usage_error("--replicas-split", "there are no replicas to split the batch among", "give --replicas too");
  }
  if (wishes.cold_cache) {
    return usage_error("--replicas with --cold-cache",
                       "a replica calls on until the slowest has made its calls, and those would find warm caches",
                       "leave one of the two out");
  }
  if (wishes.pin == "none") {
    return usage_error("--replicas with --pin none", "a replica is a part of the node, to which its threads are pinned",
                       "leave --pin out, or give scatter or compact");
  }
  return {};
}

// Every memory under every number of threads a core, in the order they were given.
Status read_placements(const RunText& text, RunWishes& wishes) {
  std::vector<std::string> memories = {"default"};
  std::vector<int> per_core = {0};
  const Status read_all = read(text.memory, memories, parse_memories).and_then([&] {
    return read(text.threads_per_core, per_core, parse_threads_per_core);
  });
  if (!read_all) return read_all;
  wishes.placements.clear();
  for (int threads : per_core) {
    for (const std::string& memory : memories) wishes.placements.push_back({memory, threads});
  }
  return {};
}

}  // namespace

void declare_options(CLI::App& app, RunText& text) {
  add_value(app, "--suite", text.suite, "SUITE",
            "Suite to measure: a name of `hbmark list suites`, or a FILE.toml (default: quick)");
  add_values(app, "--problem", text.problems, "STRING", "One problem, as a canonical string; may be repeated");
  add_values(app, "--problems", text.problem_files, "FILE", "Problems of a CSV file with named columns; may be repeated");
  add_values(app, "--filter", text.filters, "PATTERN",
             "Keep the cases that match a pattern (* ? [abc]) or hold this text; may be repeated, any of them keeps");
  add_values(app, "--backend", text.backends, "NAME", "Use this backend; may be repeated (default: all that have a device)");
  add_values(app, "--backend-path", text.backend_paths, "DIR", "Look for backends in DIR first; may be repeated");
  add_value(app, "--precision", text.precision, "SHARE",
            "Stop a case when the 95 % interval of its median is within this: 2% or 0.02 (default: the suite's)");
  add_value(app, "--budget", text.budget, "SECONDS", "Sampling time of the whole run (default: the suite's, or 3 s a case)");
  add_value(app, "--timeout", text.timeout, "SECONDS", "Time without a sign of life before a case is ended (default: 60)");
  add_value(app, "--threads", text.threads, "N", "Threads to pin (default: one for each core we are allowed)");
  add_value(
      app, "--launches", text.launches, "N",
      "Measure each case in N fresh processes, interleaved in random order; 6 or more show what differs between launches "
      "(default: 1; the budget is shared among them)");
  add_value(app, "--replicas", text.replicas, "P",
            "Divide the node into P parts by its topology and run each case on all of them at the same time, each with its "
            "own copy in its own memory; --threads is then of each (default: 1)");
  add_switch(app, "--replicas-split", text.replicas_split,
             "Divide the batch of conv and gemm among the replicas; without it each runs the whole problem");
  add_value(app, "--threads-per-core", text.threads_per_core, "LIST",
            "Threads on each core, such as 1,2,4: each measured by itself (default: 1)");
  add_value(app, "--pin", text.pin, "HOW",
            "scatter: cores first, far apart; compact: all of a core before the next; none (default: scatter)");
  add_value(app, "--memory", text.memory, "LIST",
            "Where memory goes: default, ddr, fast (MCDRAM or HBM), fast-preferred, fast-interleave, node:N; each of a list "
            "is measured by itself, and proved");
  add_value(app, "--pages", text.pages, "SIZE",
            "4k; thp: huge pages where the kernel has them; 2m: pages of the pool (default: thp, if it is on)");
  add_switch(app, "--cold-cache", text.cold_cache,
             "Flush the operands from every on-core cache before each call, outside its time; a sample is then one call");
  add_switch(app, "--energy", text.energy,
             "Measure the node's energy for one call of each case, where it is readable: adds 2 s a case");
  add_value(app, "--seed", text.seed, "N", "Seed of the input data (default: 1)");
  add_value(app, "--label", text.label, "TEXT", "Name to find the run by");
  add_value(app, "--resume", text.resume, "RUN", "Carry out what is missing of an earlier run: its id, label, or last");
  add_switch(app, "--dry-run", text.dry_run, "List the cases with their cost and measure nothing");
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
  then(read(text.launches, wishes.launches, parse_launches));
  then(read(text.replicas, wishes.replicas, parse_replicas));
  then(read_placements(text, wishes));
  then(read(text.pin, wishes.pin, [](const std::string& value) {
    return parse_word("--pin", value, {"compact", "scatter", "none"});
  }));
  then(read(text.pages, wishes.pages, [](const std::string& value) {
    return parse_word("--pages", value, {"4k", "thp", "2m"});
  }));
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
  wishes.cold_cache = text.cold_cache;
  wishes.energy = text.energy;
  wishes.replicas_split = text.replicas_split;
  if (auto possible = check_replicas(wishes); !possible) return tl::make_unexpected(possible.error());
  wishes.suite = text.suite;
  if (text.suite.empty() && text.problems.empty() && text.problem_files.empty()) wishes.suite = "quick";
  return wishes;
}

}  // namespace hbmark::cli
