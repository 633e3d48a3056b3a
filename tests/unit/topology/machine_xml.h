// Machines of our own making as hwloc XML files (format 2.0): parts of cores, each with the memory a test wants beside it.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "topology/node.h"

namespace hbmark::topology::tests {

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

using Infos = std::map<std::string, std::string>;

struct Memory {
  int os_index = 0;
  std::uint64_t size_bytes = 0;
  std::string subtype = {};
  Infos infos = {};
  std::uint64_t memcache_bytes = 0;  // a MemCache object before it
};

struct Part {
  int cores = 2;
  std::vector<Memory> memory;
  std::uint64_t l3_side_cache_bytes = 0;  // an L3 object of subtype MemorySideCache over the part, as on a KNL
};

struct Pci {
  int part = -1;  // -1: below the whole machine
  std::string busid;
  std::string type;  // "0302 [10de:2342] [10de:16eb] ff"
};

struct Machine {
  Infos infos = {};  // of the root
  Infos cpu = {};    // of each package
  std::vector<Part> parts;
  int parts_a_package = 0;  // 0: one package
  int pus_a_core = 1;
  std::vector<Memory> detached = {};  // memory that hangs under no core
  std::vector<int> disallowed = {};   // NUMA nodes
  std::vector<int> hidden = {};       // NUMA nodes that only complete_nodeset still names
  std::vector<Pci> devices = {};
};

std::string to_xml(const Machine& machine);

// Writes it to a file, describes that, and removes it again.
Node describe(const Machine& machine);
Node describe_text(const std::string& xml);

Infos knl_cpu();
Infos xeon_max_cpu();

// Parts of `cores` cores, DDR numbered from 0 and MCDRAM behind it, as Linux numbers them; sizes are of one part.
Machine knl(const std::vector<int>& cores, std::uint64_t ddr_bytes, std::uint64_t mcdram_bytes, const Infos& modes = {});

}  // namespace hbmark::topology::tests
