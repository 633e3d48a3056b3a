#include "topology/gpus.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

namespace hbmark::topology {
namespace {

using PciAttributes = hwloc_obj_attr_u::hwloc_pcidev_attr_s;

// PCI vendor ids (pci-ids.ucw.cz).
constexpr unsigned kNvidia = 0x10de;
constexpr unsigned kAmd = 0x1002;
constexpr unsigned kIntel = 0x8086;

// PCI classes: 0x0300 VGA, 0x0302 3D, 0x0380 other display; 0x1200 processing accelerator (AMD's MI300). The vendor keeps
// out the display chips of management controllers (ASPEED, Matrox) and of virtual machines (Cirrus, QEMU).
bool is_gpu_class(const PciAttributes& pci) {
  const unsigned base = pci.class_id >> 8;
  const bool vendor = pci.vendor_id == kNvidia || pci.vendor_id == kAmd || pci.vendor_id == kIntel;
  return vendor && (base == 0x03 || pci.class_id == 0x1200);
}

std::string address_of(const PciAttributes& pci) {
  return fmt::format("{:04x}:{:02x}:{:02x}.{:01x}", unsigned{pci.domain}, unsigned{pci.bus}, unsigned{pci.dev},
                     unsigned{pci.func});
}

std::string name_of(hwloc_obj_t device) {
  for (hwloc_obj_t child = device->io_first_child; child != nullptr; child = child->next_sibling) {
    if (auto model = info(child, "GPUModel"); !model.empty()) return model;
  }
  if (auto model = info(device, "PCIDevice"); !model.empty()) return model;
  if (device->name != nullptr && *device->name != '\0') return device->name;
  const auto& pci = device->attr->pcidev;
  const std::string vendor = pci.vendor_id == kNvidia  ? "NVIDIA"
                             : pci.vendor_id == kAmd   ? "AMD"
                             : pci.vendor_id == kIntel ? "Intel"
                                                       : "unknown";
  return fmt::format("{} GPU [{:04x}:{:04x}]", vendor, unsigned{pci.vendor_id}, unsigned{pci.device_id});
}

// The node with the fewest CPUs among those around the device; DDR before others with the same CPUs. A device that hangs
// above several clusters is near none of them.
std::optional<int> nearest_numa(hwloc_topology_t topology, hwloc_obj_t device, const Node& node) {
  const hwloc_obj_t place = hwloc_get_non_io_ancestor_obj(topology, device);
  if (place == nullptr) return std::nullopt;
  const NumaNode* best = nullptr;
  std::set<std::vector<int>> around;
  for (const auto& numa : node.numa) {
    if (numa.kind == "gpu" || numa.cpus.empty()) continue;
    if (hwloc_bitmap_isset(place->nodeset, static_cast<unsigned>(numa.os_index)) == 0) continue;
    around.insert(numa.cpus);
    const auto rank = [](const NumaNode& candidate) { return std::pair(candidate.cpus.size(), candidate.kind != "ddr"); };
    if (best == nullptr || rank(numa) < rank(*best)) best = &numa;
  }
  if (best == nullptr) return std::nullopt;
  const bool several = std::any_of(around.begin(), around.end(), [&](const std::vector<int>& cpus) {
    return !std::includes(cpus.begin(), cpus.end(), best->cpus.begin(), best->cpus.end());
  });
  if (several) return std::nullopt;
  return best->os_index;
}

}  // namespace

std::vector<Gpu> find_gpus(const Tree& tree, const Node& node) {
  std::set<std::string> known;  // PCI addresses that a GPU's memory node names: a GPU whatever its ids say
  for (hwloc_obj_t numa : tree.objects(HWLOC_OBJ_NUMANODE)) {
    if (subtype(numa) == "GPUMemory") known.insert(info(numa, "PCIBusID"));
  }
  std::vector<Gpu> gpus;
  for (hwloc_obj_t device : tree.objects(HWLOC_OBJ_PCI_DEVICE)) {
    const auto& pci = device->attr->pcidev;
    const std::string address = address_of(pci);
    if (!is_gpu_class(pci) && known.count(address) == 0) continue;
    gpus.push_back({name_of(device), address, nearest_numa(tree.get(), device, node)});
  }
  return gpus;
}

}  // namespace hbmark::topology
