// hbmark compare RUN_A RUN_B | --by FIELD | --baseline NAME [RUN] | --save-baseline NAME [RUN]
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "bench/cli/commands.h"
#include "bench/cli/compare_sides.h"
#include "bench/cli/comparison_render.h"
#include "bench/cli/report.h"
#include "bench/cli/stored_runs.h"
#include "bench/cli/values.h"

namespace hbmark::cli {
namespace {

struct CompareText {  // as on the command line
  std::string run_a, run_b, by, against, equivalence, fail_on, baseline, save_baseline;
  std::vector<std::string> filters;
};

struct CompareWishes {
  double margin = 0.02;
  std::optional<Threshold> fail_on;
};

tl::unexpected<Error> both_given(const char* one, const char* other) {
  return usage_error(one, fmt::format("{} was given too", other),
                     "say in one way what is compared: see `hbmark help compare`");
}

Status check_words(const CompareText& text) {
  if (!text.save_baseline.empty()) {
    if (!text.by.empty()) return both_given("--save-baseline", "--by");
    if (!text.baseline.empty()) return both_given("--save-baseline", "--baseline");
    if (!text.run_b.empty()) return both_given("--save-baseline", "a second run");
    return check_label("--save-baseline", text.save_baseline);
  }
  if (!text.by.empty()) {
    if (!text.baseline.empty()) return both_given("--by", "--baseline");
    if (!text.run_a.empty()) return both_given("--by", "a run");
    const auto& fields = compare_fields();
    if (std::find(fields.begin(), fields.end(), text.by) == fields.end()) {
      const std::string near = nearest(text.by, fields);
      return usage_error(
          fmt::format("--by '{}'", printable(text.by)), "results are not told apart by that",
          fmt::format("use {}{}", fmt::join(fields, ", "), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
    }
    return {};
  }
  if (!text.against.empty()) return usage_error("--against", "it goes with --by", "leave it out, or say --by memory_mode");
  if (!text.baseline.empty()) {
    if (!text.run_b.empty()) return both_given("--baseline", "a second run");
    return {};
  }
  if (text.run_b.empty()) {
    return usage_error("compare", text.run_a.empty() ? "it was not said what to compare" : "one run is not enough",
                       "name two runs (hbmark compare before after; `hbmark list` shows them), or say --by memory_mode");
  }
  return {};
}

Result<CompareWishes> understand(const CompareText& text) {
  if (auto checked = check_words(text); !checked) return tl::make_unexpected(checked.error());
  CompareWishes wishes;
  if (!text.equivalence.empty()) {
    auto margin = parse_share("--equivalence", text.equivalence);
    if (!margin) return tl::make_unexpected(margin.error());
    wishes.margin = *margin;
  }
  if (!text.fail_on.empty()) {
    auto threshold = parse_threshold(text.fail_on);
    if (!threshold) return tl::make_unexpected(threshold.error());
    wishes.fail_on = *threshold;
  }
  return wishes;
}

Result<int> save_baseline(const Context& context, const CompareText& text) {
  auto store = open_store(context, OpenMode::kWrite);
  if (!store) return tl::make_unexpected(store.error());
  auto run = store->find_run(text.run_a.empty() ? "last" : text.run_a);
  if (!run) return tl::make_unexpected(run.error());
  if (auto saved = store->save_baseline(text.save_baseline, run->uuid); !saved) return tl::make_unexpected(saved.error());
  if (!context.quiet) {
    print_note(fmt::format("run {} is the baseline {} from now on: hbmark compare --baseline '{}'", run->uuid.substr(0, 8),
                           printable(text.save_baseline), printable(text.save_baseline)));
  }
  return kExitOk;
}

struct Sides {
  Side a;
  std::vector<Side> others;
};

Result<Sides> two_runs(const Store& store, const CompareText& text) {
  const bool by_baseline = !text.baseline.empty();
  auto run_a = by_baseline ? store.baseline(text.baseline) : store.find_run(text.run_a);
  if (!run_a) return tl::make_unexpected(run_a.error());
  auto run_b = store.find_run(!by_baseline ? text.run_b : text.run_a.empty() ? "last" : text.run_a);
  if (!run_b) return tl::make_unexpected(run_b.error());
  if (run_a->uuid == run_b->uuid) {
    return usage_error("compare", fmt::format("both are the run {}", run_a->uuid.substr(0, 8)),
                       "name two different ones; `hbmark list` shows them");
  }
  auto a = side_of_run(store, *run_a, text.filters);
  if (!a) return tl::make_unexpected(a.error());
  auto b = side_of_run(store, *run_b, text.filters);
  if (!b) return tl::make_unexpected(b.error());
  if (by_baseline) a->name = fmt::format("baseline {}, {}", printable(text.baseline), a->name);
  return Sides{std::move(*a), {std::move(*b)}};
}

Result<Sides> by_field(const Store& store, const CompareText& text) {
  auto sides = sides_by(store, text.by, text.filters);
  if (!sides) return tl::make_unexpected(sides.error());
  auto chosen = sides->begin();
  if (!text.against.empty()) {
    chosen =
        std::find_if(sides->begin(), sides->end(), [&](const Side& side) { return side.name == printable(text.against); });
    if (chosen == sides->end()) {
      std::vector<std::string> names;
      for (const Side& side : *sides) names.push_back(side.name);
      return usage_error(fmt::format("--against '{}'", printable(text.against)),
                         fmt::format("no result has that {}", text.by), fmt::format("there are {}", fmt::join(names, ", ")));
    }
  }
  Sides result{std::move(*chosen), {}};
  sides->erase(chosen);
  result.others = std::move(*sides);
  return result;
}

// Whether the threshold was crossed. What could not be judged cannot cross it, and that is said.
bool is_crossed(const std::vector<Comparison>& all, const Threshold& threshold, const Context& context) {
  std::size_t crossed = 0;
  std::size_t open = 0;
  for (const Comparison& comparison : all) {
    for (const PairRow& row : comparison.rows) {
      if (row.verdict == stats::Verdict::kNotEstablished || row.verdict == stats::Verdict::kNotComparable) ++open;
      const bool slower = row.verdict == stats::Verdict::kSlower && *row.ratio.ratio >= 1 + threshold.share;
      const bool faster = row.verdict == stats::Verdict::kFaster && 1 / *row.ratio.ratio >= 1 + threshold.share;
      if (threshold.verdict == stats::Verdict::kSlower ? slower : faster) ++crossed;
    }
  }
  if (open > 0)
    print_warning(fmt::format("--fail-on could not judge {} problem{}", open, open == 1 ? "" : "s"), context.err);
  if (crossed == 0) return false;
  print_warning(fmt::format("{} problem{} {} by {} or more", crossed, crossed == 1 ? " is" : "s are",
                            stats::verdict_name(threshold.verdict), percent(threshold.share)),
                context.err);
  return true;
}

Status check_not_empty(const std::vector<Comparison>& all, const CompareText& text) {
  const bool any = std::any_of(all.begin(), all.end(), [](const Comparison& one) { return !one.rows.empty(); });
  if (any) return {};
  return fail(ErrorKind::kNothingRan, "compare",
              text.filters.empty()
                  ? "the runs hold no results"
                  : fmt::format("the filter '{}' matches no result of them", fmt::join(text.filters, "', '")),
              "`hbmark show RUN` shows what a run holds");
}

Result<int> compare(const Context& context, const CompareText& text) {
  const auto wishes = understand(text);
  if (!wishes) return tl::make_unexpected(wishes.error());
  if (!text.save_baseline.empty()) return save_baseline(context, text);
  auto store = open_store(context, OpenMode::kRead);
  if (!store) return tl::make_unexpected(store.error());
  const auto sides = text.by.empty() ? two_runs(*store, text) : by_field(*store, text);
  if (!sides) return tl::make_unexpected(sides.error());
  const std::vector<Comparison> all = compare_sides(sides->a, sides->others, {text.by, wishes->margin});
  if (auto any = check_not_empty(all, text); !any) return tl::make_unexpected(any.error());
  const std::string out = context.format == OutputFormat::kJson ? comparisons_as_json(all, wishes->margin)
                          : context.format == OutputFormat::kCsv
                              ? comparisons_as_csv(all, wishes->margin)
                              : render_comparisons(all, wishes->margin, context.out, context.verbose);
  if (auto written = context.emit(out); !written) return tl::make_unexpected(written.error());
  return wishes->fail_on && is_crossed(all, *wishes->fail_on, context) ? kExitThreshold : kExitOk;
}

}  // namespace

Action declare_compare(CLI::App& app) {
  auto text = std::make_shared<CompareText>();
  add_positional(app, "RUN_A", text->run_a, "Run to compare with: its id, the beginning of it, a label, or last");
  add_positional(app, "RUN_B", text->run_b, "Run to judge: faster and slower are said of it");
  add_value(
      app, "--by", text->by, "FIELD",
      "Compare the results of the whole store by memory_mode, cluster_mode, memory, replicas, threads, backend, library or "
      "label; runs of one value are taken together");
  add_value(app, "--against", text->against, "VALUE", "With --by: the value to compare with (default: the first measured)");
  add_values(app, "--filter", text->filters, "PATTERN",
             "Keep problems that match: a glob over the whole problem, or a piece of it; may be repeated");
  add_value(app, "--equivalence", text->equivalence, "X%",
            "Call a problem the same when its whole interval is so near to 1 (default: 2%)");
  add_value(app, "--fail-on", text->fail_on, "WHAT",
            "slower:5%: exit with 5 when a problem is shown to be slower, and by 5 % or more; faster:5% likewise");
  add_value(app, "--baseline", text->baseline, "NAME",
            "Compare with the run kept by that name; RUN_A (default: last) is judged");
  add_value(app, "--save-baseline", text->save_baseline, "NAME", "Keep RUN_A (default: last) as a baseline by that name");
  return [text](const Context& context) { return compare(context, *text); };
}

}  // namespace hbmark::cli
