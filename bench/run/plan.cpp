#include "bench/run/plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/run/whole_number.h"

namespace hbmark {

namespace {

using nlohmann::json;

constexpr const char* kSchema = "hbmark.plan/1";

json case_to_json(const PlannedCase& c) {
  json line = {{"index", c.index},       {"problem", c.problem},         {"backend", c.backend},     {"device", c.device},
               {"budget_s", c.budget_s}, {"occurrences", c.occurrences}, {"placement", c.placement}, {"decided", nullptr}};
  if (c.decided) line["decided"] = {{"outcome", outcome_name(*c.decided)}, {"reason", c.decided_reason}};
  return line;
}

PlannedCase case_from_json(const json& line) {
  PlannedCase c;
  read_whole(line, "index", c.index);
  line.at("problem").get_to(c.problem);
  line.at("backend").get_to(c.backend);
  line.at("device").get_to(c.device);
  line.at("budget_s").get_to(c.budget_s);
  line.at("occurrences").get_to(c.occurrences);
  if (line.contains("placement")) read_whole(line, "placement", c.placement);  // older plans have one placement only
  const json& decided = line.at("decided");
  if (!decided.is_null()) {
    const auto name = decided.at("outcome").get<std::string>();
    c.decided = outcome_from_name(name);
    if (!c.decided) throw json::other_error::create(501, fmt::format("'{}' is not an outcome", name), nullptr);
    decided.at("reason").get_to(c.decided_reason);
  }
  return c;
}

json placements_to_json(const Plan& plan) {
  json all = json::array();
  for (const PlacementWish& wish : plan.placements)
    all.push_back({{"memory", wish.memory}, {"threads_per_core", wish.threads_per_core}});
  return all;
}

void placements_from_json(const json& document, Plan& plan) {
  plan.pin = document.value("pin", "scatter");
  plan.pages = document.value("pages", "");
  if (!document.contains("placements")) return;
  plan.placements.clear();
  for (const json& line : document.at("placements")) {
    PlacementWish wish;
    line.at("memory").get_to(wish.memory);
    read_whole(line, "threads_per_core", wish.threads_per_core);
    plan.placements.push_back(std::move(wish));
  }
}

tl::unexpected<Error> unreadable(std::string why) {
  return environment_error("cannot read a plan", std::move(why),
                           "a plan is written and read by the same hbmark: use the version that started the run");
}

}  // namespace

bool runs_cold(const Plan& plan, std::string_view problem) { return plan.cold_cache && !problem.starts_with("peak:"); }

topology::ThreadWish thread_wish(const Plan& plan, std::size_t placement) {
  const topology::Pin pin = plan.pin == "compact" ? topology::Pin::kCompact
                            : plan.pin == "none"  ? topology::Pin::kNone
                                                  : topology::Pin::kScatter;
  return {plan.threads, plan.placements.at(placement).threads_per_core, pin};
}

topology::HugePages huge_pages(const Plan& plan) {
  if (plan.pages == "4k") return topology::HugePages::kForbid;
  return plan.pages == "2m" ? topology::HugePages::kPool : topology::HugePages::kAdvise;
}

std::string plan_to_json(const Plan& plan) {
  json cases = json::array();
  for (const PlannedCase& c : plan.cases) cases.push_back(case_to_json(c));
  const json document = {{"schema", kSchema},
                         {"suite", plan.suite},
                         {"label", plan.label},
                         {"precision", plan.precision},
                         {"timeout_s", plan.timeout_s},
                         {"seed", plan.seed},
                         {"threads", plan.threads},
                         {"launches", plan.launches},
                         {"replicas", plan.replicas},
                         {"replicas_split", plan.replicas_split},
                         {"placements", placements_to_json(plan)},
                         {"pin", plan.pin},
                         {"pages", plan.pages},
                         {"cold_cache", plan.cold_cache},
                         {"energy", plan.energy},
                         {"backend_paths", plan.backend_paths},
                         {"backend_files", plan.backend_files},
                         {"cases", std::move(cases)}};
  // A path or label that is not UTF-8 must not cost the run: its bad bytes are replaced.
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

Result<Plan> plan_from_json(const std::string& text) {
  try {
    const json document = json::parse(text);
    const auto schema = document.at("schema").get<std::string>();
    if (schema != kSchema) return unreadable(fmt::format("its schema is '{}', not '{}'", schema, kSchema));
    Plan plan;
    document.at("suite").get_to(plan.suite);
    document.at("label").get_to(plan.label);
    document.at("precision").get_to(plan.precision);
    document.at("timeout_s").get_to(plan.timeout_s);
    read_whole(document, "seed", plan.seed);
    read_whole(document, "threads", plan.threads);
    if (document.contains("launches")) read_whole(document, "launches", plan.launches);  // older plans lack it
    if (document.contains("replicas")) read_whole(document, "replicas", plan.replicas);  // likewise, as the next
    plan.replicas_split = document.value("replicas_split", false);
    placements_from_json(document, plan);
    plan.cold_cache = document.value("cold_cache", false);  // older plans lack these two
    plan.energy = document.value("energy", false);
    document.at("backend_paths").get_to(plan.backend_paths);
    plan.backend_files = document.value("backend_files", std::vector<std::string>{});  // older plans lack it
    for (const json& line : document.at("cases")) plan.cases.push_back(case_from_json(line));
    for (const PlannedCase& c : plan.cases) {
      if (c.placement >= plan.placements.size()) return unreadable(fmt::format("case {} has no placement", c.index));
    }
    return plan;
  } catch (const json::exception& error) {
    return unreadable(error.what());
  }
}

}  // namespace hbmark
