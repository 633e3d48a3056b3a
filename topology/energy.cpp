#include "topology/energy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <set>
#include <system_error>
#include <utility>

#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

const std::string kPowercap = "/sys/class/powercap";
constexpr double kMicro = 1e-6;
// No package or its DRAM draws more for seconds on end: the thirstiest of today are rated 500 to 760 W. With the usual range
// of 65 to 262 kJ a window may then last a minute or more.
constexpr double kMostWatts = 1000;
constexpr const char* kWithout = "measure without energy, or read the node's power at its management controller";

std::optional<std::uint64_t> microjoules(const std::string& root, const std::string& file, std::string& reason) {
  const ReadText read = read_text(root, file);
  if (!read.ok) {
    reason = file + ": " + read.reason;
    return std::nullopt;
  }
  const auto value = to_integer(read.text);
  if (!value || *value < 0) {
    reason = fmt::format("{} holds '{}', not a count", file, read.text);
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(*value);
}

// Zones of RAPL: "intel-rapl:0" and, below it, "intel-rapl:0:1". "intel-rapl-mmio:0" counts the same package again.
std::set<std::string> rapl_zones(const std::string& root, std::string& reason) {
  std::set<std::string> zones;
  std::error_code error;
  const auto folder = under_root(root, kPowercap);
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end; entry.increment(error)) {
    const std::string name = entry->path().filename().string();
    if (name.rfind("intel-rapl:", 0) == 0) zones.insert(name);
  }
  if (error) {
    reason = fmt::format("{}: {}", kPowercap, error.message());
  } else if (zones.empty()) {
    reason =
        kPowercap + " holds no intel-rapl zone (a virtual machine, a container that hides it, or the module is not loaded)";
  }
  return zones;
}

// The memory on the package that its energy already holds and the DRAM domain does not.
std::string memory_on_package(const std::string& root) {
  const std::string text = read_text(root, "/proc/cpuinfo").text;
  if (text.find("Xeon Phi") != std::string::npos) return "MCDRAM";
  if (text.find("Xeon(R) CPU Max") != std::string::npos) return "HBM";
  return "";
}

// "package-1" and "package-1-die-0" -> "1"
std::string package_number(const std::string& name) {
  const auto digits = name.substr(std::string("package-").size());
  return digits.substr(0, digits.find('-'));
}

template <class Range>
std::string joined(const Range& packages) {
  return fmt::format("{}", fmt::join(packages, "+"));
}

}  // namespace

// What open() gathers on its way to a meter.
struct EnergyMeter::Finder {
  const std::string& root;
  std::vector<Domain> domains;
  std::set<std::string> packages;   // whose energy is counted
  std::set<std::string> with_dram;  // whose DRAM is counted too
  std::vector<std::string> left_out;
  std::string reason;

  bool add(const std::string& zone, const std::string& name, bool dram) {
    const std::string folder = kPowercap + "/" + zone;
    const auto range = microjoules(root, folder + "/max_energy_range_uj", reason);
    if (!range || !microjoules(root, folder + "/energy_uj", reason)) return false;
    if (*range == 0) {
      reason = folder + "/max_energy_range_uj is 0";
      return false;
    }
    domains.push_back({folder, name, dram, *range});
    return true;
  }

  // All packages or none: a part of a node's energy would pass for the whole.
  bool find(const std::set<std::string>& zones) {
    for (const std::string& zone : zones) {
      const ReadText name = read_text(root, kPowercap + "/" + zone + "/name");
      // "psys" is the whole platform, packages included; "core" and "uncore" are parts of a package.
      if (!name.ok || name.text.rfind("package-", 0) != 0) continue;
      if (!add(zone, name.text, false)) return false;
      packages.insert(package_number(name.text));
      find_dram(zones, zone, package_number(name.text));
    }
    if (packages.empty() && reason.empty()) reason = kPowercap + " has no zone named package-N";
    return !packages.empty();
  }

  void find_dram(const std::set<std::string>& zones, const std::string& package_zone, const std::string& package) {
    for (const std::string& zone : zones) {
      if (zone.rfind(package_zone + ":", 0) != 0) continue;
      if (read_text(root, kPowercap + "/" + zone + "/name").text != "dram") continue;
      if (add(zone, "dram", true)) {
        with_dram.insert(package);
      } else {
        left_out.push_back(fmt::format("DRAM of package {} is left out: {}", package, reason));
        reason.clear();
      }
    }
  }

  std::string scope() const {
    std::string text = "package " + joined(packages);
    if (with_dram == packages) {
      text += " and DRAM";
    } else if (!with_dram.empty()) {
      text += " and the DRAM of package " + joined(with_dram);
    } else {
      text += left_out.empty() ? "; there is no DRAM domain, so the memory is left out" : "";
    }
    const std::string inside = memory_on_package(root);
    if (!inside.empty() && !with_dram.empty()) text += "; the DRAM domain leaves " + inside + " out";
    for (const std::string& each : left_out) text += "; " + each;
    return text;
  }
};

Result<EnergyMeter> EnergyMeter::open(const std::string& root) {
  const std::string what = "cannot read the energy counters";
  Finder finder{root, {}, {}, {}, {}, ""};
  const auto zones = rapl_zones(root, finder.reason);
  if (zones.empty())
    return environment_error(what, finder.reason, fmt::format("`modprobe intel_rapl_msr` as root; else {}", kWithout));
  if (!finder.find(zones)) {
    const bool denied = finder.reason.find("ermission denied") != std::string::npos;
    return environment_error(
        what, denied ? finder.reason + " (only root may read it since CVE-2020-8694)" : finder.reason,
        denied ? "run as root, or let root `chmod a+r /sys/class/powercap/intel-rapl:*/energy_uj` for this boot" : kWithout);
  }
  EnergyMeter meter;
  meter.root_ = root;
  meter.scope_ = finder.scope();
  meter.domains_ = std::move(finder.domains);
  return meter;
}

Result<EnergySnapshot> EnergyMeter::read() const {
  EnergySnapshot snapshot;
  const auto first = std::chrono::steady_clock::now();
  for (const Domain& domain : domains_) {
    std::string reason;
    const auto value = microjoules(root_, domain.folder + "/energy_uj", reason);
    if (!value) return environment_error("cannot read the energy counters", reason, kWithout);
    snapshot.counters_uj.push_back(*value);
  }
  snapshot.taken = first + (std::chrono::steady_clock::now() - first) / 2;
  return snapshot;
}

double EnergyMeter::longest_window_s() const {
  std::uint64_t smallest = std::numeric_limits<std::uint64_t>::max();
  for (const Domain& domain : domains_) smallest = std::min(smallest, domain.range_uj);
  return static_cast<double>(smallest) * kMicro / kMostWatts;
}

Result<EnergyUsed> EnergyMeter::difference(const EnergySnapshot& before, const EnergySnapshot& after) const {
  const std::string what = "cannot tell the energy between two readings";
  const auto refuse = [&](const std::string& why, const std::string& next) {
    return fail(ErrorKind::kInternal, what, why, next);
  };
  if (before.counters_uj.size() != domains_.size() || after.counters_uj.size() != domains_.size()) {
    return refuse("they are of another meter", "take both readings with one meter");
  }
  EnergyUsed used;
  used.elapsed_s = std::chrono::duration<double>(after.taken - before.taken).count();
  if (!(used.elapsed_s > 0)) return refuse("the second was taken before the first", "give them in their order");
  if (used.elapsed_s > longest_window_s()) {
    return environment_error(what,
                             fmt::format("{:.0f} s lie between them, and a counter may turn over unseen after {:.0f} s",
                                         used.elapsed_s, longest_window_s()),
                             "measure energy in a shorter window");
  }
  for (std::size_t i = 0; i < domains_.size(); ++i) {
    const std::uint64_t from = before.counters_uj[i];
    const std::uint64_t to = after.counters_uj[i];
    // The range is the counter's largest value: it goes on at 0 after it.
    const std::uint64_t spent = to >= from ? to - from : domains_[i].range_uj - std::min(from, domains_[i].range_uj) + to;
    const double joules = static_cast<double>(spent) * kMicro;
    if (domains_[i].dram) {
      used.dram_j = used.dram_j.value_or(0) + joules;
    } else {
      used.package_j += joules;
    }
  }
  used.total_j = used.package_j + used.dram_j.value_or(0);
  return used;
}

}  // namespace hbmark::topology
