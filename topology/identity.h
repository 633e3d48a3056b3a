// Which machine this is: one fingerprint that stays the same over reboots, changes of memory and cluster mode, new kernels,
// other users and restarts of a container, and that differs between machines.
//
// It is made of one thing that belongs to the hardware, else to the installation; never of what a mode or a boot changes
// (NUMA nodes, sizes, boot id), nor of the name a container was given. Only a digest leaves this file: no serial number or
// address is shown. Thread-safe; owns nothing; never fails: what little can be known is used, and `weak` says so.
#pragma once

#include <string>

namespace hbmark::topology {

class Tree;
struct CpuId;

struct Identity {
  std::string fingerprint;  // a UUID: equal text, equal machine; "" only before it was asked for
  std::string source;       // what it was made of: "the serial number of the first NVMe drive"
  bool weak = false;        // machines of one make may share it
};

// This machine. root: "" is "/", where /proc, /sys and /etc are read from. given: what $HBMARK_NODE_ID holds; it wins.
Identity identify_machine(const std::string& root, const std::string& given);

// This machine by its own files and environment.
Identity this_machine();

// The machine of a topology file, as far as the file names it. Internal to topology/.
Identity identify_file(const Tree& tree, const CpuId& cpu);

}  // namespace hbmark::topology
