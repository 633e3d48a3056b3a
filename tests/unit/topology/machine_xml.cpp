#include "tests/unit/topology/machine_xml.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>

#include "tests/unit/topology/fixtures.h"

namespace hbmark::topology::tests {
namespace {

std::string bitmap(const std::set<int>& indexes) {  // hwloc's own writing: 32 bits a word, the highest first
  std::vector<std::uint32_t> words(1);
  for (const int index : indexes) {
    const auto word = static_cast<std::size_t>(index) / 32;
    if (word >= words.size()) words.resize(word + 1);
    words[word] |= std::uint32_t{1} << (index % 32);
  }
  std::string text;
  for (auto word = words.rbegin(); word != words.rend(); ++word) {
    text += fmt::format("{}0x{:08x}", text.empty() ? "" : ",", *word);
  }
  return text;
}

class Writer {
 public:
  explicit Writer(const Machine& machine) : machine_(machine) {}

  std::string write() {
    int pu = 0;
    for (const Part& part : machine_.parts) {
      std::set<int> cpus;
      for (int i = 0; i < part.cores * machine_.pus_a_core; ++i) cpus.insert(pu++);
      cpus_.push_back(cpus);
      std::set<int> nodes;
      for (const Memory& memory : part.memory) nodes.insert(memory.os_index);
      nodes_.push_back(nodes);
    }
    out_ =
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<!DOCTYPE topology SYSTEM \"hwloc2.dtd\">\n<topology "
        "version=\"2.0\">\n";
    open_machine();
    const int each = machine_.parts_a_package > 0 ? machine_.parts_a_package : static_cast<int>(machine_.parts.size());
    for (std::size_t i = 0; i < machine_.parts.size(); i += static_cast<std::size_t>(each)) {
      write_package(i, std::min(machine_.parts.size(), i + static_cast<std::size_t>(each)));
    }
    for (const Memory& memory : machine_.detached) {  // as hwloc does: a group without CPUs
      open("Group", sets({}, {memory.os_index}) + " kind=\"1001\" subkind=\"0\"");
      write_numa(memory, {});
      close();
    }
    for (const Pci& pci : machine_.devices) {
      if (pci.part < 0) write_device(pci);
    }
    out_ += "</object>\n</topology>\n";
    return out_;
  }

 private:
  static std::set<int> join(const std::vector<std::set<int>>& sets, std::size_t first, std::size_t last) {
    std::set<int> all;
    for (std::size_t i = first; i < last; ++i) all.insert(sets[i].begin(), sets[i].end());
    return all;
  }

  std::string sets(const std::set<int>& cpus, const std::set<int>& nodes) const {
    const std::string cpu = bitmap(cpus);
    const std::string node = bitmap(nodes);
    return fmt::format("cpuset=\"{}\" complete_cpuset=\"{}\" nodeset=\"{}\" complete_nodeset=\"{}\"", cpu, cpu, node, node);
  }

  void open(const std::string& type, const std::string& attributes, const Infos& infos = {}) {
    out_ += fmt::format("<object type=\"{}\" {} gp_index=\"{}\">\n", type, attributes, ++gp_index_);
    for (const auto& [name, value] : infos) out_ += fmt::format("<info name=\"{}\" value=\"{}\"/>\n", name, value);
  }

  void close() { out_ += "</object>\n"; }

  void open_machine() {
    const std::set<int> cpus = join(cpus_, 0, cpus_.size());
    std::set<int> nodes = join(nodes_, 0, nodes_.size());
    for (const Memory& memory : machine_.detached) nodes.insert(memory.os_index);
    std::set<int> complete = nodes;
    complete.insert(machine_.hidden.begin(), machine_.hidden.end());
    std::set<int> allowed = nodes;
    for (const int node : machine_.disallowed) allowed.erase(node);
    open("Machine",
         fmt::format("os_index=\"0\" cpuset=\"{0}\" complete_cpuset=\"{0}\" allowed_cpuset=\"{0}\" nodeset=\"{1}\" "
                     "complete_nodeset=\"{2}\" allowed_nodeset=\"{3}\"",
                     bitmap(cpus), bitmap(nodes), bitmap(complete), bitmap(allowed)),
         machine_.infos);
  }

  void write_numa(const Memory& memory, const std::set<int>& cpus) {
    const std::string where = sets(cpus, {memory.os_index});
    if (memory.memcache_bytes > 0) {
      open("MemCache", fmt::format("{} cache_size=\"{}\" depth=\"1\" cache_linesize=\"64\" cache_associativity=\"1\" "
                                   "cache_type=\"0\"",
                                   where, memory.memcache_bytes));
    }
    const std::string subtype = memory.subtype.empty() ? "" : fmt::format(" subtype=\"{}\"", memory.subtype);
    open("NUMANode",
         fmt::format("os_index=\"{}\" {}{} local_memory=\"{}\"", memory.os_index, where, subtype, memory.size_bytes),
         memory.infos);
    close();
    if (memory.memcache_bytes > 0) close();
  }

  void write_package(std::size_t first, std::size_t last) {
    open("Package",
         fmt::format("os_index=\"{}\" {}", packages_++, sets(join(cpus_, first, last), join(nodes_, first, last))),
         machine_.cpu);
    for (std::size_t i = first; i < last; ++i) write_part(i);
    close();
  }

  void write_part(std::size_t index) {
    const Part& part = machine_.parts[index];
    const std::string where = sets(cpus_[index], nodes_[index]);
    open("Group", where + " kind=\"11\" subkind=\"0\" subtype=\"Cluster\" dont_merge=\"1\"");
    if (part.l3_side_cache_bytes > 0) {
      open("L3Cache", fmt::format("{} subtype=\"MemorySideCache\" cache_size=\"{}\" depth=\"3\" cache_linesize=\"64\" "
                                  "cache_associativity=\"1\" cache_type=\"0\"",
                                  where, part.l3_side_cache_bytes));
    }
    for (const Memory& memory : part.memory) write_numa(memory, cpus_[index]);
    int pu = *cpus_[index].begin();
    for (int core = 0; core < part.cores; ++core) {
      std::set<int> own;
      for (int i = 0; i < machine_.pus_a_core; ++i) own.insert(pu + i);
      open("Core", fmt::format("os_index=\"{}\" {}", cores_++, sets(own, nodes_[index])));
      for (int i = 0; i < machine_.pus_a_core; ++i, ++pu) {
        open("PU", fmt::format("os_index=\"{}\" {}", pu, sets({pu}, nodes_[index])));
        close();
      }
      close();
    }
    if (part.l3_side_cache_bytes > 0) close();
    for (const Pci& pci : machine_.devices) {
      if (pci.part == static_cast<int>(index)) write_device(pci);
    }
    close();
  }

  void write_device(const Pci& pci) {
    open("Bridge", fmt::format("bridge_type=\"0-1\" depth=\"0\" bridge_pci=\"{}:[00-ff]\"", pci.busid.substr(0, 4)));
    open("PCIDev", fmt::format("pci_busid=\"{}\" pci_type=\"{}\" pci_link_speed=\"0.0\"", pci.busid, pci.type));
    close();
    close();
  }

  const Machine& machine_;
  std::vector<std::set<int>> cpus_;
  std::vector<std::set<int>> nodes_;
  std::string out_;
  int gp_index_ = 0;
  int packages_ = 0;
  int cores_ = 0;
};

}  // namespace

std::string to_xml(const Machine& machine) { return Writer(machine).write(); }

Node describe_text(const std::string& xml) {
  const auto file = std::filesystem::temp_directory_path() /
                    fmt::format("hbmark-machine-{}-{}.xml", getpid(), std::hash<std::string>()(xml));
  std::ofstream(file) << xml;
  Node node = describe_xml(file.string());
  std::filesystem::remove(file);
  return node;
}

Node describe(const Machine& machine) {
  Node node = describe_text(to_xml(machine));
  expect_consistent(node);
  return node;
}

Infos knl_cpu() {
  return {{"CPUVendor", "GenuineIntel"},
          {"CPUFamilyNumber", "6"},
          {"CPUModelNumber", "87"},
          {"CPUModel", "Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz"}};
}

Infos xeon_max_cpu() {
  return {{"CPUVendor", "GenuineIntel"},
          {"CPUFamilyNumber", "6"},
          {"CPUModelNumber", "143"},
          {"CPUModel", "Intel(R) Xeon(R) CPU Max 9480"}};
}

Machine knl(const std::vector<int>& cores, std::uint64_t ddr_bytes, std::uint64_t mcdram_bytes, const Infos& modes) {
  Machine machine;
  machine.infos = modes;
  machine.cpu = knl_cpu();
  machine.pus_a_core = 4;
  const int parts = static_cast<int>(cores.size());
  for (int i = 0; i < parts; ++i) {
    Part part{cores[static_cast<std::size_t>(i)], {{i, ddr_bytes}}};
    if (mcdram_bytes > 0) part.memory.push_back({i + parts, mcdram_bytes, "MCDRAM"});
    machine.parts.push_back(part);
  }
  return machine;
}

}  // namespace hbmark::topology::tests
