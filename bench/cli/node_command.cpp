// hbmark node [--topology FILE.xml]
#include "bench/cli/commands.h"
#include "bench/cli/render_node.h"
#include "bench/cli/report.h"
#include "topology/devices.h"
#include "topology/node.h"
#include "topology/node_json.h"

namespace hbmark::cli {
namespace {

Result<int> describe(const Context& context, const std::string& topology_file) {
  auto node = topology::describe_node({.xml_file = topology_file, .sysfs_root = "", .with_io = true});
  if (!node) return tl::make_unexpected(node.error());
  const auto devices = topology::load_devices(context.share_dir() / "devices.csv");
  if (!devices) print_warning(devices.error().what + ": " + devices.error().why + "; " + devices.error().next, context.err);
  std::string text;
  if (context.format == OutputFormat::kText) {
    text = render_node(*node, devices ? &*devices : nullptr, context.out);
  } else {
    text = devices ? topology::node_to_json_line(*node, *devices) : topology::node_to_json_line(*node);
  }
  if (!text.ends_with('\n')) text += '\n';
  if (auto written = context.emit(text); !written) return tl::make_unexpected(written.error());
  return kExitOk;
}

}  // namespace

Action declare_node(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  add_value(app, "--topology", *file, "FILE", "Describe the machine of an hwloc XML file (lstopo FILE.xml makes one)");
  return [file](const Context& context) { return describe(context, *file); };
}

}  // namespace hbmark::cli
