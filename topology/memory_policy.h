// Which NUMA nodes the memory of a configuration goes to, how the kernel is told so, and the room there is.
//
// Plan in the parent, from a Node; bind between fork and exec, so that heap, stacks, generated code and the library's own
// scratch all come under it: nothing else holds what comes and goes inside a call (docs/adr/0009). Plain data; the functions
// are thread-safe but try_binding, which changes the calling thread's policy and puts it back. Failures are values.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/base/result.h"
#include "topology/node.h"

namespace hbmark::topology {

enum class MemoryRule {
  kFirstTouch,  // as the kernel does it by itself
  kStrict,      // these nodes and no others; the nearest first
  kPreferred,   // these nodes while they have room
  kInterleave,  // these nodes in turn
};

struct MemoryPlacement {
  std::string asked = "default";  // default ddr fast fast-preferred fast-interleave node:N
  std::string kind = "any";       // what the nodes are: any ddr mcdram hbm nvm gpu unknown
  MemoryRule rule = MemoryRule::kFirstTouch;
  std::vector<int> nodes;  // os indexes, ascending; empty for kFirstTouch

  bool operator==(const MemoryPlacement&) const = default;
};

// The one word for what --memory may say: `mcdram` and `hbm` are `fast`. Errors (usage): no such word.
Result<std::string> memory_word(std::string_view text);

// `word` is of memory_word. The nodes are those local to the threads' PUs (thread_pus; empty or -1: every allowed PU).
// Errors: environment, when this node has no such memory or the cpuset forbids it; usage, when node:N is not there.
Result<MemoryPlacement> plan_memory(const Node& node, const std::string& word, const std::vector<int>& thread_pus);

std::string policy_text(const MemoryPlacement& memory);   // "first_touch", "strict:1,5"
std::string memory_label(const MemoryPlacement& memory);  // any ddr mcdram mcdram-preferred hbm-interleave node:1

// The kernel's form of a placement, made before fork so that applying it is one system call.
class ProcessBinding {
 public:
  explicit ProcessBinding(const MemoryPlacement& memory);
  // Binds the calling thread, and what it executes then. 0 or an errno. Async-signal-safe.
  int apply() const noexcept;
  // What this thread's policy is now, against what apply() would make it. Errors (environment): another one.
  Status check() const;

 private:
  int mode_;
  std::vector<unsigned long> mask_;
  MemoryPlacement memory_;
};

// Whether the kernel lets us: binds this thread and puts its policy back. Errors (environment) say what forbids it.
Status try_binding(const MemoryPlacement& memory);

// Bytes that can still be placed on a node before the kernel must take memory from others there: free pages above the
// watermarks, and unused file pages. From /proc/zoneinfo (`root`: tests). nullopt: not told.
std::optional<std::uint64_t> room_on_node(int node, const std::string& root = "");

// Bytes the placement has room for: of strict nodes together, of interleaved ones n times the least. nullopt for a rule that
// spills elsewhere, or where the kernel does not tell.
std::optional<std::uint64_t> room_for(const MemoryPlacement& memory, const std::string& root = "");

}  // namespace hbmark::topology
