#include "topology/memory_policy.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <linux/mempolicy.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "topology/memory.h"
#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

// linux/mempolicy.h of Debian 12 has it; older headers do not (Linux 5.15).
constexpr int kPreferredMany = 5;
constexpr std::size_t kBitsPerWord = 8 * sizeof(unsigned long);
constexpr std::size_t kMaxNodes = 1024;  // MAX_NUMNODES of the largest kernels (CONFIG_NODES_SHIFT=10)

bool includes(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

const NumaNode* find_numa(const Node& node, int os_index) {
  const auto found =
      std::find_if(node.numa.begin(), node.numa.end(), [&](const NumaNode& numa) { return numa.os_index == os_index; });
  return found == node.numa.end() ? nullptr : &*found;
}

std::vector<int> pus_of(const Node& node, const std::vector<int>& thread_pus) {
  return thread_pus.empty() || includes(thread_pus, -1) ? node.allowed_pus : thread_pus;
}

bool meet(const std::vector<int>& a, const std::vector<int>& b) {
  return std::any_of(a.begin(), a.end(), [&](int value) { return includes(b, value); });
}

Result<MemoryPlacement> on_one_node(const Node& node, MemoryPlacement memory) {
  const std::string what = fmt::format("cannot use --memory {}", memory.asked);
  const auto wanted = to_integer(memory.asked.substr(std::strlen("node:"))).value_or(-1);
  const NumaNode* numa = find_numa(node, static_cast<int>(wanted));
  if (numa == nullptr) {
    std::vector<int> there;
    for (const NumaNode& each : node.numa) there.push_back(each.os_index);
    return usage_error(what, fmt::format("this machine has NUMA nodes {} only", fmt::join(there, ", ")),
                       "see them with `hbmark node`");
  }
  if (!numa->allowed) {
    return environment_error(what, "the cpuset does not allow that node",
                             "ask the scheduler for that node's memory (cpuset.mems)");
  }
  memory.rule = MemoryRule::kStrict;
  memory.kind = numa->kind;
  memory.nodes = {numa->os_index};
  return memory;
}

Result<MemoryPlacement> on_ddr(const Node& node, const std::vector<int>& pus, MemoryPlacement memory) {
  for (const NumaNode& numa : node.numa) {
    if (numa.kind == "ddr" && numa.allowed && meet(numa.cpus, pus)) memory.nodes.push_back(numa.os_index);
  }
  if (memory.nodes.empty()) {
    return environment_error("cannot use --memory ddr", "no NUMA node of kind ddr is local to these threads' CPUs",
                             "see the nodes with `hbmark node`; name one with --memory node:N");
  }
  memory.rule = MemoryRule::kStrict;
  memory.kind = "ddr";
  return memory;
}

Result<MemoryPlacement> on_fast(const Node& node, const std::vector<int>& pus, MemoryPlacement memory) {
  for (const FastMemory& fast : node.fast_memory) {
    const NumaNode* numa = find_numa(node, fast.os_index);
    if (numa == nullptr || !numa->allowed || !meet(fast.local_cpus, pus)) continue;
    memory.nodes.push_back(fast.os_index);
    memory.kind = is_fast_kind(numa->kind) ? numa->kind : "fast";
  }
  if (memory.nodes.empty()) {
    const bool cached = !node.memory_side_caches.empty() || node.memory_mode.value == "cache";
    return environment_error(
        fmt::format("cannot use --memory {}", memory.asked),
        cached ? "the fast memory is a cache here (memory mode cache), not memory that can be asked for"
               : "no fast memory is local to these threads' CPUs",
        cached ? "measure with --memory default, or reboot into flat mode" : "see the nodes with `hbmark node`");
  }
  memory.rule = memory.asked == "fast"             ? MemoryRule::kStrict
                : memory.asked == "fast-preferred" ? MemoryRule::kPreferred
                                                   : MemoryRule::kInterleave;
  return memory;
}

int mode_of(const MemoryPlacement& memory) {
  switch (memory.rule) {
    case MemoryRule::kFirstTouch:
      return MPOL_DEFAULT;
    case MemoryRule::kStrict:
      return MPOL_BIND;
    case MemoryRule::kPreferred:
      return memory.nodes.size() == 1 ? static_cast<int>(MPOL_PREFERRED) : kPreferredMany;
    case MemoryRule::kInterleave:
      return MPOL_INTERLEAVE;
  }
  return MPOL_DEFAULT;
}

}  // namespace

Result<std::string> memory_word(std::string_view text) {
  std::string word(text);
  for (const char* other : {"mcdram", "hbm"}) {
    if (word.rfind(other, 0) == 0) word.replace(0, std::strlen(other), "fast");
  }
  for (const char* known : {"default", "ddr", "fast", "fast-preferred", "fast-interleave"}) {
    if (word == known) return word;
  }
  if (word.rfind("node:", 0) == 0) {
    const auto index = to_integer(word.substr(std::strlen("node:")));
    if (index && *index >= 0 && *index < static_cast<std::int64_t>(kMaxNodes)) return fmt::format("node:{}", *index);
    return usage_error(fmt::format("--memory '{}'", text), "it names no NUMA node", "write node: and its number: node:1");
  }
  return usage_error(
      fmt::format("--memory '{}'", text), "there is no such placement",
      "use default, ddr, fast (also mcdram, hbm), fast-preferred, fast-interleave, node:N, or a list of them");
}

Result<MemoryPlacement> plan_memory(const Node& node, const std::string& word, const std::vector<int>& thread_pus) {
  MemoryPlacement memory;
  memory.asked = word;
  if (!node.this_system) {
    // hwloc would hand out unbound memory without an error on a loaded topology, and the indexes are another machine's.
    return environment_error("cannot place memory", "the topology was read from a file: it is not this machine's",
                             "measure on the machine itself, with HWLOC_XMLFILE and HWLOC_SYNTHETIC unset");
  }
  if (word == "default") return memory;
  const std::vector<int> pus = pus_of(node, thread_pus);
  auto planned = word == "ddr"                 ? on_ddr(node, pus, std::move(memory))
                 : word.rfind("node:", 0) == 0 ? on_one_node(node, std::move(memory))
                                               : on_fast(node, pus, std::move(memory));
  if (planned) std::sort(planned->nodes.begin(), planned->nodes.end());
  return planned;
}

std::string policy_text(const MemoryPlacement& memory) {
  switch (memory.rule) {
    case MemoryRule::kFirstTouch:
      return "first_touch";
    case MemoryRule::kStrict:
      return fmt::format("strict:{}", fmt::join(memory.nodes, ","));
    case MemoryRule::kPreferred:
      return fmt::format("preferred:{}", fmt::join(memory.nodes, ","));
    case MemoryRule::kInterleave:
      return fmt::format("interleave:{}", fmt::join(memory.nodes, ","));
  }
  return {};
}

std::string memory_label(const MemoryPlacement& memory) {
  if (memory.asked.rfind("node:", 0) == 0) return memory.asked;
  if (memory.rule == MemoryRule::kPreferred) return memory.kind + "-preferred";
  if (memory.rule == MemoryRule::kInterleave) return memory.kind + "-interleave";
  return memory.kind;
}

ProcessBinding::ProcessBinding(const MemoryPlacement& memory) : mode_(mode_of(memory)), memory_(memory) {
  if (memory.nodes.empty()) return;
  mask_.resize(kMaxNodes / kBitsPerWord, 0);
  for (int node : memory.nodes) {
    const auto bit = static_cast<std::size_t>(node);
    if (bit < kMaxNodes) mask_[bit / kBitsPerWord] |= 1UL << (bit % kBitsPerWord);
  }
}

int ProcessBinding::apply() const noexcept {
  if (mode_ == MPOL_DEFAULT) return 0;
  // The kernel reads one bit fewer than it is told (set_mempolicy(2), "maxnode").
  return syscall(SYS_set_mempolicy, mode_, mask_.data(), kMaxNodes + 1) == 0 ? 0 : errno;
}

Status ProcessBinding::check() const {
  if (mode_ == MPOL_DEFAULT) return {};
  int mode = -1;
  std::vector<unsigned long> mask(kMaxNodes / kBitsPerWord, 0);
  if (syscall(SYS_get_mempolicy, &mode, mask.data(), kMaxNodes, nullptr, 0) != 0) {
    return environment_error("cannot tell whether this process is bound to its memory",
                             fmt::format("get_mempolicy: {}", std::strerror(errno)),
                             "a container's seccomp profile forbids it: add --cap-add SYS_NICE");
  }
  if (mode == mode_ && mask == mask_) return {};
  return environment_error(fmt::format("this process is not bound to its memory ({})", policy_text(memory_)),
                           fmt::format("its memory policy is of mode {}", mode),
                           "a launcher or a preloaded library sets another policy: start hbmark without it");
}

Status try_binding(const MemoryPlacement& memory) {
  if (memory.rule == MemoryRule::kFirstTouch) return {};
  int mode = MPOL_DEFAULT;
  std::vector<unsigned long> mask(kMaxNodes / kBitsPerWord, 0);
  const bool known = syscall(SYS_get_mempolicy, &mode, mask.data(), kMaxNodes, nullptr, 0) == 0;
  const int error = ProcessBinding(memory).apply();
  if (error == 0) {
    if (!known) mode = MPOL_DEFAULT;
    syscall(SYS_set_mempolicy, mode, mode == MPOL_DEFAULT ? nullptr : mask.data(), mode == MPOL_DEFAULT ? 0 : kMaxNodes + 1);
    return {};
  }
  const bool seccomp = error == EPERM || error == ENOSYS;
  const bool many = error == EINVAL && memory.rule == MemoryRule::kPreferred && memory.nodes.size() > 1;
  return environment_error(fmt::format("cannot use --memory {}", memory.asked),
                           many ? "this kernel cannot prefer several NUMA nodes (Linux 5.15 can)"
                                : fmt::format("the kernel refuses {}: {}", policy_text(memory), std::strerror(error)),
                           many      ? "use fast or fast-interleave, or a newer kernel"
                           : seccomp ? "a container's seccomp profile forbids set_mempolicy: add --cap-add SYS_NICE"
                                     : "check that the nodes are online and allowed (cpuset.mems)");
}

std::optional<std::uint64_t> room_for(const MemoryPlacement& memory, const std::string& root) {
  if (memory.rule != MemoryRule::kStrict && memory.rule != MemoryRule::kInterleave) return std::nullopt;
  std::uint64_t sum = 0;
  std::uint64_t least = UINT64_MAX;
  for (int node : memory.nodes) {
    const auto room = room_on_node(node, root);
    if (!room) return std::nullopt;
    sum += *room;
    least = std::min(least, *room);
  }
  return memory.rule == MemoryRule::kStrict ? sum : least * memory.nodes.size();
}

}  // namespace hbmark::topology
