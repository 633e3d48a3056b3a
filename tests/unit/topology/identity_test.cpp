// The fingerprint of a machine: what it survives, what tells machines apart, and what it must not be made of.
#include "topology/identity.h"

#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/unit/topology/fixtures.h"
#include "tests/unit/topology/machine_xml.h"
#include "tests/unit/topology/temp_tree.h"
#include "topology/node_json.h"

namespace hbmark::topology::tests {
namespace {

using testing::HasSubstr;

constexpr const char* kHostNames = "uts:[4026531838]";       // the machine's own
constexpr const char* kContainerNames = "uts:[4026532290]";  // one of many others

void link(const TempTree& tree, const std::string& target, const std::string& name) {
  std::filesystem::create_directories(tree.path(name).parent_path());
  std::filesystem::create_symlink(target, tree.path(name));
}

// As the kernel lays it out: the class names a device, whose `device` leads to the card.
void add_device(const TempTree& tree, const std::string& klass, const std::string& name, const std::string& place,
                const std::map<std::string, std::string>& files) {
  const std::string card = "/sys/devices/" + place;
  const std::string folder = card + "/" + klass + "/" + name;
  std::filesystem::create_directories(tree.path(folder));
  for (const auto& [file, text] : files) tree.write(folder + "/" + file, text);
  link(tree, tree.path(card).string(), folder + "/device");
  link(tree, tree.path(folder).string(), "/sys/class/" + klass + "/" + name);
}

void add_network_card(const TempTree& tree, const std::string& name, const std::string& place, const std::string& address,
                      const std::string& assigned = "0") {
  add_device(tree, "net", name, place,
             {{"address", address}, {"type", "1"}, {"addr_assign_type", assigned}, {"dev_port", "0"}});
}

void name_machine(const TempTree& tree, const std::string& hostname, const std::string& machine_id,
                  const char* name_space = kHostNames) {
  tree.write("/proc/sys/kernel/hostname", hostname);
  if (!machine_id.empty()) tree.write("/etc/machine-id", machine_id);
  link(tree, name_space, "/proc/self/ns/uts");
}

Identity of(const TempTree& tree, const std::string& given = "") { return identify_machine(tree.root(), given); }

const std::string kId = "3d1219c7c4c5404aaa1f6d2a48adfda4";

TEST(Identity, IsOfTheFirstCardOnTheBusWhateverElseChanges) {
  TempTree tree;
  name_machine(tree, "knl01", kId);
  add_network_card(tree, "eth0", "pci0000:00/0000:00:1c.0/0000:03:00.0", "a4:bf:01:2b:3c:4d");
  const Identity before = of(tree);
  EXPECT_THAT(before.source, HasSubstr("network card"));
  EXPECT_FALSE(before.weak);
  EXPECT_EQ(before.source.find("a4:bf"), std::string::npos);
  EXPECT_EQ(before.fingerprint.size(), 36U);
  // Another image, another name, another boot, a card more behind it, bridges and containers' ends of wires.
  tree.write("/etc/machine-id", "ffffffffffff404aaa1f6d2a48adfda4");
  tree.write("/proc/sys/kernel/hostname", "renamed");
  tree.write("/proc/sys/kernel/random/boot_id", "0cc37b1d-3e39-42c1-aef0-f383c6458139");
  tree.write("/sys/devices/system/node/online", "0-7");
  add_network_card(tree, "aaa", "pci0000:00/0000:00:1d.0/0000:05:00.0", "00:0c:01:2b:3c:4d");
  tree.write("/sys/class/net/docker0/address", "00:42:5a:00:00:01");
  tree.write("/sys/class/net/docker0/type", "1");
  tree.write("/sys/class/net/docker0/addr_assign_type", "0");
  EXPECT_EQ(of(tree).fingerprint, before.fingerprint);
}

TEST(Identity, AddressesThatSoftwareSetsDoNotCount) {
  TempTree tree;
  name_machine(tree, "knl01", kId);
  const Identity without = of(tree);
  EXPECT_THAT(without.source, HasSubstr("machine id"));
  add_network_card(tree, "virtio", "pci0000:00/0000:00:03.0/virtio2", "52:54:00:12:34:56");  // locally administered
  add_network_card(tree, "set", "pci0000:00/0000:00:04.0", "a4:bf:01:2b:3c:4e", "3");
  add_network_card(tree, "dongle", "pci0000:00/0000:00:14.0/usb1/1-1/1-1:1.0", "a4:bf:01:2b:3c:4f");
  add_network_card(tree, "wlan0", "pci0000:00/0000:00:05.0", "a4:bf:01:2b:3c:50");
  std::filesystem::create_directories(tree.path("/sys/class/net/wlan0/wireless"));
  add_network_card(tree, "vf", "pci0000:00/0000:00:06.1", "a4:bf:01:2b:3c:51");
  std::filesystem::create_directories(tree.path("/sys/devices/pci0000:00/0000:00:06.1/physfn"));
  EXPECT_EQ(of(tree).fingerprint, without.fingerprint);
}

TEST(Identity, ABondedCardKeepsItsOwnAddress) {
  TempTree tree;
  add_network_card(tree, "eth0", "pci0000:00/0000:03:00.0", "a4:bf:01:2b:3c:4d");
  const Identity alone = of(tree);
  tree.write("/sys/class/net/eth0/address", "a4:bf:01:ff:ff:ff");
  tree.write("/sys/class/net/eth0/addr_assign_type", "3");
  tree.write("/sys/class/net/eth0/bonding_slave/perm_hwaddr", "A4:BF:01:2B:3C:4D");
  EXPECT_EQ(of(tree).fingerprint, alone.fingerprint);
}

TEST(Identity, FabricAndDriveComeBeforeTheNetworkBecauseContainersSeeThem) {
  TempTree tree;
  add_network_card(tree, "eth0", "pci0000:00/0000:03:00.0", "a4:bf:01:2b:3c:4d");
  const std::map<std::string, std::string> drive = {{"serial", "S4EVNX0R123456"}, {"model", "SSD"}, {"transport", "pcie"}};
  add_device(tree, "nvme", "nvme0", "pci0000:00/0000:5e:00.0", drive);
  EXPECT_THAT(of(tree).source, HasSubstr("network")) << "a drive without a vendor is made up";
  tree.write("/sys/devices/pci0000:00/0000:5e:00.0/vendor", "0x1b36");
  EXPECT_THAT(of(tree).source, HasSubstr("network")) << "QEMU's drive";
  tree.write("/sys/devices/pci0000:00/0000:5e:00.0/vendor", "0x144d");
  EXPECT_THAT(of(tree).source, HasSubstr("NVMe"));
  add_device(tree, "infiniband", "hfi1_0", "pci0000:00/0000:01:00.0", {{"node_guid", "0011:7501:0109:4cab"}});
  EXPECT_THAT(of(tree).source, HasSubstr("fabric"));
}

TEST(Identity, AContainerRestartedIsTheSameMachine) {
  std::set<std::string> seen;
  for (const char* name : {"8a1f0c9e2b7d", "c0ffee123456"}) {
    for (const char* image : {"", "ffffffffffff404aaa1f6d2a48adfda4"}) {
      TempTree tree;
      name_machine(tree, name, image, kContainerNames);
      tree.write("/sys/class/dmi/id/product_uuid", "4C4C4544-0056-4C10-804A-B7C04F514B32");
      tree.write("/proc/self/cgroup", std::string("0::/docker/") + name);
      const Identity identity = of(tree);
      EXPECT_THAT(identity.source, HasSubstr("firmware"));
      EXPECT_FALSE(identity.weak);
      seen.insert(identity.fingerprint);
    }
  }
  EXPECT_EQ(seen.size(), 1U);
}

TEST(Identity, AContainerThatSeesNothingSaysSo) {
  TempTree tree;
  name_machine(tree, "8a1f0c9e2b7d", kId, kContainerNames);
  tree.write("/proc/cpuinfo", "model name\t: Intel(R) Xeon Phi(TM) CPU 7250 @ 1.40GHz");
  const Identity weak = of(tree);
  EXPECT_TRUE(weak.weak);
  EXPECT_FALSE(weak.fingerprint.empty());
  tree.write("/proc/sys/kernel/hostname", "c0ffee123456");
  EXPECT_EQ(of(tree).fingerprint, weak.fingerprint);
  const Identity given = of(tree, "rack 7 node 3");
  EXPECT_FALSE(given.weak);
  EXPECT_THAT(given.source, HasSubstr("HBMARK_NODE_ID"));
  EXPECT_NE(given.fingerprint, weak.fingerprint);
  EXPECT_NE(of(tree, "rack 7 node 4").fingerprint, given.fingerprint);
}

TEST(Identity, AMachineIdMadeUpForABootIsNotUsed) {
  TempTree tree;
  name_machine(tree, "diskless7", kId);
  tree.write("/proc/self/mountinfo", "41 30 0:25 /machine-id /etc/machine-id ro - tmpfs tmpfs rw");
  const Identity first = of(tree);
  EXPECT_EQ(first.source, "the host name");
  tree.write("/etc/machine-id", "ffffffffffff404aaa1f6d2a48adfda4");
  EXPECT_EQ(of(tree).fingerprint, first.fingerprint);
  tree.write("/proc/sys/kernel/hostname", "diskless8");
  EXPECT_NE(of(tree).fingerprint, first.fingerprint);
  tree.write("/proc/sys/kernel/hostname", "localhost.localdomain");
  EXPECT_TRUE(of(tree).weak);
}

TEST(Identity, ClonesOfOneImageAreToldApartByTheirNames) {
  TempTree one;
  name_machine(one, "a", kId);
  TempTree other;
  name_machine(other, "b", kId);
  EXPECT_NE(of(one).fingerprint, of(other).fingerprint);
}

TEST(Identity, FillersOfTheFirmwareAreNoNumbers) {
  for (const char* filler :
       {"To Be Filled By O.E.M.", "03000200-0400-0500-0006-000700080009", "Default string", "0123456789",
        "00000000-0000-0000-0000-000000000000", "FFFFFFFF-FFFF-FFFF-FFFF-FFFFFFFFFFFF", "Not Specified", "-", ""}) {
    TempTree tree;
    tree.write("/sys/class/dmi/id/product_uuid", filler);
    tree.write("/sys/class/dmi/id/board_serial", filler);
    EXPECT_TRUE(of(tree).weak) << filler;
  }
}

TEST(Identity, OfThisMachineIsTheSameEachTimeAndInTheLine) {
  const Identity one = this_machine();
  EXPECT_EQ(one.fingerprint, this_machine().fingerprint);
  const auto node = describe_node({});
  ASSERT_TRUE(node);
  EXPECT_EQ(node->identity.fingerprint, one.fingerprint);
  EXPECT_EQ(nlohmann::json::parse(node_to_json_line(*node))["identity"]["uuid"], one.fingerprint);
}

std::string fingerprint(const std::string& file) { return describe_shared(file).identity.fingerprint; }

TEST(IdentityOfFiles, TheSameMachineInTwoModesIsOne) {
  HBMARK_NEED_SHARED("data/topologies");
  const std::pair<const char*, const char*> same[] = {
      {"xeonmax9462-2s-flat-snc4-real", "xeonmax9462-2s-cache-snc4-real"},  // one board, HBM flat and cache
      {"knl7250-quad-flat-real", "knl7250-snc4-flat-real"},                 // one node, quadrant and SNC-4
      {"knl7250-snc4-flat-cgroup-local", "knl7250-snc4-flat-cgroup-disallowed"}};
  for (const auto& [one, other] : same) EXPECT_EQ(fingerprint(one), fingerprint(other)) << one;
}

TEST(IdentityOfFiles, DifferentMachinesDiffer) {
  HBMARK_NEED_SHARED("data/topologies");
  const std::set<std::string> again = {"xeonmax9462-2s-cache-snc4-real", "knl7250-snc4-flat-real",
                                       "knl7250-snc4-flat-cgroup-disallowed",
                                       "fakeknl-a2a-cache"};  // without a name of its own: weak
  std::map<std::string, std::string> seen;
  for (const auto& entry : std::filesystem::directory_iterator(hbmark::tests::shared_dir() / "data/topologies")) {
    const std::string name = entry.path().stem().string();
    if (entry.path().extension() != ".xml" || again.count(name) != 0) continue;
    const auto [found, fresh] = seen.emplace(fingerprint(name), name);
    EXPECT_TRUE(fresh) << name << " is taken for " << found->second;
  }
  EXPECT_EQ(seen.size(), 36U);
}

TEST(IdentityOfFiles, ModesAndSizesAreNoPartOfIt) {
  Machine machine = knl({18, 18, 16, 16}, 24 * kGiB, 4 * kGiB, {{"HostName", "knl01"}, {"MemoryMode", "Flat"}});
  const std::string flat = describe(machine).identity.fingerprint;
  Machine cache = knl({68}, 96 * kGiB, 0, {{"HostName", "knl01"}, {"MemoryMode", "Cache"}, {"OSRelease", "6.1"}});
  EXPECT_EQ(describe(cache).identity.fingerprint, flat);
  cache.infos["HostName"] = "knl02";
  EXPECT_NE(describe(cache).identity.fingerprint, flat);
  cache.infos["HostName"] = "localhost";
  EXPECT_TRUE(describe(cache).identity.weak);
}

}  // namespace
}  // namespace hbmark::topology::tests
