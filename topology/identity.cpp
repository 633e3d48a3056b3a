// Where to look, best first. Each must answer the same to root and to others, in a container and outside it, as far as it
// answers at all; what only some of them can read comes after what all can.
#include "topology/identity.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/uuid/name_generator_sha1.hpp>
#include <boost/uuid/string_generator.hpp>
#include <boost/uuid/uuid.hpp>
#include <boost/uuid/uuid_io.hpp>
#include <cstdlib>
#include <filesystem>
#include <map>
#include <set>
#include <vector>

#include "topology/hwloc_tree.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

namespace fs = std::filesystem;

Identity identity(const std::string& key, const std::string& source, bool weak = false) {
  // A name space of its own, a version 4 UUID drawn once: it must never change, or machines lose their past.
  static const boost::uuids::uuid name_space = boost::uuids::string_generator()("b7e0f6c2-2d0a-4c0e-8f5b-51c0a9d7e3a4");
  return {boost::uuids::to_string(boost::uuids::name_generator_sha1(name_space)(key)), source, weak};
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char letter) { return letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter; });
  return text;
}

std::string first_line(const std::string& root, const std::string& file) {
  const auto read = read_text(root, file);
  if (!read.ok) return "";
  const auto found = lines(read.text);
  return found.empty() ? "" : found.front();
}

std::vector<std::string> entries_of(const std::string& root, const std::string& folder) {
  std::vector<std::string> names;
  std::error_code error;
  for (fs::directory_iterator entry(under_root(root, folder), error), end; !error && entry != end; entry.increment(error)) {
    names.push_back(entry->path().filename().string());
  }
  std::sort(names.begin(), names.end());
  return names;
}

bool exists(const std::string& root, const std::string& file) {
  std::error_code error;
  return fs::exists(under_root(root, file), error);
}

// Where a class's device sits: "/sys/devices/pci0000:00/0000:00:1d.0/..."; "" for what is no hardware.
std::string place_of(const std::string& root, const std::string& device) {
  std::error_code error;
  const auto place = fs::canonical(under_root(root, device + "/device"), error);
  return error ? "" : place.string();
}

// A card of this machine for itself: no virtual function (its addresses are dealt out at boot) and nothing on USB.
bool is_fixed(const std::string& root, const std::string& device, const std::string& place) {
  return !place.empty() && place.find("/usb") == std::string::npos && !exists(root, device + "/device/physfn");
}

// Firmware writes all kinds of filler where no number was set.
bool is_plausible(const std::string& number) {
  const std::string text = lower(number);
  std::set<char> letters;
  for (const char letter : text) {
    if ((letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'z')) letters.insert(letter);
  }
  // The first is American Megatrends' default UUID, the others what boards ship with.
  for (const char* filler : {"03000200-0400-0500-0006-000700080009", "12345678", "0123456789", "1234567890", "filled",
                             "default", "unknown", "none", "not ", "n/a", "system", "serial", "empty"}) {
    if (text.find(filler) != std::string::npos) return false;
  }
  return letters.size() >= 4;
}

// InfiniBand and Omni-Path: a GUID burnt into the card.
Identity by_fabric(const std::string& root) {
  std::map<std::string, std::string> guids;  // by place: cards added later do not come first by chance
  for (const auto& name : entries_of(root, "/sys/class/infiniband")) {
    const std::string device = "/sys/class/infiniband/" + name;
    const std::string place = place_of(root, device);
    const std::string guid = lower(first_line(root, device + "/node_guid"));
    if (is_fixed(root, device, place) && guid.find_first_not_of("0:") != std::string::npos) guids[place] = guid;
  }
  return guids.empty() ? Identity{} : identity("fabric " + guids.begin()->second, "the GUID of the first fabric adapter");
}

// Drives that a hypervisor makes up carry its vendor's number, and made up serial numbers: QEMU, Amazon, Google, Microsoft.
bool is_made_up(const std::string& vendor) {
  static const std::set<std::string> kHypervisors = {"0x1b36", "0x1af4", "0x1d0f", "0x1ae0", "0x1414"};
  return vendor.empty() || kHypervisors.count(vendor) != 0;
}

Identity by_drive(const std::string& root) {
  std::map<std::string, std::string> serials;
  for (const auto& name : entries_of(root, "/sys/class/nvme")) {
    const std::string device = "/sys/class/nvme/" + name;
    const std::string place = place_of(root, device);
    const std::string serial = first_line(root, device + "/serial");
    if (first_line(root, device + "/transport") != "pcie" || is_made_up(first_line(root, device + "/device/vendor")))
      continue;
    if (is_fixed(root, device, place) && is_plausible(serial)) {
      serials[place] = first_line(root, device + "/model") + " " + serial;
    }
  }
  if (serials.empty()) return {};
  return identity("drive " + serials.begin()->second, "the serial number of the first NVMe drive");
}

// An address its maker gave it: universal (IEEE 802, second bit of the first octet 0), unicast, not set by software.
bool is_permanent(const std::string& address) {
  const auto octet = address.size() == 17 ? std::string("0123456789abcdef").find(address[1]) : std::string::npos;
  return octet != std::string::npos && (octet & 3U) == 0 && address.find_first_not_of("0:") != std::string::npos;
}

Identity by_network_card(const std::string& root) {
  std::map<std::string, std::string> addresses;
  for (const auto& name : entries_of(root, "/sys/class/net")) {
    const std::string device = "/sys/class/net/" + name;
    const std::string place = place_of(root, device);
    // Wireless cards change their address for privacy.
    const bool wireless = exists(root, device + "/wireless") || exists(root, device + "/phy80211");
    if (!is_fixed(root, device, place) || wireless || first_line(root, device + "/type") != "1") continue;
    std::string address = lower(first_line(root, device + "/bonding_slave/perm_hwaddr"));  // a bond shows one for all
    if (address.empty() && first_line(root, device + "/addr_assign_type") == "0") {
      address = lower(first_line(root, device + "/address"));
    }
    // Ports of one card share its place.
    if (is_permanent(address)) addresses[place + " " + first_line(root, device + "/dev_port") + " " + address] = address;
  }
  if (addresses.empty()) return {};
  return identity("network " + addresses.begin()->second, "the address of the first network card");
}

Identity by_firmware(const std::string& uuid, const std::vector<std::string>& serials) {
  std::string key;
  if (is_plausible(uuid)) key += " " + lower(uuid);
  for (const auto& serial : serials) {
    if (is_plausible(serial)) key += " " + serial;
  }
  return key.empty() ? Identity{} : identity("firmware" + key, "the numbers of the board in the firmware's tables (DMI)");
}

// systemd makes one up for this boot where none can be kept, and mounts it over the file.
std::string kept_machine_id(const std::string& root) {
  for (const auto& line : lines(read_text(root, "/proc/self/mountinfo").text)) {
    const auto parts = words(line);
    if (parts.size() > 4 && parts[4] == "/etc/machine-id") return "";
  }
  const std::string id = lower(first_line(root, "/etc/machine-id"));
  const bool whole = id.size() == 32 && id.find_first_not_of("0123456789abcdef") == std::string::npos;
  return whole ? id : "";
}

bool is_telling(const std::string& hostname) {
  return !hostname.empty() && hostname != "(none)" && hostname.rfind("localhost", 0) != 0;
}

// The machine's own name, not one a container was given: the first name space of host names has a fixed number (Linux
// include/linux/proc_ns.h, PROC_UTS_INIT_INO).
bool names_the_machine(const std::string& root) {
  std::error_code error;
  return fs::read_symlink(under_root(root, "/proc/self/ns/uts"), error) == "uts:[4026531838]";
}

Identity by_installation(const std::string& root) {
  if (!names_the_machine(root)) return {};  // the machine id would be the container image's, shared by many
  const std::string id = kept_machine_id(root);
  const std::string name = lower(first_line(root, "/proc/sys/kernel/hostname"));
  if (!id.empty())
    return identity("machine-id " + id + (is_telling(name) ? " " + name : ""), "the machine id and host name");
  return is_telling(name) ? identity("hostname " + name, "the host name") : Identity{};
}

// What machines of one make share.
Identity by_make(const std::vector<std::string>& names) {
  return identity(fmt::format("make {}", fmt::join(names, "|")), "no more than the make of board and CPU", true);
}

std::string cpu_name(const std::string& root) {
  for (const auto& line : lines(read_text(root, "/proc/cpuinfo").text)) {
    const auto colon = line.find(':');
    if (colon == std::string::npos) continue;
    const auto key = words(line.substr(0, colon));
    const bool named = key == std::vector<std::string>{"model", "name"} || key == std::vector<std::string>{"cpu"};
    if (named) return fmt::format("{}", fmt::join(words(line.substr(colon + 1)), " "));
  }
  return "";
}

}  // namespace

Identity identify_machine(const std::string& root, const std::string& given) {
  if (!given.empty()) return identity("given " + given, "$HBMARK_NODE_ID");
  const std::string dmi = "/sys/class/dmi/id/";
  for (const auto& find : {by_fabric, by_drive, by_network_card}) {
    if (auto found = find(root); !found.fingerprint.empty()) return found;
  }
  // Before the firmware's numbers, which root alone may read: users and root are to agree.
  if (auto found = by_installation(root); !found.fingerprint.empty()) return found;
  if (auto found = by_firmware(first_line(root, dmi + "product_uuid"),
                               {first_line(root, dmi + "product_serial"), first_line(root, dmi + "board_serial")});
      !found.fingerprint.empty()) {
    return found;
  }
  return by_make({cpu_name(root), first_line(root, dmi + "board_vendor"), first_line(root, dmi + "board_name"),
                  first_line(root, dmi + "product_name")});
}

Identity this_machine() {
  const char* given = std::getenv("HBMARK_NODE_ID");
  return identify_machine("", given != nullptr ? given : "");
}

Identity identify_file(const Tree& tree, const CpuId& cpu) {
  const auto told = [&](const char* name) { return info(tree.root(), name); };
  if (auto found = by_firmware(told("DMIProductUUID"), {told("DMIProductSerial"), told("DMIBoardSerial")});
      !found.fingerprint.empty()) {
    return found;
  }
  const std::vector<std::string> make = {cpu.model, told("DMIBoardVendor"), told("DMIBoardName"), told("DMIProductName"),
                                         told("PlatformModel")};
  const std::string name = lower(told("HostName"));
  if (!is_telling(name)) return by_make(make);
  return identity(fmt::format("file {} {}", name, fmt::join(make, "|")), "the host name in the file");
}

}  // namespace hbmark::topology
