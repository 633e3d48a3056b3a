#include "bench/cli/render_footer.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>
#include <set>
#include <utility>

namespace hbmark::cli {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

// A count that a node line may give as a number or as a list of its members.
std::string count_of(const nlohmann::json& node, const char* name, std::string_view one) {
  const auto found = node.find(name);
  if (found == node.end()) return "";
  const std::int64_t count = found->is_array()            ? static_cast<std::int64_t>(found->size())
                             : found->is_number_integer() ? found->get<std::int64_t>()
                                                          : 0;
  return count == 0 ? "" : fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string mode_of(const nlohmann::json& node, const char* name, std::string_view words) {
  const auto found = node.find(name);
  if (found == node.end() || !found->is_object()) return "";
  const auto value = found->find("value");
  if (value == found->end() || !value->is_string()) return "";
  const auto text = value->get<std::string>();
  return text == "none" || text == "unknown" ? "" : fmt::format("{} {}", words, printable(text));
}

std::string node_text(const RunView& view) {
  if (!view.node) return "not recorded";
  std::vector<std::string> parts = {printable(view.node->hostname)};
  const auto node = nlohmann::json::parse(view.node->description, nullptr, false);
  if (node.is_object()) {
    if (const auto model = node.find("cpu_model"); model != node.end() && model->is_string()) {
      parts.push_back(printable(model->get<std::string>()));
    }
    parts.push_back(count_of(node, "cores", "core"));
    parts.push_back(count_of(node, "pus", "PU"));
    parts.push_back(count_of(node, "numa", "NUMA node"));
    parts.push_back(mode_of(node, "memory_mode", "memory mode"));
    parts.push_back(mode_of(node, "cluster_mode", "cluster mode"));
  }
  std::erase(parts, "");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string distinct(const std::vector<ResultRecord>& results,
                     const std::function<std::string(const ResultRecord&)>& text_of) {
  std::vector<std::string> seen;
  for (const ResultRecord& result : results) {
    std::string text = text_of(result);
    if (!text.empty() && std::find(seen.begin(), seen.end(), text) == seen.end()) seen.push_back(std::move(text));
  }
  return fmt::format("{}", fmt::join(seen, "; "));
}

std::string library_of(const ResultRecord& result) {
  if (!result.time) return "";
  const std::string name = result.library.empty() ? result.backend : result.library;
  return printable(result.isa.empty() ? name : fmt::format("{} ({})", name, result.isa));
}

std::string threads_of(const ResultRecord& result, bool pinned) {
  if (!result.time || result.threads <= 0) return "";
  std::string text = fmt::format("{}", result.threads);
  if (!pinned) text += " not pinned";
  if (pinned && !result.thread_pus.empty()) text += fmt::format(" pinned to PU {}", ranges(result.thread_pus));
  if (result.replicas > 1) text += fmt::format(", {} replicas", result.replicas);
  return text;
}

// Which threads are pinned is the configuration's: unpinned ones are found somewhere too.
bool is_pinned(const RunView& view, const ResultRecord& result) {
  const auto its = std::find_if(view.configurations.begin(), view.configurations.end(),
                                [&](const ConfigurationRecord& one) { return one.uuid == result.configuration_uuid; });
  return its == view.configurations.end() ||
         std::find(its->thread_pus.begin(), its->thread_pus.end(), -1) == its->thread_pus.end();
}

std::string pages_of(const ResultRecord& result) {
  if (!result.time || result.pages.empty()) return "";
  std::vector<std::string> shares;
  for (const auto& [numa, share] : result.pages) {
    if (share > 0) shares.push_back(fmt::format("{} on NUMA node {}", percent(share), numa));
  }
  return fmt::format("{}", fmt::join(shares, ", "));
}

std::string memory_text(const RunView& view) {
  std::set<std::string> policies;
  for (const ConfigurationRecord& configuration : view.configurations) {
    policies.insert(printable(fmt::format("{} memory, {}", configuration.memory_kind, configuration.memory_policy)));
  }
  std::string text = fmt::format("{}", fmt::join(policies, "; "));
  const std::string pages = distinct(view.results, pages_of);
  if (!pages.empty()) text += fmt::format("{}pages found {}", text.empty() ? "" : "; ", pages);
  return text;
}

std::string counts_text(const std::vector<ResultRecord>& results, const Style& style) {
  std::map<Outcome, int> counts;
  for (const ResultRecord& result : results) ++counts[result.outcome];
  std::vector<std::string> parts = {fmt::format("{} of {} cases ok", counts[Outcome::kOk], results.size())};
  for (const auto& [outcome, count] : counts) {
    if (outcome == Outcome::kOk || count == 0) continue;
    std::string name(outcome_name(outcome));
    std::replace(name.begin(), name.end(), '_', ' ');
    parts.push_back(style.paint(fmt::format("{} {}", count, name), is_failure(outcome) ? Color::kRed : Color::kYellow));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cost_text(const std::vector<ResultRecord>& results) {
  std::int64_t samples = 0;
  double wall_s = 0;
  double timed_s = 0;
  for (const ResultRecord& result : results) {
    samples += result.time ? result.time->samples : 0;
    wall_s += result.wall_s;
    timed_s += result.timed_s;
  }
  std::string text = fmt::format("{} sample{} in {}", samples, samples == 1 ? "" : "s", duration(wall_s));
  if (wall_s > 0) text += fmt::format(", {} of it inside timed calls", percent(timed_s / wall_s));
  return text;
}

// Energy is of one call, and calls differ: what can be said of all is what was counted, or why nothing was.
std::string energy_of(const ResultRecord& result) {
  if (result.energy_j)
    return fmt::format("of {}, for one call: energy_j of `hbmark export`", printable(result.energy_scope));
  return printable(result.energy_note);
}

// The slowest and fastest that the first thread's core was found at, beside the cases.
std::string clock_text(const std::vector<ResultRecord>& results) {
  std::vector<double> all;
  std::set<std::string> notes;
  for (const ResultRecord& result : results) {
    if (result.clock_before_hz) all.push_back(*result.clock_before_hz);
    if (result.clock_after_hz) all.push_back(*result.clock_after_hz);
    if (result.time && !result.clock_note.empty()) notes.insert(printable(result.clock_note));
  }
  if (all.empty()) return notes.empty() ? "" : fmt::format("not measured: {}", fmt::join(notes, "; "));
  const auto [low, high] = std::minmax_element(all.begin(), all.end());
  return fmt::format("{:.2f} to {:.2f} GHz, as found beside the cases", *low / 1e9, *high / 1e9);
}

bool any_reorder(const std::vector<ResultRecord>& results) {
  return std::any_of(results.begin(), results.end(), [](const ResultRecord& r) { return r.reorder_s.has_value(); });
}

}  // namespace

std::string when(std::string_view rfc3339) {
  if (rfc3339.size() != 20 || rfc3339[10] != 'T' || rfc3339[19] != 'Z') return std::string(rfc3339);
  return fmt::format("{} {} UTC", rfc3339.substr(0, 10), rfc3339.substr(11, 5));
}

std::string render_entries(const Entries& entries, const Style& style) {
  int name_width = 0;
  for (const auto& [name, text] : entries) {
    if (!text.empty()) name_width = std::max(name_width, display_width(name));
  }
  std::string out;
  for (const auto& [name, text] : entries) {
    if (text.empty()) continue;
    std::string label =
        style.paint(name, Color::kBold) + std::string(static_cast<std::size_t>(name_width - display_width(name) + 2), ' ');
    for (const std::string& line : wrap(text, std::max(20, style.width - name_width - 2))) {
      out += label + line + '\n';
      label.assign(static_cast<std::size_t>(name_width + 2), ' ');
    }
  }
  return out;
}

std::string missing_text(const std::vector<ResultRecord>& results) {
  const auto count = [&](auto&& predicate) { return std::count_if(results.begin(), results.end(), predicate); };
  const auto measured = count([](const ResultRecord& r) { return r.time.has_value(); });
  std::vector<std::string> parts;
  if (measured == 0) return "";
  const auto without_ceiling =
      count([](const ResultRecord& r) { return r.time && r.kernel != "peak" && !r.ceiling_fraction; });
  if (without_ceiling > 0) {
    parts.push_back(
        fmt::format("the ceiling of {} of {} (none measured with the same threads applies)", without_ceiling, measured));
  }
  std::set<std::string> reasons;
  const auto without_interval = count([&](const ResultRecord& r) {
    const bool missing = r.time && !half_width_of(*r.time);
    if (missing && !r.time->interval_method.empty()) reasons.insert(printable(r.time->interval_method));
    return missing;
  });
  if (without_interval > 0) {
    std::string why = reasons.empty() ? "too few samples" : *reasons.begin();
    if (reasons.size() > 1) why += fmt::format("; {} other reasons: show -v", reasons.size() - 1);
    parts.push_back(fmt::format("the interval of {} of {} ({})", without_interval, measured, why));
  }
  // Fewer than 6 launches: order statistics give no 95 % interval of what differs between them.
  const auto few_launches = count([](const ResultRecord& r) { return r.time && r.launches < 6; });
  if (few_launches > 0) {
    const std::string which = few_launches == measured ? "" : fmt::format(" for {} of {}", few_launches, measured);
    parts.push_back(fmt::format("what differs between launches{} (fewer than 6 launches)", which));
  }
  return fmt::format("{}", fmt::join(parts, "; "));
}

std::string render_footer(const RunView& view, const Style& style, bool verbose) {
  Entries entries = {
      {"Node", node_text(view)},
      {"Library", distinct(view.results, library_of)},
      {"Threads",
       distinct(view.results, [&](const ResultRecord& result) { return threads_of(result, is_pinned(view, result)); })},
      {"Memory", memory_text(view)},
      {"Cases", counts_text(view.results, style)},
      {"Not measured", missing_text(view.results)},
      {"Cost", cost_text(view.results)}};
  entries.emplace_back("Clock", clock_text(view.results));
  entries.emplace_back("Energy", distinct(view.results, energy_of));
  if (verbose && view.environment) {
    std::vector<std::string> values;
    for (const auto& [name, value] : view.environment->values)
      values.push_back(printable(fmt::format("{}={}", name, value)));
    entries.emplace_back("Environment", fmt::format("{}", fmt::join(values, ", ")));
  }
  if (verbose) entries.emplace_back("Command", printable(view.run.command));
  std::vector<std::string> columns = {"95 %: interval of the median", "n: samples",
                                      "ceiling: share of what peak and stream measured here"};
  if (any_reorder(view.results))
    columns.emplace_back("+layout: conversion for one call, outside the median (of at most 5, too few for an interval)");
  entries.emplace_back("Columns", fmt::format("{}", fmt::join(columns, "; ")));
  std::string out = render_entries(entries, style);
  return out;
}

}  // namespace hbmark::cli
