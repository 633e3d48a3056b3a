// Driving a plugin's tables as the host does, with every rule about statuses and strings checked on the way.
//
// A violated rule is a test failure (ADD_FAILURE) at once; codes come back as values, since a test may want a failure. One
// thread. Objects release what they hold, in the contract's order.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "backends/abi/kernel.h"
#include "backends/loader/loader.h"
#include "tests/contract/test_host.h"

namespace hbmark::tests {

// The plugins of the stage's backend folder, the test backend folder and $HBMARK_BACKEND_PATH. Loaded once.
const LoadReport& plugins();
const hbmark_backend* find_backend(const std::string& name);  // null: not there

struct Called {
  std::int32_t code = HBMARK_OK;
  std::int64_t vendor_code = 0;
  std::string message;
  explicit operator bool() const { return code == HBMARK_OK; }
};

// Calls `function` with a status and checks that the plugin filled it as backends/abi/status.h demands.
Called call(const std::function<std::int32_t(hbmark_status*)>& function);

// A char array of a struct, whose NUL must be inside.
std::string checked_text(const char* text, std::size_t capacity);

using Bytes = std::vector<std::byte>;

class TestSession {
 public:
  TestSession(const hbmark_backend* backend, TestHost& host);  // opens the first device
  ~TestSession();
  TestSession(const TestSession&) = delete;
  TestSession& operator=(const TestSession&) = delete;

  bool ok() const { return handle_ != nullptr; }
  const Called& opened() const { return opened_; }
  hbmark_session* handle() const { return handle_; }
  const hbmark_backend& backend() const { return *backend_; }
  const hbmark_memory& memory() const { return memory_; }
  hbmark_kernel kernel(const std::string& capability) const;  // all null when it is not there

 private:
  const hbmark_backend* backend_;
  hbmark_session* handle_ = nullptr;
  hbmark_memory memory_{};
  Called opened_;
};

// One prepared case. Each step is a call of the contract.
class TestCase {
 public:
  TestCase(TestSession& session, const std::string& capability, const Bytes& problem);
  ~TestCase();
  TestCase(const TestCase&) = delete;
  TestCase& operator=(const TestCase&) = delete;

  Called supports() const;
  Called prepare();
  Called list_candidates();
  Called select(std::uint32_t index);
  Called list_operands();
  Called bind_all();  // allocates and binds every operand with device_bytes > 0
  Called write_all(std::uint64_t seed, bool absolute = false);
  Called write(std::uint32_t operand, const Bytes& canonical);
  Called run(std::uint64_t calls);
  Called convert(std::uint64_t calls);
  Called info(hbmark_case_info& out);
  Called read(Bytes& out);  // the one output
  void release();

  // From prepare to run(1), or the first failure.
  Called everything_until_run(std::uint64_t seed, bool absolute = false);

  hbmark_case* handle() const { return handle_; }
  const hbmark_kernel& table() const { return table_; }
  const std::vector<hbmark_candidate>& candidates() const { return candidates_; }
  const std::vector<hbmark_operand>& operands() const { return operands_; }
  const hbmark_operand& output() const;
  std::uint32_t output_index() const;

 private:
  void free_buffers();

  TestSession& session_;
  hbmark_kernel table_;
  Bytes problem_;
  hbmark_case* handle_ = nullptr;
  std::vector<hbmark_candidate> candidates_;
  std::vector<hbmark_operand> operands_;
  std::vector<hbmark_buffer*> buffers_;
};

// Inputs that are exact in every type: nonzero k/16 in (-1, 1), integers up to 15 for s8; "next" of a chase: one cycle. The
// same operand name and seed give the same data whatever the plugin.
Bytes make_input(const hbmark_operand& operand, std::uint64_t seed, bool absolute);
std::vector<double> to_doubles(const Bytes& bytes, std::uint32_t type);

}  // namespace hbmark::tests
