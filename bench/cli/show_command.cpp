// hbmark show [RUN] [--summary] [--plot]
#include <fmt/core.h>

#include "bench/cli/commands.h"
#include "bench/cli/plots.h"
#include "bench/cli/render_verdict.h"
#include "bench/cli/report.h"
#include "bench/cli/run_records.h"
#include "bench/cli/stored_node.h"
#include "bench/cli/stored_runs.h"
#include "bench/cli/verdict.h"
#include "topology/devices.h"
#include "topology/doctor.h"

namespace hbmark::cli {
namespace {

struct ShowWishes {
  std::string run = "last";
  bool summary = false;
  bool plot = false;
};

// Data sheets are told of a whole machine; a table that cannot be read is a reason, not an end.
Nominal nominal_for(const Context& context, const topology::Node& node) {
  auto table = topology::load_devices(context.share_dir() / "devices.csv");
  if (!table) return {std::nullopt, table.error().what + ": " + table.error().why};
  if (node.cpu_model.empty()) return {std::nullopt, "the CPU's model was not recorded"};
  auto figures = topology::nominal_figures(*table, node);
  if (figures) return {std::move(figures), ""};
  if (topology::nominal_figures(*table, node.cpu_model)) {
    return {std::nullopt,
            fmt::format("the table's {} has other cores than the {} of this node", node.cpu_model, node.cores.size())};
  }
  return {std::nullopt, fmt::format("devices.csv has no row for '{}'", node.cpu_model)};
}

// A few settings were stored with the run; the rest can be looked at only where it ran.
std::vector<topology::Finding> stored_findings(const EnvironmentRecord& environment) {
  std::vector<topology::Finding> findings;
  const auto value = [&](const char* name) {
    const auto found = environment.values.find(name);
    return found == environment.values.end() ? std::string() : found->second;
  };
  if (const auto governor = value("governor"); !governor.empty() && governor != "performance") {
    findings.push_back({"governor", topology::Severity::kWarning, governor + " (stored with the run)",
                        "set it there: cpupower frequency-set -g performance"});
  }
  if (const auto balancing = value("numa_balancing"); !balancing.empty() && balancing != "0") {
    findings.push_back({"numa-balancing", topology::Severity::kWarning, balancing + " (stored with the run)",
                        "turn it off there: sysctl kernel.numa_balancing=0"});
  }
  return findings;
}

Findings findings_for(const RunView& view) {
  if (view.run.node_uuid == this_node_uuid()) {
    auto node = topology::describe_node({.xml_file = "", .sysfs_root = "", .with_io = false});
    if (!node) return {{}, "not examined: " + node.error().why};
    auto findings = topology::examine(*node, topology::DoctorOptions{});
    if (!findings) return {{}, "not examined: " + findings.error().why};
    return {std::move(*findings), "As `hbmark doctor` finds it now, not while the run was made."};
  }
  Findings stored;
  if (view.environment) stored.list = stored_findings(*view.environment);
  stored.when = "From what was stored with the run: it was made on another node; `hbmark doctor` there says more.";
  return stored;
}

Result<std::string> summary(const Context& context, const RunView& view) {
  const topology::Node node = view.node ? stored_node(*view.node) : topology::Node{};
  const Verdict verdict = judge(view, node, nominal_for(context, node));
  const Findings findings = findings_for(view);
  const std::vector<MemoryLevel> levels = memory_levels(view, node, context.out);
  if (context.format == OutputFormat::kJson) return verdict_as_json(view, verdict, findings, levels);
  if (context.format == OutputFormat::kCsv) return verdict_as_csv(view, verdict, findings, levels);
  return render_verdict(view, verdict, findings, levels, context.out);
}

Result<std::string> plot(const Context& context, const RunView& view) {
  if (context.format != OutputFormat::kText) {
    return usage_error("--plot", "a plot is for a person", "leave --format out, or --plot: results are their own data");
  }
  Style style = context.out;
  // Braille needs a terminal that knows more than letters.
  if (context.environment("TERM").value_or("") == "dumb") style.utf8 = false;
  return render_plots(view, view.node ? stored_node(*view.node) : topology::Node{}, style);
}

Result<int> show(const Context& context, const ShowWishes& wishes) {
  if (wishes.summary && wishes.plot) {
    return usage_error("--plot", "--summary was asked for too", "ask for one at a time");
  }
  auto store = open_store(context, OpenMode::kRead);
  if (!store) return tl::make_unexpected(store.error());
  auto view = load_view(*store, wishes.run);
  if (!view) return tl::make_unexpected(view.error());
  auto text = wishes.summary                          ? summary(context, *view)
              : wishes.plot                           ? plot(context, *view)
              : context.format == OutputFormat::kText ? Result<std::string>(render_run(*view, context.out, context.verbose))
                                                      : results_as(context.format, *view);
  if (!text) return tl::make_unexpected(text.error());
  if (auto written = context.emit(*text); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

Action declare_show(CLI::App& app) {
  auto wishes = std::make_shared<ShowWishes>();
  add_positional(app, "RUN", wishes->run, "Run to show: its id, the beginning of it, a label, or last (default)");
  add_switch(app, "--summary", wishes->summary,
             "The verdict: what each class of kernels reaches, where it falls short and why");
  add_switch(app, "--plot", wishes->plot, "Draw the roofline and the sweeps");
  return [wishes](const Context& context) { return show(context, *wishes); };
}

}  // namespace hbmark::cli
