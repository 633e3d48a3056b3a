// hbmark's own path to a problem: the plugin contract, with samples taken as the sampler takes them (a block of Google
// Benchmark round the plugin's `run`).
//
// Owns session, case and buffers; the plugin's table lives as long as the process. One thread.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/abi/kernel.h"
#include "results/base/result.h"

namespace hbmark::perf {

class PluginCase {
 public:
  // Opens the "cpu" device, prepares `problem` (an ABI struct) and selects candidate `candidate`, with random inputs in
  // place.
  static Result<std::unique_ptr<PluginCase>> open(const hbmark_backend& backend, const char* capability, const void* problem,
                                                  std::uint32_t candidate);
  ~PluginCase();
  PluginCase(const PluginCase&) = delete;
  PluginCase& operator=(const PluginCase&) = delete;

  Result<double> time_calls(std::int64_t calls);  // one sample by hbmark's path, in seconds
  Result<std::string> implementation() const;
  const std::vector<hbmark_operand>& operands() const { return operands_; }
  std::vector<void*> addresses() const;             // of the operands, then null
  Result<std::vector<double>> read_output() const;  // in the canonical layout
  void spoil_output();                              // fills it with not-a-numbers

 private:
  PluginCase() = default;
  Status select_and_bind(std::uint32_t candidate);
  Status fill_inputs();
  std::uint32_t output() const;  // index of the first output
  Status check(std::int32_t code, const char* what) const;

  const hbmark_kernel* kernel_ = nullptr;
  const hbmark_memory* memory_ = nullptr;
  const hbmark_backend* backend_ = nullptr;
  hbmark_session* session_ = nullptr;
  hbmark_case* case_ = nullptr;
  std::vector<hbmark_operand> operands_;
  std::vector<hbmark_buffer*> buffers_;
  mutable hbmark_status status_ = {};
};

}  // namespace hbmark::perf
