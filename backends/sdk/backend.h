// What a plugin author derives from: Session (an opened device) and Case (a prepared problem).
//
// Threads: a session and its cases are used from one thread at a time. Ownership: the host owns sessions, cases and buffers
// through the C tables; a case does not own the buffers bound to it. Failure: return a Failure; an exception is caught at
// the border too. Entry, probe and everything here is compiled for the baseline instruction set.
//
// The class checks what the host hands over (order of calls, indexes, sizes), so the virtual functions see valid arguments.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backends/abi/kernel.h"
#include "backends/sdk/failure.h"
#include "backends/sdk/host.h"

namespace hbmark::sdk {

struct Operand {
  std::string name;
  std::uint32_t role = HBMARK_INPUT;
  std::uint32_t type = 0;             // of the canonical layout; 0 for a workspace
  std::uint64_t canonical_bytes = 0;  // 0 for a workspace
  std::uint64_t device_bytes = 0;     // 0: nothing to bind
};

struct Candidate {
  std::string name;
  std::uint32_t algorithm_class = HBMARK_ALGORITHM_DIRECT;
  std::uint64_t workspace_bytes = 0;
};

struct CaseInfo {
  std::uint32_t algorithm_class = HBMARK_ALGORITHM_DIRECT;
  bool has_conversion = false;
  double flop_per_call = 0;   // 0: as counted from the problem
  double bytes_per_call = 0;  // 0: as counted from the problem
  std::string implementation;
  std::string isa;
  std::string layout;
};

struct SessionInfo {
  std::string library;
  std::string runtime;
  std::string isa;
  std::string warning;
};

class Case {
 public:
  Case() = default;
  virtual ~Case() = default;
  Case(const Case&) = delete;
  Case& operator=(const Case&) = delete;

  // --- what a plugin writes ---
  virtual std::vector<Candidate> candidates() const { return {{"default", HBMARK_ALGORITHM_DIRECT, 0}}; }
  virtual Status select(std::uint32_t index);  // within candidates(); the default accepts
  virtual std::vector<Operand> operands() const = 0;
  virtual Status run(std::uint64_t calls) = 0;  // every operand is bound
  virtual Status convert(std::uint64_t calls);  // only when info().has_conversion
  virtual CaseInfo info() const { return {}; }
  // The default copies, for operands whose layout here is the canonical one, in memory the host can reach.
  virtual Status write_input(std::uint32_t operand, std::span<const std::byte> canonical);
  virtual Status read_output(std::uint32_t operand, std::span<std::byte> canonical);
  virtual Status bound(std::uint32_t operand, Buffer& buffer);  // told of a new binding; the default accepts

  // The buffer bound to an operand; only once it is bound.
  Buffer& buffer(std::uint32_t operand) const { return *bound_[operand]; }

  // --- what the tables call ---
  Status adopt();  // once, after prepare
  Status checked_select(std::uint32_t index);
  Status checked_bind(std::uint32_t operand, Buffer* buffer);
  Status checked_run(std::uint64_t calls);
  Status checked_convert(std::uint64_t calls);
  Status checked_write(std::uint32_t operand, const void* canonical, std::uint64_t bytes);
  Status checked_read(std::uint32_t operand, void* canonical, std::uint64_t bytes);

 private:
  Status check_transfer(std::uint32_t operand, const void* canonical, std::uint64_t bytes, std::uint32_t role) const;
  Status check_all_bound() const;

  std::vector<Operand> operands_;
  std::vector<Buffer*> bound_;
};

// A plugin's own session also has, for each problem type it registers in its capabilities (backends/sdk/tables.h):
//   Status supports(const Problem&) const;                       pure and cheap; truthful
//   Expected<std::unique_ptr<Case>> prepare(const Problem&);     candidate 0 selected
// and, where its device keeps time, the three functions of the DeviceTimer concept there.
class Session {
 public:
  explicit Session(const Host& host) : host_(host) {}
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  virtual Expected<std::unique_ptr<Buffer>> allocate(std::uint64_t size_bytes) { return host_.allocate(size_bytes); }
  virtual Expected<SessionInfo> describe() const { return SessionInfo{}; }

  const Host& host() const { return host_; }

 private:
  Host host_;
};

struct Device {
  std::string id;
  std::string name;
  std::uint32_t kind = HBMARK_DEVICE_CPU;
  std::uint64_t memory_bytes = 0;  // 0: shares the host's
};

std::string type_name(std::uint32_t type);       // "f32"; "type 99" for an unknown one
std::uint64_t size_of_type(std::uint32_t type);  // bytes of an element; 0 for an unknown one
// a * b * ... or nothing when that does not fit in 63 bits or a factor is negative.
Expected<std::uint64_t> checked_product(std::initializer_list<std::int64_t> factors);

}  // namespace hbmark::sdk
