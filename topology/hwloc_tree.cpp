#include "topology/hwloc_tree.h"

#include <fmt/format.h>
#include <hwloc/distances.h>
#if HWLOC_API_VERSION >= 0x00020300
#include <hwloc/memattrs.h>
#endif

#include <cerrno>
#include <charconv>
#include <cstring>
#include <filesystem>
#include <system_error>

namespace hbmark::topology {
namespace {

Status check_xml_file(const std::string& file) {
  std::error_code error;
  const auto status = std::filesystem::status(file, error);
  if (!std::filesystem::exists(status)) {
    return environment_error("cannot read the topology " + file, "there is no such file", "check the path");
  }
  if (std::filesystem::is_directory(status)) {
    return environment_error("cannot read the topology " + file, "it is a directory",
                             "give an XML file as `lstopo file.xml` writes it");
  }
  return {};
}

// Components that open drivers (CUDA starts a context, X11 a connection) cost seconds and could disturb a measurement;
// PCI alone tells what devices there are.
void leave_out_drivers(hwloc_topology_t topology) {
  for (const char* name : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"}) {
    hwloc_topology_set_components(topology, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, name);
  }
}

tl::unexpected<Error> load_error(const std::string& xml_file, int error) {
  if (xml_file.empty()) {
    return environment_error("cannot read this machine's topology", fmt::format("hwloc: {}", std::strerror(error)),
                             "check that /sys and /proc are mounted, and that HWLOC_* variables are unset");
  }
  return environment_error("cannot read the topology " + xml_file,
                           "hwloc does not take it: no XML, damaged, without NUMA nodes, or written by a newer hwloc",
                           "write it again with `lstopo file.xml` of hwloc 2.x");
}

bool to_int(const std::string& text, int& value) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

}  // namespace

Result<Tree> Tree::load(const std::string& xml_file, bool with_io) {
  if (const unsigned running = hwloc_get_api_version(); running >> 16 != HWLOC_API_VERSION >> 16) {
    return environment_error("cannot use the installed hwloc",
                             fmt::format("it is version {}.{}, and hbmark was built for {}.x", running >> 16,
                                         (running >> 8) & 0xff, HWLOC_API_VERSION >> 16),
                             "install hwloc 2.x, or build hbmark again on this machine");
  }
  if (!xml_file.empty()) {
    if (auto status = check_xml_file(xml_file); !status) return tl::make_unexpected(status.error());
  }
  hwloc_topology_t topology = nullptr;
  if (hwloc_topology_init(&topology) != 0) return load_error(xml_file, errno);
  Tree tree(topology);
  leave_out_drivers(topology);
  hwloc_topology_set_flags(topology, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED);
  hwloc_topology_set_type_filter(topology, HWLOC_OBJ_MEMCACHE, HWLOC_TYPE_FILTER_KEEP_ALL);  // dropped by default
  hwloc_topology_set_io_types_filter(topology, with_io ? HWLOC_TYPE_FILTER_KEEP_IMPORTANT : HWLOC_TYPE_FILTER_KEEP_NONE);
  errno = 0;
  if (!xml_file.empty() && hwloc_topology_set_xml(topology, xml_file.c_str()) != 0) return load_error(xml_file, errno);
  if (hwloc_topology_load(topology) != 0) return load_error(xml_file, errno);
  return tree;
}

Tree& Tree::operator=(Tree&& other) noexcept {
  std::swap(topology_, other.topology_);
  return *this;
}

Tree::~Tree() {
  if (topology_ != nullptr) hwloc_topology_destroy(topology_);
}

hwloc_obj_t Tree::root() const { return hwloc_get_root_obj(topology_); }

std::vector<hwloc_obj_t> Tree::objects(hwloc_obj_type_t type) const {
  std::vector<hwloc_obj_t> found;
  for (hwloc_obj_t object = nullptr; (object = hwloc_get_next_obj_by_type(topology_, type, object)) != nullptr;) {
    found.push_back(object);
  }
  return found;
}

bool Tree::this_system() const { return hwloc_topology_is_thissystem(topology_) != 0; }

bool Tree::cut() const { return hwloc_bitmap_isequal(root()->cpuset, root()->complete_cpuset) == 0; }

std::vector<int> Tree::missing_numa_nodes() const {
  Bitmap missing;
  hwloc_bitmap_andnot(missing.get(), root()->complete_nodeset, root()->nodeset);
  return indexes(missing.get());
}

std::vector<int> indexes(hwloc_const_bitmap_t bitmap) {
  std::vector<int> found;
  if (bitmap == nullptr || hwloc_bitmap_weight(bitmap) < 0) return found;
  for (int i = hwloc_bitmap_first(bitmap); i >= 0; i = hwloc_bitmap_next(bitmap, i)) found.push_back(i);
  return found;
}

bool empty(hwloc_const_bitmap_t bitmap) { return bitmap == nullptr || hwloc_bitmap_iszero(bitmap) != 0; }

std::string info(hwloc_obj_t object, const char* name) {
  const char* value = hwloc_obj_get_info_by_name(object, name);
  return value != nullptr ? value : "";
}

bool has_info(hwloc_obj_t object, const char* name) { return hwloc_obj_get_info_by_name(object, name) != nullptr; }

std::string subtype(hwloc_obj_t object) { return object->subtype != nullptr ? object->subtype : ""; }

bool CpuId::is_knl() const {
  if (is_xeon_max() || is_mi300()) return false;
  const bool numbers = (vendor == "GenuineIntel" || vendor.empty()) && family == 6 && (number == 87 || number == 133);
  return numbers || model.find("Xeon Phi(TM) CPU 72") != std::string::npos || shows_mcdram;
}

bool CpuId::is_xeon_max() const { return model.find("Xeon(R) CPU Max") != std::string::npos; }

bool CpuId::is_xeon() const { return model.find("Xeon(R)") != std::string::npos && !is_knl(); }

bool CpuId::is_mi300() const {
  return model.find("MI300A") != std::string::npos ||
         (vendor == "AuthenticAMD" && family == 25 && number >= 144 && number <= 159);
}

bool CpuId::is_a64fx() const { return implementer == "0x46" && part == "0x001"; }

bool CpuId::is_power() const { return model.rfind("POWER", 0) == 0; }

bool CpuId::is_nameless() const {
  if (is_knl() || !implementer.empty() || vendor == "AuthenticAMD") return false;
  if (!architecture.empty() && architecture != "x86_64") return false;
  constexpr int kSapphireRapids = 143;  // Linux arch/x86/include/asm/intel-family.h; Xeon Max is one
  const bool unnamed = model.empty() || model.find("Genuine Intel(R) CPU") != std::string::npos;
  return unnamed && (number < 0 || number == kSapphireRapids);
}

CpuId identify_cpu(const Tree& tree) {
  CpuId cpu;
  auto holders = tree.objects(HWLOC_OBJ_PACKAGE);
  holders.push_back(tree.root());  // where hwloc puts it when there is no package
  for (hwloc_obj_t holder : holders) {
    if (cpu.vendor.empty()) cpu.vendor = info(holder, "CPUVendor");
    if (cpu.model.empty()) cpu.model = trimmed(info(holder, "CPUModel"));
    if (cpu.family < 0) to_int(info(holder, "CPUFamilyNumber"), cpu.family);
    if (cpu.number < 0) to_int(info(holder, "CPUModelNumber"), cpu.number);
    if (cpu.implementer.empty()) cpu.implementer = info(holder, "CPUImplementer");
    if (cpu.part.empty()) cpu.part = info(holder, "CPUPart");
  }
  cpu.architecture = info(tree.root(), "Architecture");
  cpu.shows_mcdram = has_info(tree.root(), "MemoryMode") || has_info(tree.root(), "ClusterMode");
  for (hwloc_obj_t numa : tree.objects(HWLOC_OBJ_NUMANODE)) {
    cpu.shows_mcdram = cpu.shows_mcdram || subtype(numa) == "MCDRAM";
  }
  for (hwloc_obj_t cache : tree.objects(HWLOC_OBJ_L3CACHE)) {
    cpu.shows_mcdram = cpu.shows_mcdram || subtype(cache) == "MemorySideCache";
  }
  return cpu;
}

std::vector<hwloc_obj_t> local_numa_nodes(const Tree& tree, hwloc_obj_t pu) {
#if HWLOC_API_VERSION >= 0x00020300
  hwloc_location location{};
  location.type = HWLOC_LOCATION_TYPE_CPUSET;
  location.location.cpuset = pu->cpuset;
  std::vector<hwloc_obj_t> nodes(tree.objects(HWLOC_OBJ_NUMANODE).size());
  unsigned count = static_cast<unsigned>(nodes.size());
  // The default flags want a locality of exactly this PU, which no node has.
  if (hwloc_get_local_numanode_objs(tree.get(), &location, &count, nodes.data(),
                                    HWLOC_LOCAL_NUMANODE_FLAG_LARGER_LOCALITY) != 0) {
    return {};
  }
  nodes.resize(count);
  return nodes;
#else  // the same question, asked by hand: hwloc 2.1 and 2.2 have no memory attributes
  std::vector<hwloc_obj_t> nodes;
  for (hwloc_obj_t numa : tree.objects(HWLOC_OBJ_NUMANODE)) {
    if (hwloc_bitmap_isincluded(pu->cpuset, numa->cpuset)) nodes.push_back(numa);
  }
  return nodes;
#endif
}

std::optional<std::uint64_t> bandwidth([[maybe_unused]] const Tree& tree, [[maybe_unused]] hwloc_obj_t numa,
                                       [[maybe_unused]] hwloc_obj_t pu) {
#if HWLOC_API_VERSION >= 0x00020300
  hwloc_location location{};
  location.type = HWLOC_LOCATION_TYPE_CPUSET;
  location.location.cpuset = pu->cpuset;
  hwloc_uint64_t value = 0;
  if (hwloc_memattr_get_value(tree.get(), HWLOC_MEMATTR_ID_BANDWIDTH, numa, &location, 0, &value) == 0 && value > 0)
    return value;
#endif
  return std::nullopt;
}

std::optional<std::uint64_t> distance(const Tree& tree, hwloc_obj_t from, hwloc_obj_t to) {
  hwloc_distances_s* matrix = nullptr;
  unsigned count = 1;
  const int rc =
      hwloc_distances_get_by_type(tree.get(), HWLOC_OBJ_NUMANODE, &count, &matrix, HWLOC_DISTANCES_KIND_MEANS_LATENCY, 0);
  if (rc != 0 || count == 0 || matrix == nullptr) return std::nullopt;
  std::optional<std::uint64_t> value;
  hwloc_uint64_t there = 0;
  hwloc_uint64_t back = 0;
  if (hwloc_distances_obj_pair_values(matrix, from, to, &there, &back) == 0) value = there;
  hwloc_distances_release(tree.get(), matrix);
  return value;
}

}  // namespace hbmark::topology
