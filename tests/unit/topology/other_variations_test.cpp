// Other machines with two kinds of memory, of our own making: named, half named and nameless. Expected is what such a
// machine is; where nothing tells, "unknown".
#include <gmock/gmock.h>

#include "tests/unit/topology/fixtures.h"
#include "tests/unit/topology/machine_xml.h"
#include "tests/unit/topology/temp_tree.h"

namespace hbmark::topology::tests {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

std::string kinds(const Node& node) {
  std::map<int, std::string> sorted;
  for (const auto& each : node.numa) sorted[each.os_index] = each.kind;
  std::string text;
  for (const auto& [index, kind] : sorted) text += (text.empty() ? "" : " ") + kind;
  return text;
}

std::vector<int> fast_nodes(const Node& node) {
  std::vector<int> found;
  for (const auto& fast : node.fast_memory) found.push_back(fast.os_index);
  return found;
}

// Two packages; HBM numbered behind the DDR. An absent kind of memory is 0 bytes a part.
Machine xeon_max(int parts, std::uint64_t ddr_bytes, std::uint64_t hbm_bytes, const Memory& hbm = {}) {
  Machine machine;
  machine.cpu = xeon_max_cpu();
  machine.parts_a_package = parts / 2;
  for (int i = 0; i < parts; ++i) {
    Part part{7, {}};
    if (ddr_bytes > 0) part.memory.push_back({i, ddr_bytes});
    if (hbm_bytes > 0) {
      Memory fast = hbm;
      fast.os_index = ddr_bytes > 0 ? parts + i : i;
      fast.size_bytes = hbm_bytes;
      part.memory.push_back(fast);
    }
    machine.parts.push_back(part);
  }
  return machine;
}

TEST(XeonMaxVariations, FlatHoweverTheHbmIsNamed) {
  const Memory names[] = {{.subtype = "HBM"},
                          {.subtype = "SPM"},
                          {.infos = {{"DAXDevice", "dax0.0"}}},
                          {.infos = {{"DAXDevice", "dax0.0"}, {"DAXType", "SPM"}}},
                          {}};
  for (const Memory& name : names) {
    SCOPED_TRACE(name.subtype + (name.infos.empty() ? "" : " DAX"));
    const Node node = describe(xeon_max(4, 128 * kGiB, 32 * kGiB, name));
    EXPECT_EQ(kinds(node), "ddr ddr ddr ddr hbm hbm hbm hbm");
    EXPECT_EQ(node.memory_mode.value, "flat");
    EXPECT_EQ(node.cluster_mode.value, "snc2");
    EXPECT_EQ(numa(node, 1).partner, 5);
    EXPECT_THAT(fast_nodes(node), ElementsAre(4, 5, 6, 7));
    EXPECT_THAT(node.warnings, IsEmpty());
  }
}

TEST(XeonMaxVariations, CacheIsToldByItsObjectsOnly) {
  Machine machine = xeon_max(8, 128 * kGiB, 0);
  const Node hidden = describe(machine);
  EXPECT_EQ(hidden.memory_mode.value, "unknown");
  EXPECT_EQ(hidden.cluster_mode.value, "snc4");
  EXPECT_TRUE(warned(hidden, "hbm-not-visible"));
  for (Part& part : machine.parts) part.memory[0].memcache_bytes = 16 * kGiB;
  const Node node = describe(machine);
  EXPECT_EQ(node.memory_mode.value, "cache");
  EXPECT_EQ(kinds(node), "ddr ddr ddr ddr ddr ddr ddr ddr");
  EXPECT_THAT(node.memory_side_caches, SizeIs(8));
  EXPECT_THAT(node.fast_memory, IsEmpty());
  for (Part& part : machine.parts) part.memory[0].memcache_bytes = 64 * kGiB;  // more than there is
  const Node odd = describe(machine);
  EXPECT_EQ(odd.memory_mode.value, "unknown");
  EXPECT_TRUE(warned(odd, "hbm-modes-contradictory"));
}

TEST(XeonMaxVariations, HbmOnlyInQuartersAndWhole) {
  for (const int parts : {2, 8}) {
    const Node node = describe(xeon_max(parts, 0, 128 / static_cast<unsigned>(parts) * kGiB));
    EXPECT_EQ(node.memory_mode.value, "hbm-only");
    EXPECT_EQ(numa(node, 0).kind, "hbm");
    EXPECT_THAT(node.fast_memory, SizeIs(static_cast<std::size_t>(parts)));
    EXPECT_EQ(node.cluster_mode.value, parts == 8 ? "snc4" : "unknown");
  }
}

TEST(XeonMaxVariations, HbmThatIsBothOrNotAllThereIsSaid) {
  Machine both = xeon_max(2, 256 * kGiB, 64 * kGiB, {.subtype = "HBM"});
  both.parts[0].memory[0].memcache_bytes = 64 * kGiB;
  EXPECT_EQ(describe(both).memory_mode.value, "unknown");
  EXPECT_TRUE(warned(describe(both), "hbm-modes-contradictory"));
  Machine half = xeon_max(2, 256 * kGiB, 64 * kGiB, {.subtype = "HBM"});
  half.parts[1].memory.pop_back();
  const Node node = describe(half);
  EXPECT_EQ(node.memory_mode.value, "flat");
  EXPECT_TRUE(warned(node, "hbm-incomplete"));
  EXPECT_THAT(node.fast_memory, SizeIs(1));
}

TEST(XeonMaxVariations, ALargeExpanderIsNoHbm) {
  Machine machine = xeon_max(2, 256 * kGiB, 64 * kGiB, {.infos = {{"DAXDevice", "dax0.0"}}});
  machine.parts[0].memory.push_back({4, 512 * kGiB, "", {{"DAXDevice", "dax2.0"}}});
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr hbm hbm unknown");
  EXPECT_EQ(node.memory_mode.value, "flat");
  EXPECT_THAT(fast_nodes(node), ElementsAre(2, 3));
}

TEST(XeonMaxVariations, ForbiddenHbmIsSaid) {
  Machine machine = xeon_max(2, 256 * kGiB, 64 * kGiB, {.subtype = "HBM"});
  machine.disallowed = {2, 3};
  const Node node = describe(machine);
  EXPECT_EQ(node.memory_mode.value, "flat");
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_TRUE(warned(node, "fast-memory-not-allowed"));
}

TEST(OtherVariations, AServerWithANamelessSecondMemoryIsNotCalledOrdinary) {
  Machine machine = xeon_max(2, 256 * kGiB, 64 * kGiB);
  machine.cpu["CPUModel"] = "Genuine Intel(R) CPU 0000%@";  // an engineering sample
  const Node nameless = describe(machine);
  EXPECT_EQ(kinds(nameless), "ddr ddr unknown unknown");
  EXPECT_EQ(nameless.memory_mode.value, "unknown");
  EXPECT_TRUE(warned(nameless, "memory-kind-unknown"));
  for (Part& part : machine.parts) part.memory[1].subtype = "SPM";
  EXPECT_THAT(fast_nodes(describe(machine)), ElementsAre(2, 3)) << "set aside by the firmware";
  for (Part& part : machine.parts) part.memory[1].subtype = "HBM";
  EXPECT_EQ(describe(machine).memory_mode.value, "flat");
}

TEST(OtherVariations, CxlMemoryIsNeitherDdrNorFast) {
  Machine machine = xeon_max(2, 256 * kGiB, 128 * kGiB, {.subtype = "CXL-DRAM"});
  machine.cpu["CPUModel"] = "Intel(R) Xeon(R) Platinum 8592+";
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr unknown unknown");
  EXPECT_EQ(node.memory_mode.value, "none");
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_FALSE(numa(node, 0).partner);
}

Machine grace(const Memory& gpu) {
  Machine machine;
  machine.infos = {{"Architecture", "aarch64"}};
  machine.parts = {{8, {{0, 480 * kGiB}}}};
  Memory memory = gpu;
  memory.os_index = 1;
  memory.size_bytes = 96 * kGiB;
  machine.parts[0].memory.push_back(memory);
  return machine;
}

TEST(GraceVariations, TheGpusMemoryIsNoFastMemoryOfTheCores) {
  Machine machine = grace({.subtype = "GPUMemory", .infos = {{"PCIBusID", "0009:01:00.0"}}});
  machine.devices = {{-1, "0009:01:00.0", "0302 [10de:2342] [10de:16eb] ff"}};
  const Node named = describe(machine);
  EXPECT_EQ(kinds(named), "ddr gpu");
  EXPECT_EQ(named.memory_mode.value, "none");
  EXPECT_THAT(named.fast_memory, IsEmpty());
  ASSERT_THAT(named.gpus, SizeIs(1));
  EXPECT_EQ(named.gpus[0].nearest_numa, 0);

  machine.parts[0].memory[1].subtype.clear();
  machine.parts[0].memory[1].infos.clear();
  const Node nameless = describe(machine);
  EXPECT_EQ(kinds(nameless), "ddr gpu") << "on Arm beside an NVIDIA GPU";
  EXPECT_EQ(nameless.memory_mode.value, "none");
  machine.devices.clear();
  const Node alone = describe(machine);
  EXPECT_EQ(kinds(alone), "ddr unknown");
  EXPECT_THAT(alone.fast_memory, IsEmpty());
}

TEST(Power9Variations, GpuNodesAreKnownByTheirNumber) {
  Machine machine;
  machine.cpu = {{"CPUModel", "POWER9, altivec supported"}};
  machine.pus_a_core = 4;
  machine.parts_a_package = 1;
  machine.parts = {{4, {{0, 128 * kGiB}, {255, 16 * kGiB}}}, {4, {{8, 128 * kGiB}, {254, 16 * kGiB}}}};
  machine.detached = {{253, 16 * kGiB}};
  machine.devices = {{0, "0004:04:00.0", "0302 [10de:1db1] [10de:1212] a1"}};
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr gpu gpu gpu");
  EXPECT_EQ(node.memory_mode.value, "none");
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_EQ(node.gpus.at(0).nearest_numa, 0);
  EXPECT_FALSE(numa(node, 8).partner);
}

Machine optane(const std::string& number) {
  Machine machine;
  machine.cpu = {{"CPUVendor", "GenuineIntel"},
                 {"CPUFamilyNumber", "6"},
                 {"CPUModelNumber", number},
                 {"CPUModel", "Intel(R) Xeon(R) Platinum 8260L CPU @ 2.40GHz"}};
  machine.parts_a_package = 1;
  for (int i = 0; i < 2; ++i) machine.parts.push_back({4, {{i, 768 * kGiB, "", {}, 192 * kGiB}}});
  return machine;
}

TEST(OptaneVariations, MemoryModeIsADramCacheBeforeNvm) {
  for (const char* number : {"85", "106"}) {
    const Node node = describe(optane(number));
    EXPECT_EQ(kinds(node), "nvm nvm");
    EXPECT_EQ(node.memory_mode.value, "none");
    EXPECT_TRUE(warned(node, "dram-memory-side-cache"));
    EXPECT_THAT(node.fast_memory, IsEmpty());
    EXPECT_EQ(node.memory_side_caches.at(1).size_bytes, 192 * kGiB);
  }
  const Node unheard = describe(optane("143"));  // Sapphire Rapids whose name was lost: HBM, or DRAM before CXL
  EXPECT_EQ(kinds(unheard), "unknown unknown");
  EXPECT_EQ(unheard.memory_mode.value, "unknown");
}

TEST(OptaneVariations, AppDirectMemoryIsSlowAndNotFast) {
  Machine machine = optane("85");
  for (Part& part : machine.parts) {
    part.memory[0].memcache_bytes = 0;
    part.memory.push_back({part.memory[0].os_index + 2, 1536 * kGiB, "", {{"DAXDevice", "dax0.0"}, {"DAXType", "NVM"}}});
  }
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr nvm nvm");
  EXPECT_EQ(node.memory_mode.value, "none");
  EXPECT_EQ(numa(node, 0).partner, 2);
  EXPECT_THAT(node.fast_memory, IsEmpty());
}

TEST(HbmAlone, Mi300aAndA64fxHaveNoOtherMemory) {
  Machine apu;
  apu.cpu = {{"CPUVendor", "AuthenticAMD"}, {"CPUFamilyNumber", "25"}, {"CPUModelNumber", "144"}};
  apu.parts_a_package = 1;
  for (int i = 0; i < 4; ++i) {
    apu.parts.push_back({4, {{i, 125 * kGiB}}});
    apu.devices.push_back({i, "000" + std::to_string(i) + ":02:00.0", "1200 [1002:74a0] [1002:74a0] 00"});
  }
  const Node node = describe(apu);
  EXPECT_EQ(kinds(node), "hbm hbm hbm hbm");
  EXPECT_EQ(node.memory_mode.value, "hbm-only");
  EXPECT_THAT(fast_nodes(node), ElementsAre(0, 1, 2, 3));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(node.gpus.at(static_cast<std::size_t>(i)).nearest_numa, i);

  Machine arm;
  arm.cpu = {{"CPUImplementer", "0x46"}, {"CPUPart", "0x001"}};
  for (int i = 0; i < 4; ++i) arm.parts.push_back({12, {{4 + i, 8 * kGiB}}});
  EXPECT_EQ(describe(arm).memory_mode.value, "hbm-only");
  arm.cpu["CPUPart"] = "0xd4f";
  arm.cpu["CPUImplementer"] = "0x41";
  EXPECT_EQ(describe(arm).memory_mode.value, "none");
}

TEST(PlainMachines, ACpuWithoutANameMayHaveAnyMemory) {
  Machine machine;
  machine.parts = {{2, {{0, 64 * kGiB}}}, {2, {{1, 64 * kGiB}}}};
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "unknown unknown");
  EXPECT_EQ(node.memory_mode.value, "unknown");
  EXPECT_EQ(node.cluster_mode.value, "unknown");
  for (Part& part : machine.parts) part.memory[0].size_bytes = 512 * kGiB;
  EXPECT_EQ(kinds(describe(machine)), "ddr ddr") << "no HBM is that large";
  machine.infos = {{"Architecture", "ppc64le"}};
  EXPECT_EQ(describe(machine).memory_mode.value, "none");
}

TEST(PlainMachines, NodesOfZeroBytesAreOfUnknownSize) {
  Machine machine;
  machine.cpu = {{"CPUModel", "AMD EPYC 7451 24-Core Processor"}};
  machine.parts = {{2, {{0, 0}}}, {2, {{1, 0}}}};
  const Node node = describe(machine);
  EXPECT_FALSE(numa(node, 0).size_bytes || numa(node, 1).size_bytes);
  EXPECT_TRUE(warned(node, "numa-sizes-unknown"));
  EXPECT_EQ(node.memory_mode.value, "none");
}

TEST(PlainMachines, UnevenPartsOfAXeonAreNoMode) {
  Machine machine;
  machine.cpu = {{"CPUModel", "Intel(R) Xeon(R) Gold 6148 CPU @ 2.40GHz"}};
  machine.parts = {{2, {{0, kGiB}}}, {2, {{1, kGiB}}}, {4, {{2, kGiB}}}};
  const Node node = describe(machine);
  EXPECT_EQ(node.cluster_mode.value, "unknown");
  EXPECT_TRUE(warned(node, "uneven-parts"));
}

TEST(PlainMachines, AnAmdServerSaysItsNodesAPackage) {
  Machine machine;
  machine.cpu = {{"CPUVendor", "AuthenticAMD"}, {"CPUModel", "AMD EPYC 9654 96-Core Processor"}};
  machine.parts_a_package = 4;
  for (int i = 0; i < 8; ++i) machine.parts.push_back({2, {{i, 96 * kGiB}}});
  const Node node = describe(machine);
  EXPECT_EQ(node.cluster_mode.value, "none");
  EXPECT_THAT(node.cluster_mode.source, HasSubstr("NPS4"));
}

// hwloc 2 gives every machine a NUMA node, and refuses a file of its own format that has none.
TEST(PlainMachines, AFileWithoutNumaNodesIsRefusedWithItsReason) {
  for (const char* version : {"2.0", "3.0"}) {
    const TempTree tree{{"/machine.xml", std::string("<?xml version=\"1.0\"?>\n<topology version=\"") + version + R"(">
<object type="Machine" os_index="0" cpuset="0x1" complete_cpuset="0x1" allowed_cpuset="0x1" gp_index="1">
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" gp_index="2"/></object></topology>)"}};
    DescribeOptions options;
    options.xml_file = tree.path("/machine.xml").string();
    const auto node = describe_node(options);
    ASSERT_FALSE(node) << version;
    EXPECT_THAT(node.error().why, HasSubstr("without NUMA nodes, or written by a newer hwloc"));
    EXPECT_THAT(node.error().next, HasSubstr("lstopo"));
  }
}

TEST(PlainMachines, AFileOfHwloc1WithoutNumaNodesHasOne) {
  const Node node = describe_text(R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
<object type="Machine" os_index="0" cpuset="0x3" complete_cpuset="0x3" online_cpuset="0x3" allowed_cpuset="0x3"
 local_memory="2147483648">
<object type="Socket" os_index="0" cpuset="0x3" complete_cpuset="0x3" online_cpuset="0x3" allowed_cpuset="0x3">
<object type="PU" os_index="0" cpuset="0x1" complete_cpuset="0x1" online_cpuset="0x1" allowed_cpuset="0x1"/>
<object type="PU" os_index="1" cpuset="0x2" complete_cpuset="0x2" online_cpuset="0x2" allowed_cpuset="0x2"/>
</object></object></topology>)");
  EXPECT_THAT(node.pus, SizeIs(2));
  ASSERT_THAT(node.numa, SizeIs(1));
  EXPECT_EQ(numa(node, 0).size_bytes, 2 * kGiB);
}

// hwloc 1.x wrote NUMA nodes as parents of cores. hwloc 2 converts them, and so must what we make of it.
TEST(PlainMachines, AFileOfHwloc1IsConverted) {
  const Node node = describe_text(R"(<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE topology SYSTEM "hwloc.dtd">
<topology>
<object type="Machine" os_index="0" cpuset="0x0000000f" complete_cpuset="0x0000000f" online_cpuset="0x0000000f"
 allowed_cpuset="0x0000000f" nodeset="0x00000003" complete_nodeset="0x00000003" allowed_nodeset="0x00000003">
<page_type size="4096" count="0"/>
<object type="NUMANode" os_index="0" cpuset="0x00000003" complete_cpuset="0x00000003" online_cpuset="0x00000003"
 allowed_cpuset="0x00000003" nodeset="0x00000001" complete_nodeset="0x00000001" allowed_nodeset="0x00000001"
 local_memory="4294967296">
<object type="PU" os_index="0" cpuset="0x00000001" complete_cpuset="0x00000001" online_cpuset="0x00000001"
 allowed_cpuset="0x00000001" nodeset="0x00000001" complete_nodeset="0x00000001" allowed_nodeset="0x00000001"/>
<object type="PU" os_index="1" cpuset="0x00000002" complete_cpuset="0x00000002" online_cpuset="0x00000002"
 allowed_cpuset="0x00000002" nodeset="0x00000001" complete_nodeset="0x00000001" allowed_nodeset="0x00000001"/>
</object>
<object type="NUMANode" os_index="1" cpuset="0x0000000c" complete_cpuset="0x0000000c" online_cpuset="0x0000000c"
 allowed_cpuset="0x0000000c" nodeset="0x00000002" complete_nodeset="0x00000002" allowed_nodeset="0x00000002"
 local_memory="8589934592">
<object type="PU" os_index="2" cpuset="0x00000004" complete_cpuset="0x00000004" online_cpuset="0x00000004"
 allowed_cpuset="0x00000004" nodeset="0x00000002" complete_nodeset="0x00000002" allowed_nodeset="0x00000002"/>
<object type="PU" os_index="3" cpuset="0x00000008" complete_cpuset="0x00000008" online_cpuset="0x00000008"
 allowed_cpuset="0x00000008" nodeset="0x00000002" complete_nodeset="0x00000002" allowed_nodeset="0x00000002"/>
</object>
</object></topology>)");
  ASSERT_THAT(node.numa, SizeIs(2));
  EXPECT_EQ(numa(node, 0).size_bytes, 4 * kGiB);
  EXPECT_EQ(numa(node, 1).size_bytes, 8 * kGiB);
  EXPECT_THAT(numa(node, 1).cpus, ElementsAre(2, 3));
}

}  // namespace
}  // namespace hbmark::topology::tests
