// hbmark worker PLAN: hidden; started by `hbmark run`, once a configuration and after each crash.
#include "bench/cli/commands.h"
#include "bench/run/run.h"

namespace hbmark::cli {

Action declare_worker(CLI::App& app) {
  auto plan_file = std::make_shared<std::string>();
  add_positional(app, "PLAN", *plan_file, "Plan file to carry out");
  return [plan_file](const Context&) -> Result<int> {
    if (plan_file->empty()) {
      return usage_error("worker", "no plan file was given", "use `hbmark run`, which starts workers by itself");
    }
    return worker_main(*plan_file);
  };
}

}  // namespace hbmark::cli
