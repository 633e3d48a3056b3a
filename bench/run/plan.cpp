#include "bench/run/plan.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "bench/run/whole_number.h"

namespace hbmark {

namespace {

using nlohmann::json;

constexpr const char* kSchema = "hbmark.plan/1";

json case_to_json(const PlannedCase& c) {
  json line = {{"index", c.index},       {"problem", c.problem},         {"backend", c.backend}, {"device", c.device},
               {"budget_s", c.budget_s}, {"occurrences", c.occurrences}, {"decided", nullptr}};
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
  const json& decided = line.at("decided");
  if (!decided.is_null()) {
    const auto name = decided.at("outcome").get<std::string>();
    c.decided = outcome_from_name(name);
    if (!c.decided) throw json::other_error::create(501, fmt::format("'{}' is not an outcome", name), nullptr);
    decided.at("reason").get_to(c.decided_reason);
  }
  return c;
}

tl::unexpected<Error> unreadable(std::string why) {
  return environment_error("cannot read a plan", std::move(why),
                           "a plan is written and read by the same hbmark: use the version that started the run");
}

}  // namespace

bool runs_cold(const Plan& plan, std::string_view problem) { return plan.cold_cache && !problem.starts_with("peak:"); }

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
    plan.cold_cache = document.value("cold_cache", false);                               // older plans lack these two
    plan.energy = document.value("energy", false);
    document.at("backend_paths").get_to(plan.backend_paths);
    plan.backend_files = document.value("backend_files", std::vector<std::string>{});  // older plans lack it
    for (const json& line : document.at("cases")) plan.cases.push_back(case_from_json(line));
    return plan;
  } catch (const json::exception& error) {
    return unreadable(error.what());
  }
}

}  // namespace hbmark
