// Which kind each NUMA node is of. hwloc's subtype says it where the firmware or the kernel does; where they do not, it is
// inferred from what only that machine can be, and a node stays "unknown" rather than be guessed. A node without CPUs is not
// fast for that: POWER9's GPU memory, NVDIMMs and the nodes a cpuset stripped have none either.
#include <algorithm>
#include <cstddef>

#include "topology/memory.h"

namespace hbmark::topology {
namespace {

// skiboot numbers the memory of NVIDIA GPUs on POWER9 from 255 downwards (hw/npu2.c); six GPUs are the most there are.
constexpr unsigned kPower9FirstGpuNode = 240;
constexpr std::uint64_t kLargestHbmNode = 128 * kGiB;  // an MI300A's (AMD's data sheet); a Xeon Max's are 64
constexpr unsigned kNvidia = 0x10de;                   // PCI vendor id

using Entries = std::vector<MemoryEntry>;

std::uint64_t size_of(const MemoryEntry& entry) { return entry.object->attr->numanode.local_memory; }
bool without_cpus(hwloc_obj_t numa) { return empty(numa->cpuset) && empty(numa->complete_cpuset); }
bool specific_purpose(hwloc_obj_t numa) { return subtype(numa) == "SPM" || has_info(numa, "DAXDevice"); }
bool is_cached(hwloc_obj_t numa) { return numa->parent != nullptr && numa->parent->type == HWLOC_OBJ_MEMCACHE; }

void set(MemoryEntry& entry, const char* kind, const std::string& source) {
  entry.kind = kind;
  entry.source = source;
}

// What hwloc itself says. DAXType is the kernel's word for where the memory came from. "DRAM" is not taken here: newer hwloc
// says it of every node it knows nothing better of, Optane behind a cache and HBM without DIMMs included.
void take_label(const CpuId& cpu, MemoryEntry& entry) {
  const std::string label = subtype(entry.object);
  const std::string source = "hwloc subtype " + label;
  if (label == "GPUMemory") set(entry, "gpu", source);
  if (label == "MCDRAM") set(entry, "mcdram", source);
  if (label == "HBM") set(entry, cpu.is_knl() ? "mcdram" : "hbm", source);
  if (label == "NVM" || label == "CXL-NVM") set(entry, "nvm", source);
  if (entry.kind.empty() && info(entry.object, "DAXType") == "NVM") set(entry, "nvm", "hwloc info DAXType NVM");
  if (entry.kind.empty() && label.rfind("CXL", 0) == 0) set(entry, "unknown", source + ": DRAM behind a link");
}

bool same_cpus(const MemoryEntry& one, const MemoryEntry& other) {
  return !empty(one.object->cpuset) && hwloc_bitmap_isequal(one.object->cpuset, other.object->cpuset) != 0;
}

std::vector<MemoryEntry*> undecided_with_cpus_of(Entries& entries, const MemoryEntry& entry) {
  std::vector<MemoryEntry*> same;
  for (auto& other : entries) {
    if (other.kind.empty() && same_cpus(entry, other)) same.push_back(&other);
  }
  return same;
}

// 2, 4 or 8 nodes of which exactly half have no CPUs (memkind's rule for these machines), and those no larger than the fast
// memory there is.
void infer_from_missing_cpus(Entries& entries, const char* kind, std::uint64_t limit) {
  const auto count = entries.size();
  if (count != 2 && count != 4 && count != 8) return;
  std::size_t half = 0;
  std::uint64_t total = 0;
  for (const auto& entry : entries) {
    if (!without_cpus(entry.object)) continue;
    ++half;
    total += size_of(entry);
  }
  if (half * 2 != count || total > limit) return;
  for (auto& entry : entries) {
    if (entry.kind.empty() && without_cpus(entry.object)) {
      set(entry, kind, "inferred: half of the nodes have no CPUs, on a CPU with such memory");
    }
  }
}

// Two nodes with the same CPUs: the later-numbered and smaller one is the fast one, if all of those fit into what the
// machine has. (Linux numbers nodes with CPUs first; newer kernels and hwloc then give the fast one the CPUs of its
// cluster.) Where they do not, neither is known.
void infer_from_pairs(Entries& entries, const char* kind, std::uint64_t limit) {
  std::vector<std::vector<MemoryEntry*>> pairs;
  std::uint64_t total = 0;
  bool clear = true;
  for (auto& entry : entries) {
    if (entry.kind == kind) total += size_of(entry);
    if (!entry.kind.empty()) continue;
    auto same = undecided_with_cpus_of(entries, entry);
    if (same.size() < 2 || same.front() != &entry) continue;
    std::sort(same.begin(), same.end(),
              [](const auto* one, const auto* other) { return one->object->os_index < other->object->os_index; });
    total += size_of(*same[1]);
    clear = clear && same.size() == 2 && size_of(*same[1]) < size_of(*same[0]);
    pairs.push_back(std::move(same));
  }
  clear = clear && total <= limit;
  for (auto& pair : pairs) {
    for (MemoryEntry* entry : pair) {
      if (clear) {
        set(*entry, entry == pair[1] ? kind : "ddr", "inferred: two nodes of the same CPUs, by number and size");
      } else {
        set(*entry, "unknown", "several nodes of the same CPUs, and nothing tells them apart");
      }
    }
  }
}

// What is alone beside its CPUs where others come in pairs: too large for the fast memory is DDR, else it is either.
void judge_the_lone(Entries& entries, const char* kind) {
  std::uint64_t largest = 0;
  for (const auto& entry : entries) {
    if (entry.kind == kind && !empty(entry.object->cpuset)) largest = std::max(largest, size_of(entry));
  }
  for (auto& entry : entries) {
    if (!entry.kind.empty() || without_cpus(entry.object) || size_of(entry) > largest) continue;
    const bool alone = std::none_of(entries.begin(), entries.end(),
                                    [&](const MemoryEntry& other) { return &other != &entry && same_cpus(entry, other); });
    if (alone) set(entry, "unknown", "alone beside its CPUs, and small enough to be the fast memory there");
  }
}

void infer_knl(const Tree& tree, Entries& entries) {
  infer_from_missing_cpus(entries, "mcdram", kMcdramBytes);
  infer_from_pairs(entries, "mcdram", kMcdramBytes);
  judge_the_lone(entries, "mcdram");
  // All there is measures 16 GiB and nothing speaks of a cache: DDR behind one, or MCDRAM without any DDR.
  std::uint64_t total = 0;
  bool decided = has_info(tree.root(), "MemoryMode") && !info(tree.root(), "MemoryMode").empty();
  for (const auto& entry : entries) {
    total += size_of(entry);
    decided = decided || !entry.kind.empty() || is_cached(entry.object);
  }
  for (hwloc_obj_t cache : tree.objects(HWLOC_OBJ_L3CACHE)) decided = decided || subtype(cache) == "MemorySideCache";
  if (decided || tree.cut() || total > kMcdramBytes || total < kMcdramBytes - kGiB) return;
  for (auto& entry : entries) set(entry, "unknown", "16 GiB in all: DDR behind a cache, or MCDRAM without DDR");
}

void infer_xeon_max(const Tree& tree, Entries& entries) {
  const auto packages = std::max<std::size_t>(1, tree.objects(HWLOC_OBJ_PACKAGE).size());
  const std::uint64_t limit = packages * kXeonMaxHbmBytes;
  bool seen = false;  // HBM shows itself, as nodes or as a cache
  std::uint64_t total = 0;
  for (auto& entry : entries) {
    total += size_of(entry);
    if (entry.kind.empty() && specific_purpose(entry.object) && size_of(entry) <= kXeonMaxHbmBytes) {
      set(entry, "hbm", "inferred: memory set aside by the firmware, on a CPU with HBM");
    }
    seen = seen || entry.kind == "hbm" || is_cached(entry.object);
  }
  if (!seen) {
    infer_from_missing_cpus(entries, "hbm", limit);
    infer_from_pairs(entries, "hbm", limit);
  }
  judge_the_lone(entries, "hbm");
  if (seen || std::any_of(entries.begin(), entries.end(), [](const auto& entry) { return !entry.kind.empty(); })) return;
  for (auto& entry : entries) {
    if (size_of(entry) > kXeonMaxHbmBytes) return;  // no HBM: there are DIMMs
  }
  // A part of the machine proves nothing. The whole one with no more memory than the packages hold themselves: no DIMMs.
  const bool known = !tree.cut() && total > 0;
  if (known && total > limit) return;
  for (auto& entry : entries) {
    if (known) set(entry, "hbm", "inferred: no more memory than the packages' own HBM");
    if (!known) set(entry, "unknown", "a part of a machine with HBM, and nothing says which memory this is");
  }
}

// Linux gives a CPU to one node only. Of nodes that share CPUs here the narrowest and first has them; the others are memory
// that the firmware or hwloc put beside them: HBM, CXL, a GPU's, persistent.
bool owns_its_cpus(const Entries& entries, const MemoryEntry& entry) {
  return std::none_of(entries.begin(), entries.end(), [&](const MemoryEntry& other) {
    if (&other == &entry || empty(other.object->cpuset) || !(other.kind.empty() || other.kind == "ddr")) return false;
    if (hwloc_bitmap_isincluded(other.object->cpuset, entry.object->cpuset) == 0) return false;
    return !same_cpus(entry, other) || other.object->os_index < entry.object->os_index;
  });
}

bool on_arm_with_nvidia(const Tree& tree, const CpuId& cpu) {
  const auto devices = tree.objects(HWLOC_OBJ_PCI_DEVICE);
  return cpu.architecture == "aarch64" && std::any_of(devices.begin(), devices.end(), [](hwloc_obj_t each) {
           const auto& pci = each->attr->pcidev;
           return pci.vendor_id == kNvidia && pci.class_id >> 8 == 0x03;
         });
}

void decide_the_rest(const Tree& tree, const CpuId& cpu, bool owner, MemoryEntry& entry) {
  hwloc_obj_t numa = entry.object;
  if (cpu.is_power() && numa->os_index >= kPower9FirstGpuNode) {
    set(entry, "gpu", "inferred: POWER9's firmware numbers the memory of GPUs so");
  } else if (cpu.is_mi300() || cpu.is_a64fx()) {
    set(entry, "hbm", "inferred: this processor has no other memory");
  } else if (!owner && on_arm_with_nvidia(tree, cpu)) {
    set(entry, "gpu", "inferred: memory without CPUs of its own, beside an NVIDIA GPU on Arm");
  } else if (is_cached(numa) && !cpu.is_knl() && !cpu.is_xeon_max()) {
    // A memory-side cache on Cascade, Cooper or Ice Lake is DRAM in front of persistent memory ("memory mode", 2LM).
    if (cpu.is_xeon() && (cpu.number == 85 || cpu.number == 106)) {
      set(entry, "nvm", "inferred: behind a DRAM cache, persistent memory in memory mode");
    } else {
      set(entry, "unknown", "behind a memory-side cache of an unknown kind");
    }
  } else if (specific_purpose(numa) && subtype(numa) != "DRAM") {
    set(entry, "unknown", "memory set aside by the firmware, of no stated kind");
  } else if (without_cpus(numa) && subtype(numa) != "DRAM") {
    set(entry, "unknown", "no CPUs, and nothing says what it is");
  } else if (!without_cpus(numa) && !owner) {
    set(entry, "unknown", "another node has these CPUs, and nothing says what this one is");
  } else if (cpu.is_nameless() && size_of(entry) > 0 && size_of(entry) <= kLargestHbmNode) {
    set(entry, "unknown", "the CPU does not say what it is: this may be DDR or HBM");
  } else {
    set(entry, "ddr", subtype(numa) == "DRAM" ? "hwloc subtype DRAM" : "the ordinary memory of its CPUs");
  }
}

}  // namespace

bool is_fast_kind(const std::string& kind) { return kind == "mcdram" || kind == "hbm"; }

std::vector<MemoryEntry> find_kinds(const Tree& tree, const CpuId& cpu) {
  Entries entries;
  for (hwloc_obj_t numa : tree.objects(HWLOC_OBJ_NUMANODE)) {
    entries.push_back({numa, "", ""});
    take_label(cpu, entries.back());
  }
  if (cpu.is_knl()) infer_knl(tree, entries);
  if (cpu.is_xeon_max()) infer_xeon_max(tree, entries);
  std::vector<bool> owners;  // asked of all before the first is decided
  for (const auto& entry : entries) owners.push_back(!without_cpus(entry.object) && owns_its_cpus(entries, entry));
  for (std::size_t i = 0; i < entries.size(); ++i) {
    if (entries[i].kind.empty()) decide_the_rest(tree, cpu, owners[i], entries[i]);
  }
  return entries;
}

}  // namespace hbmark::topology
