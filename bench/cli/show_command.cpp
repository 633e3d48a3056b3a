// hbmark show [RUN]
#include "bench/cli/commands.h"
#include "bench/cli/report.h"
#include "bench/cli/stored_runs.h"

namespace hbmark::cli {
namespace {

Result<int> show(const Context& context, const std::string& run_name) {
  auto store = open_store(context, OpenMode::kRead);
  if (!store) return tl::make_unexpected(store.error());
  auto view = load_view(*store, run_name);
  if (!view) return tl::make_unexpected(view.error());
  std::string text;
  if (context.format == OutputFormat::kText) {
    text = render_run(*view, context.out, context.verbose);
  } else {
    auto rendered = results_as(context.format, *view);
    if (!rendered) return tl::make_unexpected(rendered.error());
    text = std::move(*rendered);
  }
  if (auto written = context.emit(text); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

Action declare_show(CLI::App& app) {
  auto run_name = std::make_shared<std::string>("last");
  add_positional(app, "RUN", *run_name, "Run to show: its id, the beginning of it, a label, or last (default)");
  return [run_name](const Context& context) { return show(context, *run_name); };
}

}  // namespace hbmark::cli
