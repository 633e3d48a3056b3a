#include "bench/cli/compare_sides.h"

#include <fmt/core.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "bench/cli/text.h"
#include "bench/run/planner.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

std::string mode_in(const json& node, const char* name) {
  if (!node.is_object() || !node.contains(name) || !node[name].is_object()) return "unknown";
  const auto value = node[name].find("value");
  return value != node[name].end() && value->is_string() ? value->get<std::string>() : "unknown";
}

struct RunParts {
  NodeRecord node;
  json description;
  EnvironmentRecord environment;
};

RunParts parts_of(const Store& store, const RunRecord& run) {
  RunParts parts;
  // What is beside the results is told when it is there.
  if (auto node = store.node_of_run(run.uuid)) parts.node = std::move(*node);
  parts.description = json::parse(parts.node.description, nullptr, false);
  if (auto environment = store.environment(run.environment_uuid)) parts.environment = std::move(*environment);
  return parts;
}

bool has_flag(const ResultRecord& result, std::string_view flag) {
  return std::find(result.flags.begin(), result.flags.end(), flag) != result.flags.end();
}

void set_facts(Measured& measured, const RunParts& parts) {
  const ResultRecord& result = measured.result;
  // "strict:1, 2m pages": the pages belong to what was asked of memory.
  const std::size_t comma = measured.memory_policy.find(", ");
  measured.facts = {
      {"memory_mode", mode_in(parts.description, "memory_mode")},
      {"cluster_mode", mode_in(parts.description, "cluster_mode")},
      {"memory", result.memory_kind + (comma == std::string::npos ? "" : measured.memory_policy.substr(comma))},
      {"replicas", fmt::format("{}{}", result.replicas, has_flag(result, "split") ? " split" : "")},
      {"threads", fmt::format("{}", result.threads)},
      {"backend", result.backend},
      {"device", result.device},
      {"library", result.library},
      {"label", measured.run.label},
      {"node", measured.run.node_uuid},
      {"cache", measured.cache}};
}

stats::Launches launches_of(const ResultRecord& result, const std::vector<SampleRecord>& samples) {
  stats::Launches launches = stats::by_launch(samples);
  // A store may hold summaries alone.
  if (launches.empty() && result.time) launches.push_back({result.time->median});
  return launches;
}

bool is_wanted(const Filters& filters, const std::string& problem) {
  return filters.empty() ||
         std::any_of(filters.begin(), filters.end(), [&](const auto& filter) { return filter_matches(filter, problem); });
}

Status add_run(const Store& store, const RunRecord& run, const Filters& filters, std::vector<Measured>& into) {
  auto results = store.results(run.uuid);
  if (!results) return tl::make_unexpected(results.error());
  const RunParts parts = parts_of(store, run);
  std::map<std::string, ConfigurationRecord> configurations;
  for (ResultRecord& result : *results) {
    if (!is_wanted(filters, result.problem)) continue;
    auto samples = store.samples(result.uuid);
    if (!samples) return tl::make_unexpected(samples.error());
    Measured measured;
    measured.launches = launches_of(result, *samples);
    measured.run = run;
    measured.node = parts.node;
    measured.environment = parts.environment.values;
    measured.boot = run.boot_id;
    const auto [known, is_new] = configurations.emplace(result.configuration_uuid, ConfigurationRecord{});
    if (is_new && !result.configuration_uuid.empty()) {
      if (auto configuration = store.configuration(result.configuration_uuid)) known->second = std::move(*configuration);
    }
    measured.memory_policy = known->second.memory_policy;
    measured.cache = known->second.cache;
    measured.result = std::move(result);
    set_facts(measured, parts);
    into.push_back(std::move(measured));
  }
  return {};
}

std::string value_of(const Measured& measured, const std::string& field) {
  const std::string& value = measured.facts.at(field);
  if (field == "memory_mode" || field == "cluster_mode") return value + "/" + measured.facts.at("memory");
  return value.empty() ? "(none)" : value;
}

}  // namespace

Result<Side> side_of_run(const Store& store, const RunRecord& run, const Filters& filters) {
  Side side;
  side.name = "run " + run.uuid.substr(0, 8) + (run.label.empty() ? "" : fmt::format(" \"{}\"", printable(run.label)));
  if (auto added = add_run(store, run, filters, side.all); !added) return tl::make_unexpected(added.error());
  return side;
}

Result<std::vector<Side>> sides_by(const Store& store, const std::string& field, const Filters& filters) {
  auto runs = store.runs();
  if (!runs) return tl::make_unexpected(runs.error());
  std::reverse(runs->begin(), runs->end());  // oldest first
  std::vector<Measured> all;
  for (const RunRecord& run : *runs) {
    if (auto added = add_run(store, run, filters, all); !added) return tl::make_unexpected(added.error());
  }
  std::vector<Side> sides;
  for (Measured& measured : all) {
    const std::string name = printable(value_of(measured, field));
    auto side = std::find_if(sides.begin(), sides.end(), [&](const Side& known) { return known.name == name; });
    if (side == sides.end()) side = sides.insert(sides.end(), Side{name, {}});
    side->all.push_back(std::move(measured));
  }
  if (sides.size() < 2) {
    return fail(
        ErrorKind::kNothingRan, "compare --by " + field,
        sides.empty() ? "the store holds no such result" : fmt::format("all results have the same: {}", sides[0].name),
        "measure with another one first, or compare two runs: hbmark compare RUN_A RUN_B");
  }
  return sides;
}

}  // namespace hbmark::cli
