// hbmark doctor [--topology FILE.xml [--root DIR]] [--backend-path DIR]...
#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
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
  bool recorded = false;  // another machine: what this one's backends can do says nothing about it
};

// The oracle measures nothing by itself: with it alone a run has nothing to do.
constexpr const char* kOracle = "reference";

BackendLine backend_line(const LoadedBackend& loaded, const BackendFacts& facts) {
  BackendLine line{loaded.name, loaded.file.string(), true, "", !facts.devices.empty(), ""};
  line.text = fmt::format("version {}", loaded.version);
  if (!facts.library.empty()) line.text += ", " + facts.library;
  if (!facts.isa.empty()) line.text += " with " + facts.isa;
  for (const BackendDevice& device : facts.devices) line.text += fmt::format("; device {} ({})", device.id, device.name);
  // What the oracle has to say is true of every machine: no warning about this one.
  if (loaded.name != kOracle) {
    line.warning = facts.warning;
  } else if (!facts.warning.empty()) {
    line.text += "; " + facts.warning;
  }
  if (!line.usable) line.text += "; " + (facts.unavailable.empty() ? "it has no device" : facts.unavailable);
  return line;
}

std::vector<BackendLine> look_at_backends(const LoadReport& report) {
  std::vector<BackendLine> lines;
  std::vector<BackendFacts> facts = inspect_backends(report);
  describe_backends(report, facts);
  for (const LoadedBackend& loaded : report.backends) {
    const auto found =
        std::find_if(facts.begin(), facts.end(), [&](const BackendFacts& f) { return f.name == loaded.name; });
    lines.push_back(backend_line(loaded, found == facts.end() ? BackendFacts{} : *found));
  }
  for (const RejectedFile& rejected : report.rejected) {
    lines.push_back({rejected.file.filename().string(), rejected.file.string(), false, rejected.reason, false, ""});
  }
  return lines;
}

std::string severity_of(const BackendLine& line) { return line.usable && line.warning.empty() ? "good" : "warning"; }

bool can_measure(const Examination& seen) {
  return std::any_of(seen.backends.begin(), seen.backends.end(),
                     [](const BackendLine& line) { return line.usable && line.name != kOracle; });
}

std::string as_json(const Examination& seen) {
  std::string out;
  const auto append = [&](const json& line) { out += line.dump(-1, ' ', false, json::error_handler_t::replace) + '\n'; };
  for (const BackendLine& line : seen.backends) {
    append({{"schema", "hbmark.doctor/1"},
            {"what", "backend"},
            {"id", line.name},
            {"severity", severity_of(line)},
            {"file", line.file},
            {"loaded", line.loaded},
            {"usable", line.usable},
            {"observed", line.text},
            {"warning", line.warning.empty() ? json() : json(line.warning)},
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
    out += csv_row(
        {"backend", line.name, severity_of(line), line.text + (line.warning.empty() ? "" : "; " + line.warning), ""});
  }
  for (const topology::Finding& finding : seen.findings) {
    out += csv_row({"finding", finding.id, std::string(severity_word(finding.severity)), finding.observed, finding.advice});
  }
  return out;
}

// "1 problem and 2 warnings", or "" when there is neither.
std::string counts_text(const Examination& seen) {
  const auto count = [&](topology::Severity severity) {
    return std::count_if(seen.findings.begin(), seen.findings.end(), [&](const auto& f) { return f.severity == severity; });
  };
  const auto problems = count(topology::Severity::kProblem);
  const auto warnings =
      count(topology::Severity::kWarning) +
      std::count_if(seen.backends.begin(), seen.backends.end(), [](const auto& line) { return !line.warning.empty(); });
  std::vector<std::string> counts;
  if (problems > 0) counts.push_back(fmt::format("{} problem{}", problems, problems == 1 ? "" : "s"));
  if (warnings > 0) counts.push_back(fmt::format("{} warning{}", warnings, warnings == 1 ? "" : "s"));
  return fmt::format("{}", fmt::join(counts, " and "));
}

std::string as_text(const Examination& seen, const Style& style) {
  const std::string counts = counts_text(seen);
  std::string out;
  std::pair<std::string, Color> verdict;
  if (seen.recorded) {
    verdict = {"A recorded machine: " + (counts.empty() ? "nothing to see to." : counts + " to see to."), Color::kNone};
  } else {
    out = render_backends(seen.backends, seen.searched, style) + "\n";
    verdict = !can_measure(seen) ? std::pair{std::string("Nothing can be measured: no backend has a device."), Color::kRed}
              : counts.empty()   ? std::pair{std::string("Ready to measure."), Color::kGreen}
                                 : std::pair{"Measuring works; see to the " + counts + " first.", Color::kYellow};
  }
  return out + render_findings(seen.findings, style) + "\n" + style.paint(verdict.first, verdict.second) + '\n';
}

// What an XML file alone tells: the topology's own warnings. Everything else of a doctor is in /proc and /sys.
std::vector<topology::Finding> findings_of_file(const topology::Node& node) {
  std::vector<topology::Finding> findings;
  for (const topology::Warning& warning : node.warnings) {
    findings.push_back({warning.id, topology::Severity::kNote, warning.text, "see `hbmark node --topology FILE.xml`"});
  }
  findings.push_back({"recorded", topology::Severity::kNote,
                      "governor, load, limits and the rest are not in a topology file, so they are not judged",
                      "copy that machine's /proc, /sys and /run files into a folder and give it: --root DIR"});
  return findings;
}

struct Wishes {
  std::string topology_file;
  std::string root;
  std::vector<std::string> backend_paths;
};

Status look(const Context& context, const Wishes& wishes, Examination& seen) {
  if (!wishes.root.empty() && wishes.topology_file.empty()) {
    return usage_error("--root", "the folder holds another machine's files, but not its topology",
                       "give that too: --topology FILE.xml, as `lstopo FILE.xml` writes it there");
  }
  if (std::error_code error; !wishes.root.empty() && !std::filesystem::is_directory(wishes.root, error)) {
    return usage_error("--root " + wishes.root, "it is not a folder", "give the folder that holds proc/ and sys/");
  }
  auto node = topology::describe_node({.xml_file = wishes.topology_file, .sysfs_root = wishes.root, .with_io = true});
  if (!node) return tl::make_unexpected(node.error());
  seen.recorded = !node->this_system;
  if (!seen.recorded) {
    const LoadReport report = load_backends({wishes.backend_paths.begin(), wishes.backend_paths.end()}, context.program);
    seen.backends = look_at_backends(report);
    for (const auto& folder : report.searched) seen.searched.push_back(folder.string());
  } else if (wishes.root.empty()) {
    seen.findings = findings_of_file(*node);
    return {};
  }
  topology::DoctorOptions options;
  options.root = wishes.root;
  auto findings = topology::examine(*node, options);
  if (!findings) return tl::make_unexpected(findings.error());
  seen.findings = std::move(*findings);
  return {};
}

Result<int> examine(const Context& context, const Wishes& wishes) {
  Examination seen;
  if (auto looked = look(context, wishes, seen); !looked) return tl::make_unexpected(looked.error());
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
  return seen.recorded || can_measure(seen) ? kExitOk : kExitEnvironment;
}

}  // namespace

Action declare_doctor(CLI::App& app) {
  auto wishes = std::make_shared<Wishes>();
  add_value(app, "--topology", wishes->topology_file, "FILE",
            "Examine the machine of an hwloc XML file instead of this one");
  add_value(app, "--root", wishes->root, "DIR",
            "With --topology: that machine's recorded proc/, sys/ and run/ are below DIR");
  add_values(app, "--backend-path", wishes->backend_paths, "DIR", "Look for backends in DIR first; may be repeated");
  return [wishes](const Context& context) { return examine(context, *wishes); };
}

}  // namespace hbmark::cli
