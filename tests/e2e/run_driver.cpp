// A small program in the place of hbmark: `run` carries a plan file out into a store, `resume` goes on with its run,
// `worker` is what both start. Ends with 0, with 130 when interrupted, with 3 on an error (told on stderr).
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <sstream>
#include <string>

#include "bench/run/planner.h"
#include "bench/run/run.h"
#include "results/store/store.h"
#include "topology/node.h"
#include "topology/partition.h"
#include "topology/placement.h"

namespace {

using namespace hbmark;

int complain(const Error& error) {
  std::fprintf(stderr, "%s: %s; %s\n", error.what.c_str(), error.why.c_str(), error.next.c_str());
  return 3;
}

Status save_surroundings(Store& store, RunRecord& run) {
  NodeRecord node{digest_uuid("node of the run driver"), "driver", "{}"};
  EnvironmentRecord environment{digest_uuid("environment of the run driver"), {{"driver", "1"}}};
  if (auto saved = store.save_node(node); !saved) return saved;
  run.node_uuid = node.uuid;
  run.environment_uuid = environment.uuid;
  return store.save_environment(environment);
}

Result<RunRequest> request_for(Store& store, const std::string& plan_file) {
  RunRequest request;
  if (plan_file.empty()) {
    auto run = store.find_run("last");
    if (!run) return tl::make_unexpected(run.error());
    auto finished = finished_cases(store, run->uuid);
    if (!finished) return tl::make_unexpected(finished.error());
    request.run = *run;
    request.finished_cases = *finished;
  } else {
    std::ifstream file(plan_file);
    request.run.uuid = new_uuid();
    request.run.plan.assign(std::istreambuf_iterator<char>(file), {});
    if (auto saved = save_surroundings(store, request.run); !saved) return tl::make_unexpected(saved.error());
  }
  auto plan = plan_from_json(request.run.plan);
  if (!plan) return tl::make_unexpected(plan.error());
  request.plan = *plan;
  return request;
}

// A number of the environment, or what there is without it.
double number_of(const char* name, double otherwise) {
  const char* text = std::getenv(name);
  return text != nullptr ? std::atof(text) : otherwise;
}

// HBMARK_SCRIPTED_CLOCK: readings in GHz, one after the other, the last for ever after; 0: none can be had.
// HBMARK_SCRIPTED_JOULES: what the meter says after a window; HBMARK_SCRIPTED_METER: why there is none.
WorkerProbes scripted_probes() {
  WorkerProbes probes;
  probes.energy_window_s = 0.05;
  if (const char* text = std::getenv("HBMARK_SCRIPTED_CLOCK")) {
    auto script = std::make_shared<std::istringstream>(text);
    probes.clock = [script, ghz = 0.0]() mutable {
      if (double next = 0; *script >> next) ghz = next;
      return ghz > 0 ? ClockReading{1e9 * ghz, ""} : ClockReading{std::nullopt, "the script has none"};
    };
  }
  // HBMARK_SCRIPTED_NODES: where the anonymous pages are found to be, a node for each look, the last for ever after.
  if (const char* text = std::getenv("HBMARK_SCRIPTED_NODES")) {
    auto script = std::make_shared<std::istringstream>(text);
    probes.anonymous_bytes = [script, node = 0]() mutable -> Result<topology::BytesByNode> {
      if (int next = 0; *script >> next) node = next;
      return topology::BytesByNode{{0, 7 << 20}, {node, 1 << 20}};
    };
  }
  probes.energy = []() -> Result<EnergyProbe> {
    if (const char* why = std::getenv("HBMARK_SCRIPTED_METER")) return environment_error("cannot open a meter", why, "-");
    EnergyProbe probe;
    probe.scope = "a scripted package";
    probe.begin = [] { return Status{}; };
    probe.used_j = []() -> Result<double> { return number_of("HBMARK_SCRIPTED_JOULES", 1); };
    return probe;
  };
  return probes;
}

int carry_out_here(const char* program, const char* db, const std::string& plan_file) {
  auto store = Store::open(db, OpenMode::kWrite);
  if (!store) return complain(store.error());
  auto request = request_for(*store, plan_file);
  if (!request) return complain(request.error());
  auto node = topology::describe_node({.xml_file = "", .sysfs_root = "", .with_io = false});
  if (!node) return complain(node.error());
  for (std::size_t i = 0; i < request->plan.placements.size(); ++i) {
    auto placement = request->plan.replicas > 1
                         ? topology::plan_replicas(*node, request->plan.replicas, thread_wish(request->plan, i))
                         : topology::plan_threads(*node, thread_wish(request->plan, i));
    if (!placement) return complain(placement.error());
    auto memory = topology::plan_memory(*node, request->plan.placements[i].memory, placement->thread_pus);
    if (!memory) return complain(memory.error());
    placement->memory = *memory;
    request->placements.push_back(*placement);
  }
  request->node = &*node;
  request->worker_program = program;
  request->lock_patience_s = number_of("HBMARK_LOCK_PATIENCE_S", 0);
  RunObserver observer;
  observer.case_finished = [](const PlannedCase& planned, const ResultRecord& result) {
    std::printf("%s %s\n", planned.problem.c_str(), std::string(outcome_name(result.outcome)).c_str());
    std::fflush(stdout);
  };
  observer.warning = [](const std::string& text) { std::fprintf(stderr, "warning: %s\n", text.c_str()); };
  auto summary = carry_out(*request, *store, observer);
  if (!summary) return complain(summary.error());
  return summary->interrupted ? 130 : 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string command = count > 1 ? arguments[1] : "";
  if (command == "worker" && count == 3) return worker_main(arguments[2], scripted_probes());
  if (command == "run" && count == 4) return carry_out_here(arguments[0], arguments[2], arguments[3]);
  if (command == "resume" && count == 3) return carry_out_here(arguments[0], arguments[2], "");
  std::fprintf(stderr, "usage: %s run DB PLAN | resume DB | worker JOB\n", arguments[0]);
  return 2;
}
