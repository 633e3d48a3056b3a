// One prepared problem of a plugin with its buffers: every call across the border that a case needs, each checked.
//
// One thread. Owns the plugin's case and its buffers and releases both, the case first. Buffers of one candidate are used
// again for the next where their size allows. Addresses stay the plugin's.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/run/open_backend.h"
#include "bench/run/plugin_calls.h"
#include "topology/page_census.h"

namespace hbmark {

// Told before each kind of call, so that a crash or hang can be said to have happened there.
using PhaseListener = std::function<void(const char* phase)>;

class BoundCase {
 public:
  // supports, then `before_prepare` (which may end the case), then prepare. `problem` must outlive the case.
  static Step<std::unique_ptr<BoundCase>> prepare(OpenBackend& backend, const hbmark_kernel& kernel,
                                                  const std::vector<std::byte>& problem, const PhaseListener& phase,
                                                  const std::function<Step<void>()>& before_prepare);
  BoundCase(const BoundCase&) = delete;
  BoundCase& operator=(const BoundCase&) = delete;
  ~BoundCase();

  Step<std::vector<hbmark_candidate>> candidates();
  Step<void> select(std::uint32_t candidate);  // bind again after it
  // Asks for the operands of the selected candidate; bytes of all of them as allocated.
  Step<std::uint64_t> load_operands();
  // Refuses operands that are not the kernel's (order, names, types, sizes).
  Step<void> compare_operands(std::span<const OperandSpec> expected) const;
  const std::vector<hbmark_operand>& operands() const { return operands_; }

  Step<void> allocate_and_bind();
  Step<void> write_inputs(std::span<const HostArray> inputs);
  // A sign of life, with what is done next: for callers whose calls may take long.
  void announce(const char* what) { phase_(what); }
  void poison_outputs();  // NaN in every float type, -1 in integers; device memory is left
  Step<void> read_outputs(std::span<HostArray> outputs);
  Step<double> run(std::uint64_t calls);      // seconds by the plugin's timer, or by the steady clock round it
  Step<double> convert(std::uint64_t calls);  // likewise
  Step<hbmark_case_info> info();

  bool on_host() const;                                     // every operand has an address here
  std::vector<std::span<const std::byte>> buffers() const;  // those that have, workspaces too

  // Bytes of the operands on each NUMA node; empty for device memory. Errors: the kernel does not tell.
  Result<topology::BytesByNode> bytes_by_node() const;

 private:
  struct Buffer {
    hbmark_buffer* handle = nullptr;
    std::uint64_t size_bytes = 0;
  };
  BoundCase(OpenBackend& backend, const hbmark_kernel& kernel, const PhaseListener& phase)
      : backend_(backend), kernel_(kernel), phase_(phase) {}
  void free_buffer(Buffer& buffer);
  Step<double> timed(std::int32_t (*call)(hbmark_case*, std::uint64_t, hbmark_status*), std::uint64_t calls,
                     const char* what);

  OpenBackend& backend_;
  const hbmark_kernel& kernel_;
  PhaseListener phase_;
  hbmark_case* case_ = nullptr;
  std::vector<hbmark_operand> operands_;
  std::vector<Buffer> buffers_;  // one an operand
};

}  // namespace hbmark
