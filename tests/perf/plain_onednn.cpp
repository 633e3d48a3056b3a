#include "tests/perf/plain_onednn.h"

#include <chrono>
#include <oneapi/dnnl/dnnl.hpp>
#include <unordered_map>
#include <utility>

#include "backends/onednn/compat.h"

namespace hbmark::perf {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
using onednn::ConvolutionShape;

class Primitive final : public PlainPrimitive {
 public:
  Primitive(dnnl::engine engine, const dnnl::primitive_desc& desc, std::vector<int> arguments,
            const std::vector<void*>& addresses)
      : desc_(desc), primitive_(desc), stream_(engine) {
    arguments.push_back(DNNL_ARG_SCRATCHPAD);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const memory::desc layout = arguments[i] == DNNL_ARG_SCRATCHPAD
                                      ? desc.scratchpad_desc()
                                      : desc.query_md(dnnl::query::exec_arg_md, arguments[i]);
      bytes_.push_back(layout.get_size());
      memories_.emplace(arguments[i], memory(layout, engine, addresses[i]));
    }
  }

  double time_calls(std::int64_t calls) override {
    const auto begin = std::chrono::steady_clock::now();
    for (std::int64_t i = 0; i < calls; ++i) primitive_.execute(stream_, memories_);
    stream_.wait();
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  }

  std::string implementation() const override { return desc_.impl_info_str(); }
  std::vector<std::uint64_t> operand_bytes() const override { return bytes_; }

 private:
  dnnl::primitive_desc desc_;
  dnnl::primitive primitive_;
  dnnl::stream stream_;
  std::unordered_map<int, memory> memories_;
  std::vector<std::uint64_t> bytes_;
};

}  // namespace

std::unique_ptr<PlainPrimitive> PlainPrimitive::of(const hbmark_gemm_problem& p, const std::vector<void*>& addresses) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  // Column-major C = A B is row-major C' = B' A'.
  const auto plain = [](std::int64_t rows, std::int64_t columns, bool transposed) {
    return memory::desc({rows, columns}, memory::data_type::f32, transposed ? Tag::ba : Tag::ab);
  };
  const dnnl::primitive_desc desc =
      onednn::matmul_desc(engine, plain(p.n, p.k, p.trans_b != 0), plain(p.k, p.m, p.trans_a != 0), plain(p.n, p.m, false),
                          onednn::strict_attributes());
  return std::make_unique<Primitive>(engine, desc, std::vector<int>{DNNL_ARG_WEIGHTS, DNNL_ARG_SRC, DNNL_ARG_DST},
                                     addresses);
}

std::unique_ptr<PlainPrimitive> PlainPrimitive::of(const hbmark_conv_problem& p, const std::vector<void*>& addresses) {
  const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  const auto any = [](const memory::dims& dims) { return memory::desc(dims, memory::data_type::f32, Tag::any); };
  ConvolutionShape shape;
  shape.src = any({p.n, p.c, p.h, p.w});
  shape.weights = any({p.k, p.c, p.r, p.s});
  shape.dst = any({p.n, p.k, (p.h + 2 * p.ph - p.r) / p.sh + 1, (p.w + 2 * p.pw - p.s) / p.sw + 1});
  shape.strides = {p.sh, p.sw};
  shape.dilates = {0, 0};
  shape.padding = {p.ph, p.pw};
  shape.algorithm = dnnl::algorithm::convolution_direct;
  const dnnl::primitive_attr attr = onednn::strict_attributes();
  const dnnl::convolution_forward::primitive_desc forward = onednn::forward_desc(engine, shape, attr);
  switch (p.pass) {
    case HBMARK_CONV_BWD_DATA:
      return std::make_unique<Primitive>(engine, onednn::backward_data_desc(engine, shape, attr, forward),
                                         std::vector<int>{DNNL_ARG_DIFF_DST, DNNL_ARG_WEIGHTS, DNNL_ARG_DIFF_SRC},
                                         addresses);
    case HBMARK_CONV_BWD_WEIGHTS:
      return std::make_unique<Primitive>(engine, onednn::backward_weights_desc(engine, shape, attr, forward),
                                         std::vector<int>{DNNL_ARG_SRC, DNNL_ARG_DIFF_DST, DNNL_ARG_DIFF_WEIGHTS},
                                         addresses);
    default:
      return std::make_unique<Primitive>(engine, forward, std::vector<int>{DNNL_ARG_SRC, DNNL_ARG_WEIGHTS, DNNL_ARG_DST},
                                         addresses);
  }
}

}  // namespace hbmark::perf
