// conv through oneDNN's convolution, all three passes, in the layouts the library prefers.
#include <algorithm>

#include "backends/onednn/compat.h"
#include "backends/onednn/failure.h"
#include "backends/onednn/onednn_backend.h"

namespace hbmark::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

std::int64_t output_size(std::int64_t in, std::int64_t filter, std::int64_t stride, std::int64_t pad,
                         std::int64_t dilation) {
  const std::int64_t room = in + 2 * pad - (dilation * (filter - 1) + 1);
  return room < 0 ? 0 : room / stride + 1;
}

struct Shape {
  memory::dims src, weights, dst;
};

sdk::Expected<Shape> shape_of(const hbmark_conv_problem& p) {
  if (p.pass < HBMARK_CONV_FWD || p.pass > HBMARK_CONV_BWD_WEIGHTS) {
    return sdk::unsupported("convolution pass " + std::to_string(p.pass) + " is none of fwd, bwd_data and bwd_weights");
  }
  constexpr std::int64_t kMax = std::int64_t{1} << 31;  // sums of these cannot overflow; oneDNN's kernels count in 32 bits
  for (const std::int64_t size : {p.n, p.c, p.h, p.w, p.k, p.r, p.s, p.sh, p.sw, p.g, p.dh, p.dw}) {
    if (size < 1 || size >= kMax)
      return sdk::unsupported("sizes, strides, groups and dilations must be at least 1 and below 2^31");
  }
  if (p.ph < 0 || p.pw < 0 || p.ph >= kMax || p.pw >= kMax)
    return sdk::unsupported("padding must be at least 0 and below 2^31");
  if (p.c % p.g != 0 || p.k % p.g != 0) {
    return sdk::unsupported(std::to_string(p.g) + " groups divide neither or only one of " + std::to_string(p.c) +
                            " input and " + std::to_string(p.k) + " output channels");
  }
  if (p.dh * (p.r - 1) >= kMax || p.dw * (p.s - 1) >= kMax) return sdk::unsupported("the dilated filter is too large");
  const std::int64_t height = output_size(p.h, p.r, p.sh, p.ph, p.dh);
  const std::int64_t width = output_size(p.w, p.s, p.sw, p.pw, p.dw);
  if (height < 1 || width < 1) return sdk::unsupported("the filter is larger than the padded input: the output is empty");
  Shape shape;
  shape.src = {p.n, p.c, p.h, p.w};
  shape.weights = p.g > 1 ? memory::dims{p.g, p.k / p.g, p.c / p.g, p.r, p.s} : memory::dims{p.k, p.c, p.r, p.s};
  shape.dst = {p.n, p.k, height, width};
  HBMARK_SDK_TRY(sdk::checked_product({p.n, p.c, p.h, p.w, 8}));
  HBMARK_SDK_TRY(sdk::checked_product({p.k, p.c / p.g, p.r, p.s, 8}));
  HBMARK_SDK_TRY(sdk::checked_product({p.n, p.k, height, width, 8}));
  return shape;
}

dnnl::primitive_desc describe(const Context& context, std::uint32_t pass, const ConvolutionShape& shape) {
  const dnnl::primitive_attr attr = strict_attributes();
  auto forward = forward_desc(context.engine, shape, attr);
  if (pass == HBMARK_CONV_BWD_DATA) return backward_data_desc(context.engine, shape, attr, forward);
  if (pass == HBMARK_CONV_BWD_WEIGHTS) return backward_weights_desc(context.engine, shape, attr, forward);
  return forward;
}

std::vector<Tensor> tensors_of(const hbmark_conv_problem& p, const memory::desc& src, const memory::desc& weights,
                               const memory::desc& dst) {
  const std::uint32_t type = p.type;
  switch (p.pass) {
    case HBMARK_CONV_BWD_DATA:
      return {{"diff_dst", HBMARK_INPUT, type, DNNL_ARG_DIFF_DST, dst},
              {"weights", HBMARK_INPUT, type, DNNL_ARG_WEIGHTS, weights},
              {"diff_src", HBMARK_OUTPUT, type, DNNL_ARG_DIFF_SRC, src}};
    case HBMARK_CONV_BWD_WEIGHTS:
      return {{"src", HBMARK_INPUT, type, DNNL_ARG_SRC, src},
              {"diff_dst", HBMARK_INPUT, type, DNNL_ARG_DIFF_DST, dst},
              {"diff_weights", HBMARK_OUTPUT, type, DNNL_ARG_DIFF_WEIGHTS, weights}};
    default:
      return {{"src", HBMARK_INPUT, type, DNNL_ARG_SRC, src},
              {"weights", HBMARK_INPUT, type, DNNL_ARG_WEIGHTS, weights},
              {"dst", HBMARK_OUTPUT, output_type(type), DNNL_ARG_DST, dst}};
  }
}

// Candidate 0 is the direct algorithm; the library's own choice and Winograd follow where they are another implementation.
void add_others(const Context& context, std::uint32_t pass, ConvolutionShape shape, Recipe& recipe) {
  const std::pair<dnnl::algorithm, const char*> others[] = {{dnnl::algorithm::convolution_auto, "auto"},
                                                            {dnnl::algorithm::convolution_winograd, "winograd"}};
  for (const auto& [algorithm, name] : others) {
    shape.algorithm = algorithm;
    try {
      const dnnl::primitive_desc desc = describe(context, pass, shape);
      const std::string implementation = desc.impl_info_str();
      const bool known = std::any_of(recipe.algorithms.begin(), recipe.algorithms.end(),
                                     [&](const Algorithm& each) { return implementation == each.desc.impl_info_str(); });
      if (!known) recipe.algorithms.push_back({std::string(name) + " (" + implementation + ")", desc});
    } catch (const dnnl::error&) {
      // This library has no such algorithm for this problem; direct is there.
    }
  }
}

}  // namespace

sdk::Expected<Recipe> convolution_recipe(const Context& context, const hbmark_conv_problem& given) {
  hbmark_conv_problem problem = given;
  for (std::int64_t* option : {&problem.g, &problem.dh, &problem.dw}) {
    if (*option == 0) *option = 1;  // a host from before these options
  }
  const sdk::Expected<Shape> shape = shape_of(problem);
  HBMARK_SDK_TRY(shape);
  HBMARK_SDK_TRY(type_supported(context, problem.type));
  if (problem.type == HBMARK_S8 && problem.pass != HBMARK_CONV_FWD) {
    return sdk::unsupported("s8 is a type of inference: forward only");
  }
  const memory::data_type in = *data_type_of(problem.type);
  const memory::data_type out = *data_type_of(output_type(problem.type));
  const std::string what = context.library + " has no convolution of " + sdk::type_name(problem.type) +
                           " for this pass and shape on " + context.isa;
  return creating(what, [&]() -> sdk::Expected<Recipe> {
    const Tag weights_tag = problem.g > 1 ? Tag::goihw : Tag::oihw;
    ConvolutionShape any;
    any.src = memory::desc(shape->src, in, Tag::any);
    any.weights = memory::desc(shape->weights, in, Tag::any);
    any.dst = memory::desc(shape->dst, out, Tag::any);
    any.strides = {problem.sh, problem.sw};
    any.dilates = {problem.dh - 1, problem.dw - 1};
    any.padding = {problem.ph, problem.pw};
    any.algorithm = dnnl::algorithm::convolution_direct;
    Recipe recipe;
    recipe.tensors = tensors_of(problem, memory::desc(shape->src, in, Tag::nchw),
                                memory::desc(shape->weights, in, weights_tag), memory::desc(shape->dst, out, Tag::nchw));
    const dnnl::primitive_desc direct = describe(context, problem.pass, any);
    recipe.algorithms.push_back({std::string("direct (") + direct.impl_info_str() + ")", direct});
    add_others(context, problem.pass, any, recipe);
    return recipe;
  });
}

std::vector<std::string> convolution_letters(const hbmark_conv_problem& problem) {
  const std::string image = "nchw";
  const std::string filters = problem.g > 1 ? "goihw" : "oihw";
  if (problem.pass == HBMARK_CONV_BWD_DATA) return {image, filters, image};
  if (problem.pass == HBMARK_CONV_BWD_WEIGHTS) return {image, image, filters};
  return {image, filters, image};
}

}  // namespace hbmark::onednn
