// The loop a person would write round oneDNN by hand: its own primitive descriptors, the library's preferred layouts, memory
// given by the caller. Shares nothing with the plugin but oneDNN and the header that spells its versions.
//
// One thread (oneDNN's own team runs below it). Memory is borrowed. Throws dnnl::error.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"

namespace hbmark::perf {

class PlainPrimitive {
 public:
  // Addresses in the order of the kernel's ABI header, workspace last (null when it has none), each already holding data in
  // the library's preferred layout.
  static std::unique_ptr<PlainPrimitive> of(const hbmark_gemm_problem& problem, const std::vector<void*>& addresses);
  static std::unique_ptr<PlainPrimitive> of(const hbmark_conv_problem& problem, const std::vector<void*>& addresses);
  virtual ~PlainPrimitive() = default;

  virtual double time_calls(std::int64_t calls) = 0;             // seconds
  virtual std::string implementation() const = 0;                // the library's name for it
  virtual std::vector<std::uint64_t> operand_bytes() const = 0;  // in the same order, workspace included
};

}  // namespace hbmark::perf
