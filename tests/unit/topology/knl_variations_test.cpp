// Knights Landings of our own making: modes missing, empty or untrue, nodes lost, forbidden or nameless. Expected is what
// such a machine is; where nothing tells, "unknown".
#include <gmock/gmock.h>

#include "tests/unit/topology/fixtures.h"
#include "tests/unit/topology/machine_xml.h"
#include "tests/unit/topology/temp_tree.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

const std::vector<int> kQuarters = {18, 18, 16, 16};

Infos modes(const std::string& memory, const std::string& cluster) {
  return {{"MemoryMode", memory}, {"ClusterMode", cluster}};
}

std::string kinds(const Node& node) {
  std::map<int, std::string> sorted;
  for (const auto& each : node.numa) sorted[each.os_index] = each.kind;
  std::string text;
  for (const auto& [index, kind] : sorted) text += (text.empty() ? "" : " ") + kind;
  return text;
}

void strip_subtypes(Machine& machine) {
  for (Part& part : machine.parts) {
    for (Memory& memory : part.memory) memory.subtype.clear();
  }
}

struct Case {
  const char* title;
  Machine machine;
  const char* memory_mode;
  const char* cluster_mode;
  const char* warning;  // one that must be there; "": none at all about modes
};

Machine with_l3_caches(Machine machine, std::uint64_t bytes) {
  for (Part& part : machine.parts) part.l3_side_cache_bytes = bytes;
  return machine;
}

Machine with_memcaches(Machine machine, std::uint64_t bytes) {
  for (Part& part : machine.parts) part.memory.front().memcache_bytes = bytes;
  return machine;
}

Machine without_cpu(Machine machine) {
  machine.cpu.clear();
  return machine;
}

// 96 GiB of DDR in all.
std::vector<Case> mode_cases() {
  const std::uint64_t quarter = 24 * kGiB;
  return {
      {"flat and hemisphere, stated", knl({68}, 96 * kGiB, 16 * kGiB, modes("Flat", "Hemisphere")), "flat", "hemisphere",
       ""},
      {"no infos, flat by size", knl({68}, 96 * kGiB, 16 * kGiB), "flat", "unknown", "knl-modes-unknown"},
      {"no infos, SNC-4 flat by size and shape", knl(kQuarters, quarter, 4 * kGiB), "flat", "snc4", ""},
      {"no infos, SNC-2", knl({34, 34}, 48 * kGiB, 8 * kGiB), "flat", "snc2", ""},
      {"empty cluster mode over one cluster", knl({68}, 96 * kGiB, 16 * kGiB, modes("Flat", "")), "flat", "unknown",
       "knl-modes-invalid"},
      {"empty cluster mode over four", knl(kQuarters, quarter, 4 * kGiB, modes("Flat", "")), "flat", "snc4",
       "knl-modes-invalid"},
      {"empty memory mode and half the MCDRAM", knl({68}, 96 * kGiB, 8 * kGiB, modes("", "Quadrant")), "unknown", "quadrant",
       "knl-modes-invalid"},
      {"nonsense", knl({68}, 96 * kGiB, 16 * kGiB, modes("Unknown", "Reserved")), "flat", "unknown", "knl-modes-invalid"},
      {"hybrid 50 said to be flat, cache objects tell",
       with_l3_caches(knl(kQuarters, quarter, 2 * kGiB, modes("Flat", "SNC4")), 2 * kGiB), "hybrid50", "snc4",
       "knl-modes-contradictory"},
      {"hybrid 50 said to be flat, MemCaches tell",
       with_memcaches(knl(kQuarters, quarter, 2 * kGiB, modes("Flat", "SNC4")), 2 * kGiB), "hybrid50", "snc4",
       "knl-modes-contradictory"},
      {"hybrid 50 said to be flat, nothing tells", knl({72}, 96 * kGiB, 8 * kGiB, modes("Flat", "Quadrant")), "unknown",
       "quadrant", "knl-mcdram-incomplete"},
      {"hybrid 25 said to be flat", knl({72}, 96 * kGiB, 12 * kGiB, modes("Flat", "Quadrant")), "unknown", "quadrant",
       "knl-mcdram-incomplete"},
      {"hybrid 25, stated", with_l3_caches(knl({68}, 96 * kGiB, 12 * kGiB, modes("Hybrid25", "All2All")), 4 * kGiB),
       "hybrid25", "a2a", ""},
      {"hybrid 25 by size alone", with_l3_caches(knl({68}, 96 * kGiB, 12 * kGiB), 4 * kGiB), "hybrid25", "unknown",
       "knl-modes-unknown"},
      {"hybrid 50 in SNC-4 by size alone", with_l3_caches(knl(kQuarters, quarter, 2 * kGiB), 2 * kGiB), "hybrid50", "snc4",
       ""},
      {"said to be hybrid 50, all is addressable", knl({68}, 96 * kGiB, 16 * kGiB, modes("Hybrid50", "Quadrant")), "flat",
       "quadrant", "knl-modes-contradictory"},
      {"said to be cache, all is addressable", knl({68}, 96 * kGiB, 16 * kGiB, modes("Cache", "Quadrant")), "flat",
       "quadrant", "knl-modes-contradictory"},
      {"said to be cache, half is addressable", knl({68}, 96 * kGiB, 8 * kGiB, modes("Cache", "Quadrant")), "unknown",
       "quadrant", "knl-modes-contradictory"},
      {"said to be flat, no MCDRAM", knl({68}, 96 * kGiB, 0, modes("Flat", "Quadrant")), "unknown", "quadrant",
       "knl-modes-contradictory"},
      {"cache with its object", with_l3_caches(knl({68}, 96 * kGiB, 0, modes("Cache", "All2All")), 16 * kGiB), "cache",
       "a2a", ""},
      {"cache by its object alone", with_l3_caches(knl(kQuarters, quarter, 0), 4 * kGiB), "cache", "snc4", ""},
      {"cache of half its size", with_l3_caches(knl({68}, 96 * kGiB, 0, modes("Cache", "All2All")), 8 * kGiB), "unknown",
       "a2a", "knl-modes-contradictory"},
      {"nothing at all", knl({68}, 96 * kGiB, 0), "unknown", "unknown", "knl-modes-unknown"},
      {"offlined MCDRAM, no infos", knl({68}, 96 * kGiB, 10 * kGiB), "unknown", "unknown", "knl-modes-unknown"},
      {"SNC-4 claimed for one cluster", knl({68}, 96 * kGiB, 16 * kGiB, modes("Flat", "SNC4")), "flat", "unknown",
       "knl-modes-contradictory"},
      {"quadrant claimed for four", knl(kQuarters, quarter, 4 * kGiB, modes("Flat", "Quadrant")), "flat", "snc4",
       "knl-modes-contradictory"},
      {"SNC-4 claimed for two: half may be offlined", knl({34, 34}, 48 * kGiB, 8 * kGiB, modes("Flat", "SNC4")), "flat",
       "unknown", "knl-modes-contradictory"},
      {"the CPU does not say what it is", without_cpu(knl(kQuarters, quarter, 4 * kGiB, modes("Flat", "SNC4"))), "flat",
       "snc4", ""},
      {"nor is a mode stated", without_cpu(knl(kQuarters, quarter, 4 * kGiB)), "flat", "snc4", ""},
  };
}

TEST(KnlVariations, ModesAreWhatIsStatedOrProved) {
  for (const Case& each : mode_cases()) {
    SCOPED_TRACE(each.title);
    const Node node = describe(each.machine);
    EXPECT_EQ(node.memory_mode.value, each.memory_mode) << node.memory_mode.source;
    EXPECT_EQ(node.cluster_mode.value, each.cluster_mode) << node.cluster_mode.source;
    if (*each.warning != '\0') {
      EXPECT_TRUE(warned(node, each.warning));
    } else {
      for (const Warning& warning : node.warnings) EXPECT_EQ(warning.id.rfind("knl-", 0), std::string::npos) << warning.text;
    }
  }
}

TEST(KnlVariations, AnMcdramNodeWithoutMemoryIsNoFastMemory) {
  Machine machine = knl({68}, 96 * kGiB, 16 * kGiB, modes("Flat", "Quadrant"));
  machine.parts[0].memory[1].size_bytes = 0;
  const Node node = describe(machine);
  EXPECT_EQ(numa(node, 1).kind, "mcdram");
  EXPECT_FALSE(numa(node, 1).size_bytes);
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_EQ(node.memory_mode.value, "unknown");
  EXPECT_TRUE(warned(node, "numa-sizes-unknown"));
}

TEST(KnlVariations, SevenOfEightNodes) {
  Machine machine = knl(kQuarters, 24 * kGiB, 4 * kGiB, modes("Flat", "SNC4"));
  machine.parts[3].memory.pop_back();  // the MCDRAM of the last quarter
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr ddr ddr mcdram mcdram mcdram");
  EXPECT_EQ(node.memory_mode.value, "unknown") << "12 GiB could be hybrid 25";
  EXPECT_TRUE(warned(node, "knl-mcdram-incomplete"));
  EXPECT_EQ(node.cluster_mode.value, "snc4");
  EXPECT_THAT(node.fast_memory, SizeIs(3));
  EXPECT_FALSE(numa(node, 3).partner);
}

TEST(KnlVariations, SevenOfEightNodesWithoutNames) {
  Machine machine = knl(kQuarters, 24 * kGiB, 4 * kGiB);
  strip_subtypes(machine);
  machine.parts[3].memory.pop_back();
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr ddr ddr mcdram mcdram mcdram");
  EXPECT_EQ(numa(node, 2).partner, 6);
  EXPECT_EQ(node.memory_mode.value, "unknown");

  machine = knl(kQuarters, 24 * kGiB, 4 * kGiB);
  strip_subtypes(machine);
  machine.parts[3].memory.erase(machine.parts[3].memory.begin());  // the DDR: what is left is small enough for either
  const Node other = describe(machine);
  EXPECT_EQ(numa(other, 7).kind, "unknown");
  EXPECT_TRUE(warned(other, "memory-kind-unknown"));
  EXPECT_EQ(other.cluster_mode.value, "snc4");
}

TEST(KnlVariations, SevenOfEightNodesOfWhichFourHaveCpus) {
  Machine machine = knl(kQuarters, 24 * kGiB, 0);
  for (int i = 4; i < 7; ++i) machine.detached.push_back({i, 4 * kGiB});
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "ddr ddr ddr ddr unknown unknown unknown");
  EXPECT_EQ(node.memory_mode.value, "unknown");
  EXPECT_THAT(node.fast_memory, IsEmpty());
  machine.detached.push_back({7, 4 * kGiB});
  const Node whole = describe(machine);
  EXPECT_EQ(kinds(whole), "ddr ddr ddr ddr mcdram mcdram mcdram mcdram");
  EXPECT_EQ(whole.memory_mode.value, "flat");
  EXPECT_FALSE(numa(whole, 4).partner) << "no distances: which quarter it belongs to is not known";
  EXPECT_THAT(whole.fast_memory, IsEmpty());
}

TEST(KnlVariations, NamelessPairsAreToldApartByNumberAndSizeOrNotAtAll) {
  Machine machine = knl({68}, 96 * kGiB, 16 * kGiB);
  strip_subtypes(machine);
  EXPECT_EQ(kinds(describe(machine)), "ddr mcdram");
  machine.parts[0].memory[1].size_bytes = 128 * kGiB;  // no MCDRAM is that large
  const Node node = describe(machine);
  EXPECT_EQ(kinds(node), "unknown unknown");
  EXPECT_EQ(node.memory_mode.value, "unknown");
}

TEST(KnlVariations, SixteenGibInAllIsEither) {
  EXPECT_EQ(kinds(describe(knl({68}, 16 * kGiB, 0))), "unknown");
  EXPECT_EQ(kinds(describe(knl({68}, 16 * kGiB, 0, modes("Cache", "Quadrant")))), "ddr");
  EXPECT_EQ(kinds(describe(knl({68}, 32 * kGiB, 0))), "ddr");
}

TEST(KnlVariations, ForbiddenMcdramIsSaid) {
  Machine machine = knl({68}, 96 * kGiB, 16 * kGiB, modes("Flat", "Quadrant"));
  machine.disallowed = {1};
  const Node node = describe(machine);
  EXPECT_EQ(node.memory_mode.value, "flat");
  EXPECT_FALSE(numa(node, 1).allowed);
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_TRUE(warned(node, "fast-memory-not-allowed"));
}

TEST(KnlVariations, ForbiddenMcdramWithoutCpusIsSaid) {
  Machine machine = knl({68}, 96 * kGiB, 0);
  machine.detached.push_back({1, 16 * kGiB});
  EXPECT_THAT(describe(machine).fast_memory, SizeIs(1));
  machine.disallowed = {1};
  const Node node = describe(machine);
  EXPECT_EQ(numa(node, 1).kind, "mcdram");
  EXPECT_THAT(node.fast_memory, IsEmpty());
  EXPECT_TRUE(warned(node, "fast-memory-not-allowed"));
}

TEST(KnlVariations, HiddenMcdramDoesNotMakeTheModeALie) {
  Machine machine = knl(kQuarters, 24 * kGiB, 0, modes("Flat", "SNC4"));
  machine.hidden = {4, 5, 6, 7};
  const Node node = describe(machine);
  EXPECT_EQ(node.memory_mode.value, "flat") << node.memory_mode.source;
  EXPECT_EQ(node.cluster_mode.value, "snc4");
  EXPECT_TRUE(warned(node, "fast-memory-not-allowed"));
  machine.infos.clear();
  EXPECT_EQ(describe(machine).memory_mode.value, "unknown");
}

TEST(KnlVariations, PartnersFollowTheTree) {
  Machine machine = knl({2, 2}, 48 * kGiB, 8 * kGiB, modes("Flat", "SNC2"));
  std::swap(machine.parts[0].memory[1].os_index, machine.parts[1].memory[1].os_index);
  const Node node = describe(machine);
  EXPECT_EQ(numa(node, 0).partner, 3);
  EXPECT_EQ(numa(node, 1).partner, 2);
  EXPECT_THAT(node.fast_memory, SizeIs(2));
}

TEST(KnlVariations, SideCachesBelongToTheDdr) {
  const Node node = describe(with_l3_caches(knl(kQuarters, 24 * kGiB, 2 * kGiB, modes("Hybrid50", "SNC4")), 2 * kGiB));
  ASSERT_THAT(node.memory_side_caches, SizeIs(4));
  for (int i = 0; i < 4; ++i) EXPECT_EQ(node.memory_side_caches[static_cast<std::size_t>(i)].os_index, i);
  for (const auto& cache : node.caches) EXPECT_NE(cache.level, 3);
  EXPECT_TRUE(warned(node, "uneven-parts"));
  Machine machine = knl({68}, 96 * kGiB, 8 * kGiB, modes("Hybrid50", "All2All"));
  machine.parts[0].memory[1].memcache_bytes = 8 * kGiB;  // over the MCDRAM, where none can be
  const Node odd = describe(machine);
  EXPECT_THAT(odd.memory_side_caches, IsEmpty());
  EXPECT_TRUE(warned(odd, "memory-side-cache-implausible"));
  EXPECT_EQ(odd.memory_mode.value, "hybrid50");
}

TEST(KnlVariations, EvenPartsAreNoWarning) {
  EXPECT_FALSE(warned(describe(knl({16, 16, 16, 16}, 24 * kGiB, 4 * kGiB, modes("Flat", "SNC4"))), "uneven-parts"));
  const Node node = describe(knl(kQuarters, 24 * kGiB, 4 * kGiB, modes("Flat", "SNC4")));
  ASSERT_TRUE(warned(node, "uneven-parts"));
  EXPECT_THAT(node.warnings, testing::Contains(testing::Field(&Warning::text, HasSubstr("18, 18, 16, 16 cores"))));
}

// What hwloc-dump-hwdata wrote, of the machine's own files: it wins over what hwloc guessed, as far as it speaks.
TEST(KnlVariations, FirmwareDataSpeaksForItself) {
  struct Written {
    const char* title;
    const char* text;
    const char* memory_mode;
    const char* cluster_mode;
  };
  const Written cases[] = {
      {"version 2", "version: 2\ncache_size: 17179869184\ncluster_mode: All2All\nmemory_mode: Cache\n", "cache", "a2a"},
      {"version 1, without modes", "version: 1\ncache_size: 17179869184\n", "cache", "quadrant"},
      {"one of them", "version: 2\nmemory_mode: Cache\n", "cache", "unknown"},
      {"nonsense", "version: 2\ncluster_mode: Reserved\nmemory_mode: Reserved\n", "unknown", "unknown"},
      {"untrue", "version: 2\ncluster_mode: SNC4\nmemory_mode: Flat\n", "unknown", "unknown"}};
  const TempTree tree{{"/machine.xml", to_xml(knl({68}, 96 * kGiB, 0, modes("Cache", "Quadrant")))}};
  for (const Written& each : cases) {
    SCOPED_TRACE(each.title);
    tree.write("/run/hwloc/knl_memoryside_cache", each.text);
    const Node node = describe_xml(tree.path("/machine.xml").string(), tree.root());
    EXPECT_EQ(node.memory_mode.value, each.memory_mode) << node.memory_mode.source;
    EXPECT_EQ(node.cluster_mode.value, each.cluster_mode) << node.cluster_mode.source;
  }
}

}  // namespace
}  // namespace hbmark::topology::tests
