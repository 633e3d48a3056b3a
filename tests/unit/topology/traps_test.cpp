// One test for each way a real machine has misled such a tool (the last column of the shared README).
#include <gmock/gmock.h>

#include "tests/unit/topology/fixtures.h"

namespace hbmark::topology::tests {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr std::uint64_t kGiB = std::uint64_t{1} << 30;

std::vector<int> fast_nodes(const Node& node) {
  std::vector<int> found;
  for (const auto& fast : node.fast_memory) found.push_back(fast.os_index);
  return found;
}

TEST(Traps, McdramIsPairedByTheTreeNotByNumber) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("fakeknl-snc4-hybrid50");
  EXPECT_EQ(numa(node, 0).partner, 7);
  EXPECT_EQ(numa(node, 1).partner, 4);
  EXPECT_EQ(numa(node, 2).partner, 5);
  EXPECT_EQ(numa(node, 3).partner, 6);
  EXPECT_EQ(numa(node, 7).partner, 0);
  for (const auto& fast : node.fast_memory) EXPECT_EQ(fast.local_cpus, numa(node, *numa(node, fast.os_index).partner).cpus);
}

TEST(Traps, QuartersOfSixtyEightCoresAreUneven) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-snc4-flat-real");
  std::vector<std::size_t> sizes;
  for (const auto& fast : node.fast_memory) sizes.push_back(fast.local_cpus.size() / 4);
  EXPECT_THAT(sizes, ElementsAre(18, 18, 16, 16));
}

TEST(Traps, InvisibleMcdramLeavesTheModeUnknownAndSaysWhatToDo) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-quad-cache-real");
  EXPECT_EQ(node.memory_mode.value, "unknown");
  ASSERT_TRUE(warned(node, "knl-modes-unknown"));
  EXPECT_THAT(node.warnings.front().text, HasSubstr("hwloc-dump-hwdata"));
}

TEST(Traps, McdramWithoutSubtypeAndCpusIsFoundOnAKnlAlone) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl-es64-flat-nosubtype-real");
  EXPECT_EQ(numa(node, 1).kind, "mcdram");
  EXPECT_THAT(numa(node, 1).cpus, IsEmpty());
  EXPECT_EQ(numa(node, 1).partner, 0);
  EXPECT_EQ(numa(node, 0).partner, 1);
  ASSERT_THAT(node.fast_memory, SizeIs(1));
  EXPECT_THAT(node.fast_memory[0].local_cpus, SizeIs(256));
}

TEST(Traps, TwoNodesOfTheSameCpusAreToldApartBySize) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl-es64-snc4-flat-nosubtype-real");
  EXPECT_THAT(fast_nodes(node), ElementsAre(4, 5, 6, 7));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(numa(node, i).partner, i + 4);
}

TEST(Traps, EmptyMemoryModeAndTinyCacheAreNotRepeated) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-flat-bogusmodes-real");
  EXPECT_EQ(node.memory_mode.value, "flat") << "the size of its MCDRAM proves it";
  EXPECT_THAT(node.memory_mode.source, HasSubstr("which is no mode"));
  EXPECT_TRUE(warned(node, "knl-modes-invalid"));
  EXPECT_TRUE(warned(node, "memory-side-cache-implausible"));
  EXPECT_THAT(node.memory_side_caches, IsEmpty());
  EXPECT_THAT(fast_nodes(node), ElementsAre(1));
}

TEST(Traps, FlatWithHalfTheMcdramIsNotBelieved) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7290-quad-hybrid50-misreported");
  EXPECT_EQ(node.memory_mode.value, "unknown");
  EXPECT_THAT(node.memory_mode.source, HasSubstr("8.0 of 16 GiB"));
  EXPECT_TRUE(warned(node, "knl-mcdram-incomplete"));
}

TEST(Traps, AGuessedQuadrantSaysThatItIsOne) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node guessed = describe_shared("knm7295-quad-flat");
  EXPECT_TRUE(warned(guessed, "knl-modes-guessed"));
  EXPECT_THAT(guessed.cluster_mode.source, HasSubstr("guess"));
  const Node known = describe_shared("knl7250-hemisphere-flat");
  EXPECT_FALSE(warned(known, "knl-modes-guessed"));
  EXPECT_EQ(known.cluster_mode.source, "hwloc info ClusterMode");
}

TEST(Traps, KnightsMillIsNotKnightsLanding) {
  HBMARK_NEED_SHARED("data/topologies");
  EXPECT_EQ(describe_shared("knm7295-quad-flat").cpu_model_number, 133);
  EXPECT_EQ(describe_shared("knl7250-hemisphere-flat").cpu_model_number, 87);
}

TEST(Traps, MemorySideCacheIsOfTheDdrNodeAndNoL3) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node as_l3 = describe_shared("fakeknl-snc4-hybrid50");
  for (const auto& cache : as_l3.memory_side_caches) EXPECT_EQ(numa(as_l3, cache.os_index).kind, "ddr");
  for (const auto& cache : as_l3.caches) EXPECT_LT(cache.level, 3);
  const Node as_memcache = describe_shared("knl7250-snc4-hybrid50-memcache");
  for (const auto& cache : as_memcache.memory_side_caches) {
    EXPECT_EQ(numa(as_memcache, cache.os_index).kind, "ddr");
    EXPECT_EQ(cache.size_bytes, 2 * kGiB);
  }
}

TEST(Traps, AQuarterInACgroupSaysThatItIsAPart) {  // own-made data: needs no shared folder
  const Node node = describe_xml(std::string(HBMARK_TOPOLOGY_DATA) + "/knl7250-snc4-flat-cgroup-local.xml");
  EXPECT_TRUE(warned(node, "cpus-hidden"));
  EXPECT_EQ(node.cores.size(), 18U);
  EXPECT_EQ(node.cluster_mode.value, "snc4");
  EXPECT_EQ(node.memory_mode.value, "flat") << "4 GiB a quarter are 16 GiB a chip";
  EXPECT_EQ(numa(node, 1).partner, 5);
  EXPECT_THAT(fast_nodes(node), ElementsAre(5));
}

TEST(Traps, DisallowedMcdramIsNotOffered) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-snc4-flat-cgroup-disallowed");
  EXPECT_THAT(node.allowed_pus, SizeIs(72));
  EXPECT_TRUE(numa(node, 1).allowed);
  EXPECT_FALSE(numa(node, 5).allowed);
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_TRUE(warned(node, "fast-memory-not-allowed"));
  EXPECT_TRUE(warned(node, "cpus-not-allowed"));
}

TEST(Traps, XeonMaxHbmIsFoundByItsDaxDevice) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("xeonmax9462-2s-flat-snc4-real");
  for (int i = 0; i < 8; ++i) {
    EXPECT_EQ(numa(node, i).partner, i + 8);
    EXPECT_EQ(numa(node, i + 8).size_bytes, 16 * kGiB);
  }
}

TEST(Traps, HbmOnlyIsTheDefaultMemoryAndFast) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("xeonmax9480-2s-hbmonly-quad");
  EXPECT_THAT(fast_nodes(node), ElementsAre(0, 1));
  EXPECT_GE(node.cores.front().numa, 0);
  EXPECT_FALSE(numa(node, 0).partner);
}

TEST(Traps, GpuMemoryIsNotCpuFastMemory) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node grace = describe_shared("gh200-gpunode");
  EXPECT_EQ(numa(grace, 1).kind, "gpu");
  EXPECT_THAT(grace.fast_memory, IsEmpty());
  EXPECT_FALSE(numa(grace, 0).partner);
  EXPECT_EQ(grace.gpus.front().nearest_numa, 0);
  const Node power = describe_shared("power9-6xv100-gpunodes");
  EXPECT_EQ(numa(power, 250).kind, "gpu");
  EXPECT_EQ(power.cores.front().numa, 0);
}

TEST(Traps, NodesWithoutCpusAreNotFastForThat) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node sierra = describe_shared("power9-4xv100-sierra-v1-real");
  EXPECT_THAT(numa(sierra, 252).cpus, IsEmpty());
  EXPECT_EQ(numa(sierra, 252).kind, "gpu");
  EXPECT_THAT(sierra.fast_memory, IsEmpty());
  const Node opteron = describe_shared("opteron-cgroup2-restricted-real");
  EXPECT_THAT(numa(opteron, 4).cpus, IsEmpty());
  EXPECT_EQ(numa(opteron, 4).kind, "ddr");
  EXPECT_THAT(opteron.fast_memory, IsEmpty());
  EXPECT_TRUE(warned(opteron, "cpus-hidden"));
  const Node nvdimm = describe_shared("cascadelake-nvdimm-gi");
  EXPECT_EQ(numa(nvdimm, 7).kind, "nvm");
  EXPECT_EQ(numa(nvdimm, 5).partner, 7);
}

TEST(Traps, BandwidthIsComparedAmongTheNodesOfOneCoreOnly) {
  HBMARK_NEED_SHARED("data/topologies");
  // Plain DDR5 and Grace's memory pass any absolute threshold; alone beside their cores they are not "fast memory".
  EXPECT_THAT(describe_shared("spr-4xh100-nvlink-real").fast_memory, IsEmpty());
  EXPECT_THAT(describe_shared("gh200-real").fast_memory, IsEmpty());
}

TEST(Traps, MixedGroupsEachGetTheirOwnAnswer) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("fakeheteromemtiers");
  EXPECT_THAT(fast_nodes(node), ElementsAre(2, 4));  // the group with DRAM and NVM alone has none
  EXPECT_EQ(numa(node, 1).partner, 4);
  EXPECT_EQ(numa(node, 4).partner, 1);
  EXPECT_EQ(numa(node, 6).partner, 1);
}

TEST(Traps, DramBeforeOptaneIsNotHbm) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("cascadelake-2lm-optane");
  EXPECT_EQ(node.memory_mode.value, "none");
  EXPECT_TRUE(warned(node, "dram-memory-side-cache"));
  EXPECT_EQ(node.memory_side_caches.front().size_bytes, 96 * kGiB);
  EXPECT_THAT(node.fast_memory, IsEmpty());
}

TEST(Traps, GpuOrderIsNotNodeOrder) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("spr-4xh100-nvlink-real");
  std::map<std::string, int> nearest;
  for (const auto& gpu : node.gpus) nearest[gpu.pci] = gpu.nearest_numa.value_or(-1);
  EXPECT_EQ(nearest["0000:4e:00.0"], 3);  // cuda0
  EXPECT_EQ(nearest["0000:5f:00.0"], 1);  // cuda1
  EXPECT_EQ(node.gpus.front().name, "NVIDIA H100 80GB HBM3");
}

TEST(Traps, GpusWithoutADriverAreSeenAndDisplayChipsAreNot) {
  HBMARK_NEED_SHARED("data/topologies");
  std::vector<int> near;
  for (const auto& gpu : describe_shared("epyc7742-4xa100-real").gpus) near.push_back(gpu.nearest_numa.value_or(-1));
  EXPECT_THAT(near, testing::UnorderedElementsAre(1, 3, 5, 7));
  EXPECT_THAT(describe_shared("skylake-2s-plain-real").gpus, IsEmpty());  // it has a Matrox
}

TEST(Traps, WithoutIoThereAreNoGpusAndTheRestIsTheSame) {
  HBMARK_NEED_SHARED("data/topologies");
  DescribeOptions options;
  options.xml_file = shared_xml("spr-4xh100-nvlink-real");
  options.with_io = false;
  const auto node = describe_node(options);
  ASSERT_TRUE(node);
  EXPECT_THAT(node->gpus, IsEmpty());
  EXPECT_THAT(node->cores, SizeIs(112));
}

TEST(Traps, CoresWithoutMemoryOfTheirOwn) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("threadripper-mixed-gpus-real");
  EXPECT_EQ(std::count_if(node.cores.begin(), node.cores.end(), [](const Core& core) { return core.numa < 0; }), 16);
  EXPECT_TRUE(warned(node, "cores-without-memory"));
}

TEST(Traps, HybridCpusAreToldFromFalseCpuKinds) {
  HBMARK_NEED_SHARED("data/topologies");
  EXPECT_TRUE(warned(describe_shared("raptorlake-hybrid"), "hybrid-cpu"));
  EXPECT_FALSE(warned(describe_shared("gh200-real"), "hybrid-cpu"));  // five "kinds" of one kind of core
}

TEST(Traps, SizesOfZeroAreUnknown) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("epyc7451-x86only-nomem");
  for (const auto& each : node.numa) EXPECT_FALSE(each.size_bytes);
  EXPECT_TRUE(warned(node, "numa-sizes-unknown"));
  EXPECT_EQ(node.cpu_model, "AMD EPYC 7451 24-Core Processor") << "without the padding";
}

TEST(Modes, HwdataTellsWhatNothingElseDoes) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-quad-cache-real", tree("knl-hwdata"));
  EXPECT_EQ(node.memory_mode.value, "cache");
  EXPECT_EQ(node.cluster_mode.value, "hemisphere");
  EXPECT_THAT(node.memory_mode.source, HasSubstr("/run/hwloc/knl_memoryside_cache"));
  EXPECT_FALSE(warned(node, "knl-modes-unknown"));
}

TEST(Modes, HwdataThatTheTopologyRefutesIsNotBelieved) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("knl7250-snc4-flat-real", tree("knl-hwdata"));  // says Cache and Hemisphere
  EXPECT_EQ(node.memory_mode.value, "flat") << "16 GiB of MCDRAM are memory";
  EXPECT_EQ(node.cluster_mode.value, "snc4") << "four clusters are seen";
  EXPECT_THAT(node.memory_mode.source, HasSubstr("says Cache"));
  EXPECT_TRUE(warned(node, "knl-modes-contradictory"));
}

TEST(Modes, HwdataOfAnotherMachineDoesNotMatter) {
  HBMARK_NEED_SHARED("data/topologies");
  const Node node = describe_shared("skylake-2s-plain-real", tree("knl-hwdata"));
  EXPECT_EQ(node.memory_mode.value, "none");
}

}  // namespace
}  // namespace hbmark::topology::tests
