#include "bench/cli/render_node.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "bench/cli/render_footer.h"
#include "bench/cli/table.h"

namespace hbmark::cli {
namespace {

using topology::Node;
using topology::Severity;

std::string plural(std::size_t count, std::string_view one) {
  return fmt::format("{} {}{}", count, one, count == 1 ? "" : "s");
}

std::string cpu_text(const Node& node) {
  const std::string model = node.cpu_model.empty() ? "model unknown" : printable(node.cpu_model);
  std::string text =
      fmt::format("{}; {}, {}, {}", model, plural(static_cast<std::size_t>(std::max(0, node.packages)), "package"),
                  plural(node.cores.size(), "core"), plural(node.pus.size(), "PU"));
  return text;
}

std::string allowed_text(const Node& node) {
  std::string text = node.allowed_pus.size() == node.pus.size() ? "all PUs" : "PU " + ranges(node.allowed_pus);
  return text;
}

std::string cache_text(const Node& node) {
  std::vector<std::string> parts;
  for (const topology::Cache& cache : node.caches) {
    const std::string letter = cache.type == "data" ? "d" : cache.type == "instruction" ? "i" : "";
    std::string part = fmt::format("L{}{} {}", cache.level, letter, binary_bytes(cache.size_bytes));
    if (cache.count > 1) part = fmt::format("{} x {}", part, cache.count);
    if (cache.shared_by_pus > 1) part += fmt::format(" (for {} PUs{})", cache.shared_by_pus, cache.count > 1 ? " each" : "");
    parts.push_back(std::move(part));
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string memory_text(const Node& node) {
  std::vector<std::string> parts;
  if (node.memory_available_bytes) parts.push_back(binary_bytes(*node.memory_available_bytes) + " available");
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string cgroup_text(const Node& node) {
  std::vector<std::string> parts;
  if (node.cpu_quota) parts.push_back(fmt::format("time of {:.4g} CPUs", *node.cpu_quota));
  if (node.memory_limit_bytes) parts.push_back(binary_bytes(*node.memory_limit_bytes) + " of memory");
  if (node.cgroup_cpus) parts.push_back("PUs " + printable(*node.cgroup_cpus));
  if (node.cgroup_memory_nodes) parts.push_back("NUMA nodes " + printable(*node.cgroup_memory_nodes));
  if (parts.empty()) return node.this_system ? "no limit found" : "";
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string nominal_text(const std::optional<topology::NominalFigures>& figures, const Style& style) {
  if (!figures) return "no nominal figure is known";
  std::vector<std::string> parts;
  // From wide to narrow, as data sheets have it.
  for (const char* type : {"f64", "f32", "tf32", "bf16", "f16", "f8", "s8"}) {
    const auto peak = figures->peak_flop_per_s.find(type);
    if (peak == figures->peak_flop_per_s.end()) continue;
    parts.push_back(fmt::format("{} {}", type, si(peak->second, *type == 's' ? "OP/s" : "FLOP/s", style)));
  }
  const auto bandwidth = [&](const char* what, const std::optional<double>& value, const char* how) {
    if (value) parts.push_back(fmt::format("{} {}{}", what, si(*value, "B/s", style), how));
  };
  bandwidth("fast memory", figures->fast_bytes_per_s, "");
  bandwidth("DDR", figures->ddr_bytes_per_s, "");
  if (parts.empty()) parts.emplace_back("none known");
  return fmt::format("{} ({})", fmt::join(parts, ", "), printable(figures->device));
}

// Others' measurements are no nominal figures, and stand apart.
std::string measured_text(const std::optional<topology::NominalFigures>& figures, const Style& style) {
  std::vector<std::string> parts;
  if (figures && figures->fast_measured_bytes_per_s) {
    parts.push_back("fast memory " + si(*figures->fast_measured_bytes_per_s, "B/s", style));
  }
  if (figures && figures->ddr_measured_bytes_per_s)
    parts.push_back("DDR " + si(*figures->ddr_measured_bytes_per_s, "B/s", style));
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string mode_text(const topology::Mode& mode) {
  return mode.source.empty() ? printable(mode.value) : printable(fmt::format("{} ({})", mode.value, mode.source));
}

std::string numa_table(const Node& node, const Style& style) {
  Table table;
  table.columns = {{"NUMA", true}, {"kind"}, {"size", true}, {"PUs", false, true}, {""}};
  for (const topology::NumaNode& numa : node.numa) {
    std::vector<std::string> notes;
    if (numa.partner) notes.push_back(fmt::format("partner of node {}", *numa.partner));
    if (!numa.allowed) notes.emplace_back("not allowed to us");
    table.rows.push_back({{{fmt::format("{}", numa.os_index)},
                           {printable(numa.kind)},
                           {numa.size_bytes ? binary_bytes(*numa.size_bytes) : "unknown"},
                           {numa.cpus.empty() ? "none" : ranges(numa.cpus)},
                           {fmt::format("{}", fmt::join(notes, ", "))}},
                          {}});
  }
  return render(table, style);
}

// "" where no memory could be fast.
std::string fast_memory_text(const Node& node) {
  const bool possible = std::any_of(node.numa.begin(), node.numa.end(), [](const topology::NumaNode& numa) {
    return numa.kind == "mcdram" || numa.kind == "hbm";
  });
  if (node.fast_memory.empty()) return possible ? "none local to any PU we may use" : "";
  std::vector<std::string> parts;
  std::set<int> without(node.allowed_pus.begin(), node.allowed_pus.end());
  for (const topology::FastMemory& fast : node.fast_memory) {
    parts.push_back(fmt::format("NUMA node {} for PUs {}", fast.os_index, ranges(fast.local_cpus)));
    for (const int pu : fast.local_cpus) without.erase(pu);
  }
  if (!without.empty()) parts.push_back(fmt::format("none local to PUs {}", ranges({without.begin(), without.end()})));
  return fmt::format("{}", fmt::join(parts, "; "));
}

Color severity_color(Severity severity) {
  switch (severity) {
    case Severity::kGood:
      return Color::kGreen;
    case Severity::kNote:
      return Color::kNone;
    case Severity::kWarning:
      return Color::kYellow;
    case Severity::kProblem:
      return Color::kRed;
  }
  return Color::kNone;
}

}  // namespace

std::string_view severity_word(Severity severity) {
  switch (severity) {
    case Severity::kGood:
      return "good";
    case Severity::kNote:
      return "note";
    case Severity::kWarning:
      return "warning";
    case Severity::kProblem:
      return "problem";
  }
  return "problem";
}

std::string render_node(const Node& node, const topology::DeviceTable* devices, const Style& style) {
  std::vector<std::pair<std::string, std::string>> entries = {{"Node", printable(node.hostname)},
                                                              {"CPU", cpu_text(node)},
                                                              {"Allowed", allowed_text(node)},
                                                              {"Cgroup", cgroup_text(node)},
                                                              {"Caches", cache_text(node)},
                                                              {"Memory", memory_text(node)},
                                                              {"Memory mode", mode_text(node.memory_mode)},
                                                              {"Cluster mode", mode_text(node.cluster_mode)},
                                                              {"Fast memory", fast_memory_text(node)}};
  for (const topology::MemorySideCache& cache : node.memory_side_caches) {
    entries.emplace_back("Memory-side cache",
                         fmt::format("{} before NUMA node {}", binary_bytes(cache.size_bytes), cache.os_index));
  }
  for (const topology::Gpu& gpu : node.gpus) {
    std::string text = printable(fmt::format("{} at {}", gpu.name, gpu.pci));
    if (gpu.nearest_numa) text += fmt::format(", nearest NUMA node {}", *gpu.nearest_numa);
    entries.emplace_back("GPU", std::move(text));
  }
  if (devices != nullptr) {
    const auto figures = topology::nominal_figures(*devices, node);
    const auto whole = topology::nominal_figures(*devices, node.cpu_model);
    entries.emplace_back("Nominal", !figures && whole
                                        ? fmt::format("known for a whole {}, of which this is a part", whole->device)
                                        : nominal_text(figures, style));
    entries.emplace_back("Others measured", measured_text(figures, style));
    if (figures) entries.emplace_back("Figures from", printable(figures->source));
    std::set<std::string> named;
    for (const topology::Gpu& gpu : node.gpus) {
      if (!named.insert(gpu.name).second) continue;
      const auto each = topology::nominal_gpu_figures(*devices, gpu.name);
      entries.emplace_back("Nominal, a GPU",
                           each ? nominal_text(each, style) : printable(gpu.name) + ": " + nominal_text(each, style));
      if (each) entries.emplace_back("Figures from", printable(each->source));
    }
  }
  std::string out = render_entries(entries, style);
  if (!node.numa.empty()) out += "\n" + numa_table(node, style);
  if (!node.warnings.empty()) out += "\n";
  for (const topology::Warning& warning : node.warnings) {
    const std::string id = printable(warning.id);
    std::string mark = style.paint("warning", Color::kYellow) + "  ";
    for (const std::string& line : wrap(fmt::format("{}: {}", id, printable(warning.text)), std::max(20, style.width - 9))) {
      out += mark + line + '\n';
      mark.assign(9, ' ');
    }
  }
  return out;
}

std::string render_backends(const std::vector<BackendLine>& backends, const std::vector<std::string>& searched,
                            const Style& style) {
  std::string out = style.paint("Backends", Color::kBold) + '\n';
  if (backends.empty()) out += "  none found\n";
  Table table;
  table.columns = {{""}, {""}, {"", false, true}};
  for (const BackendLine& backend : backends) {
    const std::string state = !backend.loaded ? "rejected" : backend.usable ? "loaded" : "no device";
    Row row{{{"  " + state, backend.usable ? Color::kGreen : Color::kYellow},
             {printable(backend.name)},
             {printable(backend.file)}},
            {}};
    if (!backend.text.empty())
      row.notes.push_back({printable(backend.text), backend.usable ? Color::kNone : Color::kYellow});
    if (!backend.warning.empty()) row.notes.push_back({"warning: " + printable(backend.warning), Color::kYellow});
    table.rows.push_back(std::move(row));
  }
  out += render(table, style);
  out += "  searched:\n";
  for (const std::string& folder : searched) out += "    " + printable(folder) + '\n';
  if (searched.empty()) out += "    nothing\n";
  return out;
}

std::string render_findings(const std::vector<topology::Finding>& findings, const Style& style) {
  std::size_t word_width = 0;
  std::size_t id_width = 0;
  for (const topology::Finding& finding : findings) {
    word_width = std::max(word_width, severity_word(finding.severity).size());
    id_width = std::max(id_width, finding.id.size());
  }
  std::string out = style.paint("Findings", Color::kBold) + '\n';
  if (findings.empty()) out += "  none\n";
  const std::size_t indent = 2 + word_width + 2 + id_width + 2;
  const auto append = [&](std::string head, std::string_view text) {
    for (const std::string& line : wrap(printable(text), std::max(20, style.width - static_cast<int>(indent)))) {
      out += head + line + '\n';
      head.assign(indent, ' ');
    }
  };
  std::vector<topology::Finding> worst_first = findings;
  std::stable_sort(worst_first.begin(), worst_first.end(),
                   [](const auto& a, const auto& b) { return a.severity > b.severity; });
  for (const topology::Finding& finding : worst_first) {
    const std::string_view word = severity_word(finding.severity);
    append("  " + style.paint(word, severity_color(finding.severity)) + std::string(word_width - word.size() + 2, ' ') +
               printable(finding.id) + std::string(id_width - finding.id.size() + 2, ' '),
           finding.observed);
    if (!finding.advice.empty()) append(std::string(indent, ' '), (style.utf8 ? "→ " : "-> ") + finding.advice);
  }
  return out;
}

}  // namespace hbmark::cli
