#include "topology/partition.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <set>

namespace hbmark::topology {
namespace {

using Cores = std::vector<std::size_t>;

bool is_usable(const Node& node, const Core& core) {
  return std::any_of(core.pus.begin(), core.pus.end(), [&](int pu) {
    return std::find(node.allowed_pus.begin(), node.allowed_pus.end(), pu) != node.allowed_pus.end();
  });
}

// Cores with the same key, groups in the order in which they first come. What has no key (-1) is a group of its own.
std::vector<Cores> grouped(const Cores& cores, const std::function<int(std::size_t)>& key) {
  std::vector<std::pair<int, Cores>> groups;
  for (const std::size_t core : cores) {
    const int of_core = key(core);
    const auto found =
        of_core < 0 ? groups.end()
                    : std::find_if(groups.begin(), groups.end(), [&](const auto& group) { return group.first == of_core; });
    if (found == groups.end()) {
      groups.push_back({of_core, {core}});
    } else {
      found->second.push_back(core);
    }
  }
  std::vector<Cores> all;
  for (auto& [of_group, members] : groups) all.push_back(std::move(members));
  return all;
}

// Consecutive units joined to so many parts, as even in units as they go, larger ones first.
std::vector<Cores> joined(const std::vector<Cores>& units, std::size_t parts) {
  std::vector<Cores> all(parts);
  std::size_t next = 0;
  for (std::size_t part = 0; part < parts; ++part) {
    const std::size_t count = units.size() / parts + (part < units.size() % parts ? 1 : 0);
    for (std::size_t i = 0; i < count; ++i, ++next)
      all[part].insert(all[part].end(), units[next].begin(), units[next].end());
  }
  return all;
}

class Cutter {
 public:
  explicit Cutter(const Node& node) : node_(node) {
    for (std::size_t i = 0; i < node.cores.size(); ++i) {
      if (is_usable(node, node.cores[i])) usable_.push_back(i);
    }
  }
  const Cores& usable() const { return usable_; }

  std::vector<Cores> cut(std::size_t parts, std::string& along) const {
    const auto domains = grouped(usable_, [&](std::size_t core) { return node_.cores[core].numa; });
    if (domains.size() % parts == 0 && parts > 1) {
      along = "NUMA nodes";
      return joined(domains, parts);
    }
    const std::size_t in_each = parts / domains.size();
    const bool each_can =
        std::all_of(domains.begin(), domains.end(), [&](const Cores& domain) { return domain.size() >= in_each; });
    if (parts % domains.size() != 0 || !each_can) return cut_cores(usable_, parts, along);
    std::vector<Cores> all;
    bool by_tiles = true;
    for (const Cores& domain : domains) {
      std::string how;
      for (Cores& part : cut_cores(domain, in_each, how)) all.push_back(std::move(part));
      by_tiles = by_tiles && how == "tiles";
    }
    along = by_tiles ? "tiles" : "cores";
    return all;
  }

 private:
  std::vector<Cores> cut_cores(const Cores& cores, std::size_t parts, std::string& along) const {
    const auto tiles = grouped(cores, [&](std::size_t core) { return node_.cores[core].tile; });
    const bool are_shared = tiles.size() < cores.size();
    if (are_shared && tiles.size() >= parts) {
      along = "tiles";
      return joined(tiles, parts);
    }
    along = "cores";
    std::vector<Cores> single;
    for (const std::size_t core : cores) single.push_back({core});
    return joined(single, parts);
  }

  const Node& node_;
  Cores usable_;
};

void warn(const Node& node, Partition& partition) {
  std::vector<std::size_t> sizes;
  int across = 0;
  for (const Cores& part : partition.parts) {
    sizes.push_back(part.size());
    std::set<int> domains;
    for (const std::size_t core : part) domains.insert(node.cores[core].numa);
    // A part that is whole NUMA nodes has all their memory; one that holds pieces of several has some of each.
    if (domains.size() > 1 && partition.along != "NUMA nodes") ++across;
  }
  if (std::adjacent_find(sizes.begin(), sizes.end(), std::not_equal_to<>()) != sizes.end()) {
    partition.warnings.push_back({"uneven-replicas", fmt::format("the replicas are of unequal size: {} cores; the slowest "
                                                                 "calls longest, and the efficiency is against the first",
                                                                 fmt::join(sizes, ", "))});
  }
  if (across > 0) {
    partition.warnings.push_back(
        {"replicas-across-numa", fmt::format("{} of {} replicas lie across NUMA nodes: choose a number of replicas that "
                                             "divides the nodes, or is a multiple of them",
                                             across, partition.parts.size())});
  }
}

}  // namespace

Result<Partition> partition(const Node& node, int parts) {
  const Cutter cutter(node);
  const std::size_t cores = cutter.usable().size();
  if (parts < 1 || static_cast<std::size_t>(parts) > cores) {
    return usage_error(fmt::format("cannot divide this node into {} replicas", parts),
                       fmt::format("this process may use {} cores, and a replica needs one", cores),
                       fmt::format("give --replicas {} or fewer", std::max<std::size_t>(cores, 1)));
  }
  Partition result;
  result.parts = cutter.cut(static_cast<std::size_t>(parts), result.along);
  for (Cores& part : result.parts) std::sort(part.begin(), part.end());
  warn(node, result);
  return result;
}

Node part_of(const Node& node, const std::vector<std::size_t>& cores) {
  Node part = node;
  part.cores.clear();
  std::set<int> pus;
  for (const std::size_t core : cores) {
    part.cores.push_back(node.cores.at(core));
    pus.insert(part.cores.back().pus.begin(), part.cores.back().pus.end());
  }
  std::erase_if(part.allowed_pus, [&](int pu) { return !pus.contains(pu); });
  return part;
}

Result<Placement> plan_replicas(const Node& node, int replicas, const ThreadWish& wish) {
  const auto cut = partition(node, replicas);
  if (!cut) return tl::make_unexpected(cut.error());
  Placement whole;
  whole.warnings = cut->warnings;
  for (const Cores& cores : cut->parts) {
    Node seen = part_of(node, cores);
    // The quota is the group's: each replica has its share of it.
    if (seen.cpu_quota) *seen.cpu_quota /= replicas;
    auto part = plan_threads(seen, wish);
    if (!part) {
      Error error = part.error();
      error.why += fmt::format(" in a part of {} cores, one of {} replicas", cores.size(), replicas);
      return tl::make_unexpected(std::move(error));
    }
    whole.thread_pus.insert(whole.thread_pus.end(), part->thread_pus.begin(), part->thread_pus.end());
    whole.omp_places += (whole.omp_places.empty() || part->omp_places.empty() ? "" : ",") + part->omp_places;
    if (whole.parts.empty()) {
      whole.environment = part->environment;
      whole.warnings.insert(whole.warnings.end(), part->warnings.begin(), part->warnings.end());
    }
    whole.parts.push_back(std::move(*part));
  }
  // What differs from part to part is no fact of the run.
  std::erase_if(whole.environment, [&](const auto& variable) {
    return std::any_of(whole.parts.begin(), whole.parts.end(), [&](const Placement& part) {
      return std::find(part.environment.begin(), part.environment.end(), variable) == part.environment.end();
    });
  });
  return whole;
}

}  // namespace hbmark::topology
