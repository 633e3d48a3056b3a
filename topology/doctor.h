// What would spoil a measurement on this machine, and what to do about it.
//
// Reads /proc, /sys and the cgroup under a root (a recorded tree in tests); load is measured over `window_s` only when the
// root is the real one. Not thread-safe. Never changes the machine.
#pragma once

#include <string>
#include <vector>

#include "results/base/result.h"
#include "topology/node.h"

namespace hbmark::topology {

enum class Severity { kGood, kNote, kWarning, kProblem };

struct Finding {
  std::string id;  // stable word: "governor", "other-load", "cgroup-quota"
  Severity severity = Severity::kGood;
  std::string observed;  // with unit, how it is known
  std::string advice;    // what to do; empty when good
};

struct DoctorOptions {
  std::string root;       // "" is "/"
  double window_s = 0.5;  // seconds to watch /proc/stat for other load and steal time; 0: do not
};

Result<std::vector<Finding>> examine(const Node& node, const DoctorOptions& options);

}  // namespace hbmark::topology
