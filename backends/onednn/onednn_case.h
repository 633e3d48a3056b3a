// One prepared problem, whatever the primitive: tensors with a plain layout and the library's own, algorithms to choose
// from.
//
// Threads and ownership as backends/sdk/backend.h; the context outlives its cases. Every function catches dnnl::error.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <vector>

#include "backends/sdk/backend.h"

namespace hbmark::onednn {

struct Context {
  dnnl::engine engine;
  dnnl::stream stream;
  std::string library;  // "oneDNN 2.6.3"
  std::string isa;      // the best the library will use: "avx512_core"
};

struct Tensor {
  std::string name;  // as in the kernel's header
  std::uint32_t role = HBMARK_INPUT;
  std::uint32_t type = HBMARK_F32;  // of the canonical layout
  int argument = 0;                 // DNNL_ARG_*
  dnnl::memory::desc plain;
};

struct Algorithm {
  std::string name;
  dnnl::primitive_desc desc;
};

struct Recipe {
  std::vector<Tensor> tensors;
  std::vector<Algorithm> algorithms;  // at least one; the first is the default
};

// nchw, nChw16c, OIhw16i16o: dimensions by descending stride, a capital where it is also blocked. `letters` names them.
std::string layout_name(const dnnl::memory::desc& desc, const std::string& letters);
std::uint32_t algorithm_class(const dnnl::primitive_desc& desc);

class OnednnCase final : public sdk::Case {
 public:
  // `letters`: for each tensor the names of its dimensions.
  static sdk::Expected<std::unique_ptr<sdk::Case>> make(const Context& context, const sdk::Host& host, Recipe recipe,
                                                        std::vector<std::string> letters);

  std::vector<sdk::Candidate> candidates() const override;
  sdk::Status select(std::uint32_t index) override;
  std::vector<sdk::Operand> operands() const override;
  sdk::Status bound(std::uint32_t operand, sdk::Buffer& buffer) override;
  sdk::Status run(std::uint64_t calls) override;
  sdk::Status convert(std::uint64_t calls) override;
  sdk::CaseInfo info() const override;
  sdk::Status write_input(std::uint32_t operand, std::span<const std::byte> canonical) override;
  sdk::Status read_output(std::uint32_t operand, std::span<std::byte> canonical) override;

 private:
  // A layout conversion of one tensor, on memory of its own so that it never disturbs the bound operands.
  struct Conversion {
    std::unique_ptr<sdk::Buffer> from_buffer, to_buffer;
    dnnl::memory from, to;
    dnnl::reorder reorder;
  };

  OnednnCase(const Context& context, const sdk::Host& host, Recipe recipe, std::vector<std::string> letters)
      : context_(context), host_(host), recipe_(std::move(recipe)), letters_(std::move(letters)) {}
  bool converts(std::size_t tensor) const { return chosen_[tensor] != recipe_.tensors[tensor].plain; }
  sdk::Status prepare_conversions();

  const Context& context_;
  sdk::Host host_;
  Recipe recipe_;
  std::vector<std::string> letters_;
  std::uint32_t selected_ = 0;
  dnnl::primitive primitive_;
  std::vector<dnnl::memory::desc> chosen_;  // by tensor, in the selected algorithm
  std::vector<dnnl::memory> memories_;      // by operand: tensors, then the workspace
  std::vector<dnnl_exec_arg_t> arguments_;  // made once, so that a call costs what the library costs
  std::vector<Conversion> conversions_;     // made on the first use
};

}  // namespace hbmark::onednn
