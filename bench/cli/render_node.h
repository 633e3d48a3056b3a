// The node and the doctor's findings as a person reads them. Pure, thread-safe.
#pragma once

#include <string>
#include <vector>

#include "bench/cli/text.h"
#include "topology/devices.h"
#include "topology/doctor.h"
#include "topology/node.h"

namespace hbmark::cli {

// devices: nominal figures; null when the table could not be read, and nothing is said of them.
std::string render_node(const topology::Node& node, const topology::DeviceTable* devices, const Style& style);

// A backend file as the doctor saw it.
struct BackendLine {
  std::string name;  // of the backend, or of the file that was rejected
  std::string file;
  bool loaded = false;
  std::string text;     // version and devices, or the reason of the rejection
  bool usable = false;  // loaded, and has a device
  std::string warning;  // what it says the user must know
};

std::string render_backends(const std::vector<BackendLine>& backends, const std::vector<std::string>& searched,
                            const Style& style);
// The worst first, and in the order given among equals.
std::string render_findings(const std::vector<topology::Finding>& findings, const Style& style);

std::string_view severity_word(topology::Severity severity);

}  // namespace hbmark::cli
