// conv: two-dimensional convolution (cross-correlation) with zero padding, forward and both gradients; input n,c,h,w,
// filters k,c/g,r,s, output n,k,p,q.
#include "backends/abi/conv.h"

#include <fmt/format.h>

#include <limits>

#include "bench/kernels/abi_bytes.h"
#include "bench/kernels/check.h"
#include "bench/kernels/conv_shape.h"
#include "bench/kernels/fields.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark {

ConvShape::ConvShape(const Problem& problem)
    : n(problem.number("n")),
      c(problem.number("c")),
      h(problem.number("h")),
      w(problem.number("w")),
      k(problem.number("k")),
      r(problem.number("r")),
      s(problem.number("s")),
      sh(problem.number("sh")),
      sw(problem.number("sw")),
      ph(problem.number("ph")),
      pw(problem.number("pw")),
      g(problem.number("g")),
      dh(problem.number("dh")),
      dw(problem.number("dw")) {
  const auto& word = problem.word("pass");
  pass = word == "fwd" ? ConvPass::kForward : word == "bwd_data" ? ConvPass::kBackwardData : ConvPass::kBackwardWeights;
  // Every number is below 2^31, so that nothing here passes 2^63.
  const std::int64_t room_h = h + 2 * ph - dh * (r - 1) - 1, room_w = w + 2 * pw - dw * (s - 1) - 1;
  p = room_h < 0 ? 0 : room_h / sh + 1;
  q = room_w < 0 ? 0 : room_w / sw + 1;
}

namespace {

constexpr std::string_view kExample = "conv:fwd:f32:n32c64h56w56k64r3s3sh1sw1ph1pw1";
constexpr std::int64_t kMaxExactReduction = std::numeric_limits<std::int32_t>::max() / (127 * 127);

tl::unexpected<Error> impossible(std::string what, std::string why, std::string next) {
  return usage_error(std::move(what), std::move(why), fmt::format("{}: {}", next, kExample));
}

Status validate_axis(std::string_view axis, std::int64_t size, std::int64_t pad, std::int64_t dilation, std::int64_t filter,
                     std::string_view filter_name, std::int64_t outputs) {
  if (outputs >= 1) return {};
  return impossible(fmt::format("its output has no {}", axis),
                    fmt::format("the filter ({}={}) covers {} elements, the padded input has {}", filter_name, filter,
                                dilation * (filter - 1) + 1, size + 2 * pad),
                    "give a larger input or padding, or a smaller filter");
}

Status validate(const Problem& problem) {
  const ConvShape shape(problem);
  if (shape.c % shape.g != 0 || shape.k % shape.g != 0) {
    return impossible("its groups do not divide its channels",
                      fmt::format("g={} must divide c={} and k={}", shape.g, shape.c, shape.k),
                      "give another g, or leave it out");
  }
  if (auto status = validate_axis("rows", shape.h, shape.ph, shape.dh, shape.r, "r", shape.p); !status) return status;
  if (auto status = validate_axis("columns", shape.w, shape.pw, shape.dw, shape.s, "s", shape.q); !status) return status;
  const auto length = shape.pass == ConvPass::kForward        ? check::product({shape.channels_in(), shape.r, shape.s})
                      : shape.pass == ConvPass::kBackwardData ? check::product({shape.channels_out(), shape.r, shape.s})
                                                              : check::product({shape.n, shape.p, shape.q});
  if (problem.word("type") == "s8" && length > static_cast<std::uint64_t>(kMaxExactReduction)) {
    return impossible("its 32-bit sums may overflow",
                      fmt::format("{} products make one; with s8 at most {}", length, kMaxExactReduction),
                      "give a smaller problem, or another type");
  }
  if (problem.word("layout") != "any") {
    return impossible(
        "no backend can be held to a layout yet",
        fmt::format("option layout is \"{}\"; each library chooses its own, and it is recorded", problem.word("layout")),
        "leave the option out");
  }
  return {};
}

// One call, every pass: 2 n k p q (c/g) r s: all three passes contract the same products of one input, one filter and one
// output element. Products with zero padding count as if they were made. This is DeepBench's rule, in every one of its
// published sheets, so that rates compare.
std::optional<double> flop(const Problem& problem) {
  const ConvShape shape(problem);
  double total = 2;
  for (const auto factor : {shape.n, shape.k, shape.p, shape.q, shape.channels_in(), shape.r, shape.s}) {
    total *= static_cast<double>(factor);
  }
  return total;
}

std::vector<OperandSpec> operands(const Problem& problem) {
  const ConvShape shape(problem);
  const auto& type = *find_type(problem.word("type"));
  const auto image = check::product({shape.n, shape.c, shape.h, shape.w});
  const auto filters = check::product({shape.k, shape.channels_in(), shape.r, shape.s});
  const auto result = check::product({shape.n, shape.k, shape.p, shape.q});
  switch (shape.pass) {
    case ConvPass::kForward:
      return {
          {"src", type.input, image, false}, {"weights", type.input, filters, false}, {"dst", type.output, result, true}};
    case ConvPass::kBackwardData:
      return {{"diff_dst", type.input, result, false},
              {"weights", type.input, filters, false},
              {"diff_src", type.output, image, true}};
    default:
      return {{"src", type.input, image, false},
              {"diff_dst", type.input, result, false},
              {"diff_weights", type.output, filters, true}};
  }
}

// One call: each of the three operands moved once, without padding: n c h w, k (c/g) r s and n k p q elements.
std::optional<double> bytes(const Problem& problem) {
  double total = 0;
  for (const auto& operand : operands(problem)) {
    total += static_cast<double>(operand.elements) * static_cast<double>(element_bytes(operand.type));
  }
  return total;
}

std::vector<std::byte> to_abi(const Problem& problem) {
  const ConvShape shape(problem);
  hbmark_conv_problem abi{};
  abi.struct_size = sizeof(abi);
  abi.type = find_type(problem.word("type"))->problem;
  abi.pass = shape.pass == ConvPass::kForward        ? HBMARK_CONV_FWD
             : shape.pass == ConvPass::kBackwardData ? HBMARK_CONV_BWD_DATA
                                                     : HBMARK_CONV_BWD_WEIGHTS;
  abi.n = shape.n;
  abi.c = shape.c;
  abi.h = shape.h;
  abi.w = shape.w;
  abi.k = shape.k;
  abi.r = shape.r;
  abi.s = shape.s;
  abi.sh = shape.sh;
  abi.sw = shape.sw;
  abi.ph = shape.ph;
  abi.pw = shape.pw;
  abi.g = shape.g;
  abi.dh = shape.dh;
  abi.dw = shape.dw;
  return abi_bytes(abi);
}

std::vector<FieldSpec> grammar() {
  return {fields::word("pass", "direction", {"fwd", "bwd_data", "bwd_weights"}, "fwd"),
          fields::word("type", "number type", type_words(), "f32"),
          fields::dimension("n", "images"),
          fields::dimension("c", "input channels"),
          fields::dimension("h", "input height"),
          fields::dimension("w", "input width"),
          fields::dimension("k", "output channels"),
          fields::dimension("r", "filter height", 1, {"filter_h"}),
          fields::dimension("s", "filter width", 1, {"filter_w"}),
          fields::dimension("sh", "vertical stride", 1, {"stride_h"}),
          fields::dimension("sw", "horizontal stride", 1, {"stride_w"}),
          fields::dimension("ph", "padding above and below", 0, {"pad_h"}),
          fields::dimension("pw", "padding left and right", 0, {"pad_w"}),
          fields::option("g", "groups", {"groups"}),
          fields::option("dh", "vertical dilation, 1 is dense", {"dilation_h"}),
          fields::option("dw", "horizontal dilation, 1 is dense", {"dilation_w"}),
          fields::option_word("layout", "layout of images; any: the library's choice", {"any", "nchw", "nhwc"})};
}

}  // namespace

const KernelSpec& conv_kernel() {
  static const KernelSpec spec{.name = "conv",
                               .capability = HBMARK_CONV_V1,
                               .summary = "two-dimensional convolution: forward, backward data, backward weights",
                               .example = kExample,
                               .grammar = grammar(),
                               .validate = validate,
                               .flop = flop,
                               .bytes = bytes,
                               .operands = operands,
                               .to_abi = to_abi,
                               .check = check::conv};
  return spec;
}

}  // namespace hbmark
