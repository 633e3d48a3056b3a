// Energy counters of recorded machines: which are counted, how they turn over, and why none can be read.
#include "topology/energy.h"

#include <gmock/gmock.h>

#include "tests/unit/topology/temp_tree.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;
using testing::Not;

const std::string kPowercap = "/sys/class/powercap/";

void zone(const TempTree& tree, const std::string& zone, const std::string& name, const std::string& energy_uj,
          const std::string& range_uj = "262143328850") {
  tree.write({{kPowercap + zone + "/name", name},
              {kPowercap + zone + "/energy_uj", energy_uj},
              {kPowercap + zone + "/max_energy_range_uj", range_uj}});
}

void set(const TempTree& tree, const std::string& zone, const std::string& energy_uj) {
  tree.write(kPowercap + zone + "/energy_uj", energy_uj);
}

struct Window {
  EnergySnapshot before;
  EnergySnapshot after;
};

// Two readings two seconds apart, `change` between them.
template <class F>
Window window(const EnergyMeter& meter, F&& change) {
  auto before = meter.read();
  change();
  auto after = meter.read();
  if (!before || !after) {
    ADD_FAILURE() << "the counters cannot be read";
    return {};
  }
  after->taken = before->taken + std::chrono::seconds(2);
  return {*before, *after};
}

std::string reason_of(const TempTree& tree) {
  const auto meter = EnergyMeter::open(tree.root());
  if (meter) {
    ADD_FAILURE() << "counts " << meter->scope();
    return "";
  }
  EXPECT_EQ(meter.error().kind, ErrorKind::kEnvironment);
  EXPECT_FALSE(meter.error().next.empty());
  return meter.error().why;
}

TEST(Energy, KnightsLandingSaysThatMcdramIsNotInTheDramDomain) {
  TempTree tree;
  tree.write("/proc/cpuinfo", "model name\t: Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz");
  zone(tree, "intel-rapl:0", "package-0", "1000000");
  zone(tree, "intel-rapl:0:0", "dram", "5000000", "65712999613");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter) << meter.error().why;
  EXPECT_EQ(meter->scope(), "package 0 and DRAM; the DRAM domain leaves MCDRAM out");
  const auto [before, after] = window(*meter, [&] {
    set(tree, "intel-rapl:0", "401000000");
    set(tree, "intel-rapl:0:0", "35000000");
  });
  const auto used = meter->difference(before, after);
  ASSERT_TRUE(used) << used.error().why;
  EXPECT_DOUBLE_EQ(used->package_j, 400);
  ASSERT_TRUE(used->dram_j);
  EXPECT_DOUBLE_EQ(*used->dram_j, 30);
  EXPECT_DOUBLE_EQ(used->total_j, 430);
  EXPECT_DOUBLE_EQ(used->elapsed_s, 2);
  EXPECT_DOUBLE_EQ(meter->longest_window_s(), 65.712999613);  // of the smallest range, at 1000 W
}

TEST(Energy, TwoPackagesAreAddedAndNothingIsCountedTwice) {
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-1", "0");  // zones are numbered as the driver finds them
  zone(tree, "intel-rapl:1", "package-0", "0");
  zone(tree, "intel-rapl:0:0", "core", "0");
  zone(tree, "intel-rapl:0:1", "uncore", "0");
  zone(tree, "intel-rapl:0:2", "dram", "0");
  zone(tree, "intel-rapl:1:0", "dram", "0");
  zone(tree, "intel-rapl:2", "psys", "0");
  zone(tree, "intel-rapl-mmio:0", "package-0", "0");
  tree.write(kPowercap + "intel-rapl/enabled", "1");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter) << meter.error().why;
  EXPECT_EQ(meter->scope(), "package 0+1 and DRAM");
  const auto [before, after] = window(*meter, [&] {
    for (const char* each : {"intel-rapl:0", "intel-rapl:1", "intel-rapl:0:0", "intel-rapl:0:1", "intel-rapl:0:2",
                             "intel-rapl:1:0", "intel-rapl:2", "intel-rapl-mmio:0"}) {
      set(tree, each, "10000000");
    }
  });
  const auto used = meter->difference(before, after);
  ASSERT_TRUE(used);
  EXPECT_DOUBLE_EQ(used->package_j, 20);
  EXPECT_DOUBLE_EQ(used->dram_j.value_or(0), 20);
  EXPECT_DOUBLE_EQ(used->total_j, 40);
}

TEST(Energy, ACounterThatTurnsOverGoesOnAtZero) {
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0", "262143000000", "262143328850");
  zone(tree, "intel-rapl:1", "package-1", "7000000", "262143328850");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  const auto [before, after] = window(*meter, [&] {
    set(tree, "intel-rapl:0", "99671150");
    set(tree, "intel-rapl:1", "8000000");
  });
  const auto used = meter->difference(before, after);
  ASSERT_TRUE(used);
  EXPECT_DOUBLE_EQ(used->package_j, 100 + 1);  // 0.328850 to the end and 99.671150 after it
  EXPECT_FALSE(used->dram_j);
}

TEST(Energy, AmdHasPackagesWithoutDram) {
  TempTree tree;
  tree.write("/proc/cpuinfo", "model name\t: AMD EPYC 7742 64-Core Processor");
  zone(tree, "intel-rapl:0", "package-0", "1", "65532610987");
  zone(tree, "intel-rapl:0:0", "core", "1", "65532610987");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->scope(), "package 0; there is no DRAM domain, so the memory is left out");
}

TEST(Energy, DiesOfAPackageAreAdded) {
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0-die-0", "0");
  zone(tree, "intel-rapl:1", "package-0-die-1", "0");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  EXPECT_THAT(meter->scope(), testing::StartsWith("package 0;"));
  const auto [before, after] = window(*meter, [&] {
    set(tree, "intel-rapl:0", "3000000");
    set(tree, "intel-rapl:1", "4000000");
  });
  EXPECT_DOUBLE_EQ(meter->difference(before, after)->package_j, 7);
}

TEST(Energy, DramThatOnlySomePackagesTellOfIsNamed) {
  TempTree tree;
  tree.write("/proc/cpuinfo", "model name\t: Intel(R) Xeon(R) CPU Max 9480");
  zone(tree, "intel-rapl:0", "package-0", "0");
  zone(tree, "intel-rapl:1", "package-1", "0");
  zone(tree, "intel-rapl:0:0", "dram", "0");
  auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  EXPECT_EQ(meter->scope(), "package 0+1 and the DRAM of package 0; the DRAM domain leaves HBM out");
  tree.make_unreadable(kPowercap + "intel-rapl:0:0/energy_uj");
  meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  EXPECT_THAT(meter->scope(), HasSubstr("package 0+1; DRAM of package 0 is left out: "));
  EXPECT_THAT(meter->scope(), HasSubstr("intel-rapl:0:0/energy_uj: it is a folder"));
}

TEST(Energy, WithoutTheDriverTheReasonSaysSo) {
  EXPECT_THAT(reason_of(TempTree()), HasSubstr("/sys/class/powercap: No such file"));
  TempTree empty;
  empty.write(kPowercap + "dtpm/enabled", "0");
  EXPECT_THAT(reason_of(empty), HasSubstr("holds no intel-rapl zone"));
  TempTree platform;
  zone(platform, "intel-rapl:0", "psys", "1");
  EXPECT_THAT(reason_of(platform), HasSubstr("no zone named package-N"));
}

TEST(Energy, OneUnreadablePackageLeavesNoTotal) {
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0", "1");
  zone(tree, "intel-rapl:1", "package-1", "1");
  tree.make_unreadable(kPowercap + "intel-rapl:1/energy_uj");
  EXPECT_THAT(reason_of(tree), HasSubstr("intel-rapl:1/energy_uj: it is a folder"));
}

TEST(Energy, FilesForRootAloneAreExplained) {
  if (geteuid() == 0) GTEST_SKIP() << "root reads every file";
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0", "1");
  std::filesystem::permissions(tree.path(kPowercap + "intel-rapl:0/energy_uj"), std::filesystem::perms::none);
  EXPECT_THAT(reason_of(tree), HasSubstr("Permission denied (only root may read it since CVE-2020-8694)"));
}

TEST(Energy, NonsenseInACounterIsQuoted) {
  for (const char* text : {"", "abc", "-5", "12 34"}) {
    TempTree tree;
    zone(tree, "intel-rapl:0", "package-0", text);
    EXPECT_THAT(reason_of(tree), HasSubstr(std::string("holds '") + text + "'"));
  }
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0", "1", "0");
  EXPECT_THAT(reason_of(tree), HasSubstr("max_energy_range_uj is 0"));
}

TEST(Energy, ACounterThatVanishesIsAnErrorOfThatReading) {
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0", "1");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  tree.make_unreadable(kPowercap + "intel-rapl:0/energy_uj");
  const auto snapshot = meter->read();
  ASSERT_FALSE(snapshot);
  EXPECT_THAT(snapshot.error().why, HasSubstr("it is a folder"));
}

TEST(Energy, SnapshotsThatCannotBeComparedAreRefused) {
  TempTree tree;
  zone(tree, "intel-rapl:0", "package-0", "1", "65000000000");
  const auto meter = EnergyMeter::open(tree.root());
  ASSERT_TRUE(meter);
  const auto [before, after] = window(*meter, [] {});
  EXPECT_TRUE(meter->difference(before, after));
  EXPECT_DOUBLE_EQ(meter->difference(before, after)->total_j, 0);
  EXPECT_THAT(meter->difference(after, before).error().why, HasSubstr("before the first"));
  EXPECT_THAT(meter->difference(before, EnergySnapshot{after.taken, {}}).error().why, HasSubstr("another meter"));
  EnergySnapshot late = after;
  late.taken = before.taken + std::chrono::seconds(66);
  const auto refused = meter->difference(before, late);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().why, HasSubstr("66 s lie between them, and a counter may turn over unseen after 65 s"));
}

TEST(Energy, ThisMachineTellsOrSaysWhyNot) {
  const auto meter = EnergyMeter::open();
  if (!meter) {
    EXPECT_THAT(meter.error().why, HasSubstr("/sys/class/powercap"));
    return;
  }
  EXPECT_THAT(meter->scope(), HasSubstr("package"));
  EXPECT_TRUE(meter->read());
}

}  // namespace
}  // namespace hbmark::topology::tests
