// hbmark doctor [--topology FILE.xml] [--backend-path DIR]...
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/loader/loader.h"
#include "bench/cli/commands.h"
#include "bench/cli/csv_text.h"
#include "bench/cli/render_node.h"
#include "bench/cli/report.h"
#include "bench/run/planner.h"
#include "topology/doctor.h"
#include "topology/node.h"

namespace hbmark::cli {
namespace {

using nlohmann::json;

struct Examination {
  std::vector<BackendLine> backends;
  std::vector<std::string> searched;
  std::vector<topology::Finding> findings;
};

BackendLine backend_line(const LoadedBackend& loaded, const BackendFacts& facts) {
  BackendLine line{loaded.name, loaded.file.string(), true, "", !facts.devices.empty()};
  line.text = fmt::format("version {}", loaded.version);
  for (const BackendDevice& device : facts.devices) line.text += fmt::format("; device {} ({})", device.id, device.name);
  if (!line.usable) line.text += "; " + (facts.unavailable.empty() ? "it has no device" : facts.unavailable);
  return line;
}

std::vector<BackendLine> look_at_backends(const LoadReport& report) {
  std::vector<BackendLine> lines;
  const std::vector<BackendFacts> facts = inspect_backends(report);
  for (const LoadedBackend& loaded : report.backends) {
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const BackendFacts& f) { return f.name == loaded.name; });
    lines.push_back(backend_line(loaded, found == facts.end() ? BackendFacts{} : *found));
  }
  for (const RejectedFile& rejected : report.rejected) {
    lines.push_back({rejected.file.filename().string(), rejected.file.string(), false, rejected.reason, false});
  }
  return lines;
}

// The oracle measures nothing by itself: with it alone a run has nothing to do.
bool can_measure(const Examination& seen) {
  return std::any_of(seen.backends.begin(), seen.backends.end(),
                     [](const BackendLine& line) { return line.usable && line.name != "reference"; });
}

std::string as_json(const Examination& seen) {
  std::string out;
  const auto append = [&](const json& line) { out += line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n'; };
  for (const BackendLine& line : seen.backends) {
    append({{"schema", "hbmark.doctor/1"},
            {"what", "backend"},
            {"id", line.name},
            {"severity", line.usable ? "good" : "warning"},
            {"file", line.file},
            {"loaded", line.loaded},
            {"usable", line.usable},
            {"observed", line.text},
            {"advice", nullptr}});
  }
  for (const topology::Finding& finding : seen.findings) {
    append({{"schema", "hbmark.doctor/1"},
            {"what", "finding"},
            {"id", finding.id},
            {"severity", severity_word(finding.severity)},
            {"observed", finding.observed},
            {"advice", finding.advice.empty() ? json() : json(finding.advice)}});
  }
  return out;
}

std::string as_csv(const Examination& seen) {
  std::string out = csv_row({"what", "id", "severity", "observed", "advice"});
  for (const BackendLine& line : seen.backends) {
    out += csv_row({"backend", line.name, line.usable ? "good" : "warning", line.text, ""});
  }
  for (const topology::Finding& finding : seen.findings) {
    out += csv_row({"finding", finding.id, std::string(severity_word(finding.severity)), finding.observed, finding.advice});
  }
  return out;
}

std::string as_text(const Examination& seen, const Style& style) {
  const auto count = [&](topology::Severity severity) {
    return std::count_if(seen.findings.begin(), seen.findings.end(), [&](const auto& f) { return f.severity == severity; });
  };
  const auto problems = count(topology::Severity::kProblem);
  const auto warnings = count(topology::Severity::kWarning);
  std::string out =
      render_backends(seen.backends, seen.searched, style) + "\n" + render_findings(seen.findings, style) + "\n";
  if (!can_measure(seen)) {
    return out + style.paint("Nothing can be measured: no backend has a device.", Color::kRed) + '\n';
  }
  if (problems + warnings == 0) return out + style.paint("Ready to measure.", Color::kGreen) + '\n';
  std::vector<std::string> counts;
  if (problems > 0) counts.push_back(fmt::format("{} problem{}", problems, problems == 1 ? "" : "s"));
  if (warnings > 0) counts.push_back(fmt::format("{} warning{}", warnings, warnings == 1 ? "" : "s"));
  return out +
         style.paint(fmt::format("Measuring works; see to the {} first.", fmt::join(counts, " and ")), Color::kYellow) +
         '\n';
}

Result<int> examine(const Context& context, const std::string& topology_file, const std::vector<std::string>& paths) {
  Examination seen;
  const LoadReport report = load_backends({paths.begin(), paths.end()}, context.program);
  seen.backends = look_at_backends(report);
  for (const auto& folder : report.searched) seen.searched.push_back(folder.string());
  auto node = topology::describe_node({.xml_file = topology_file, .sysfs_root = "", .with_io = true});
  if (!node) return tl::make_unexpected(node.error());
  auto findings = topology::examine(*node, topology::DoctorOptions{});
  if (!findings) return tl::make_unexpected(findings.error());
  seen.findings = std::move(*findings);
  std::string text;
  switch (context.format) {
    case OutputFormat::kText:
      text = as_text(seen, context.out);
      break;
    case OutputFormat::kJson:
      text = as_json(seen);
      break;
    case OutputFormat::kGbench:  // taken by `export` alone
    case OutputFormat::kCsv:
      text = as_csv(seen);
      break;
  }
  if (auto written = context.emit(text); !written) return tl::make_unexpected(written.error());
  return can_measure(seen) ? kExitOk : kExitEnvironment;
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  auto file = std::make_shared<std::string>();
  auto paths = std::make_shared<std::vector<std::string>>();
  add_value(app, "--topology", *file, "FILE", "Examine the machine of an hwloc XML file instead of this one");
  add_values(app, "--backend-path", *paths, "DIR", "Look for backends in DIR first; may be repeated");
  return [file, paths](const Context& context) { return examine(context, *file, *paths); };
}

}  // namespace hbmark::cli
