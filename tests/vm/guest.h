// A virtual machine booted once with our program in it: what each part of its script wrote, by the part's name.
//
// boot() may be called from one thread. It skips the test (fails it under HBMARK_VM=required) where this machine lacks the
// emulator or a kernel, and fails it when the guest does not come to its end. Its folder is removed, unless the test failed.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace hbmark::tests {

struct Machine {
  std::string name;     // "flat"
  std::string options;  // of qemu, beside those that all share
  std::string hwdata;   // text of /run/hwloc/knl_memoryside_cache; empty: there is none
  std::string script;   // parts begin with `part NAME`; what they write to stdout comes back
};

struct Guest {
  bool booted = false;  // false: the test is skipped or failed already
  std::map<std::string, std::vector<std::string>> lines;

  // Of one part: its lines that are JSON, and their only one of a problem's kernel and memory.
  std::vector<nlohmann::json> documents(const std::string& part) const;
  nlohmann::json result(const std::string& part, const std::string& kernel, const std::string& memory) const;
  std::string last_line(const std::string& part) const;
};

Guest boot(const Machine& machine);

}  // namespace hbmark::tests
