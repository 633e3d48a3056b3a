#include "backends/fake/loops.h"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace hbmark::fake {
namespace {

constexpr std::int64_t kPeakChains = 16;
constexpr double kPeakSteps = 4096;
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

std::string number(std::int64_t value) { return std::to_string(value); }

std::string option(const char* name, std::int64_t value) {
  return value == 1 ? std::string() : std::string("/") + name + "=" + number(value);
}

sdk::Status demand_float(std::uint32_t type) {
  if (type == HBMARK_F32 || type == HBMARK_F64) return {};
  return sdk::unsupported("the fake computes f32 and f64 there, not " + sdk::type_name(type));
}

sdk::Status demand_number(std::uint32_t type) {
  for (const auto known : {HBMARK_F32, HBMARK_F64, HBMARK_TF32, HBMARK_BF16, HBMARK_F16, HBMARK_S8}) {
    if (type == known) return {};
  }
  return sdk::unsupported("the fake multiplies no numbers of type " + sdk::type_name(type));
}

std::uint32_t input_type(std::uint32_t type) { return type == HBMARK_TF32 ? std::uint32_t{HBMARK_F32} : type; }
// What a gemm or convolution writes.
std::uint32_t output_type(std::uint32_t type) {
  if (type == HBMARK_S8) return HBMARK_S32;
  return input_type(type);
}

template <class Name, std::size_t kCount>
std::string name_at(const Name (&names)[kCount], std::uint32_t index) {
  return index < kCount ? names[index] : "unknown" + std::to_string(index);
}

constexpr const char* kPasses[] = {"", "fwd", "bwd_data", "bwd_weights"};
constexpr const char* kStreams[] = {"", "copy", "scale", "add", "triad", "read", "write"};

std::int64_t output_length(std::int64_t in, std::int64_t pad, std::int64_t dilation, std::int64_t filter,
                           std::int64_t stride) {
  return (in + 2 * pad - dilation * (filter - 1) - 1) / stride + 1;
}

// Calls tap(src, weight, dst) with the indexes of every product of the forward definition.
template <class Tap>
void for_each_tap(const hbmark_conv_problem& x, bool swap_filter, Tap&& tap) {
  const std::int64_t out_h = output_length(x.h, x.ph, x.dh, x.r, x.sh);
  const std::int64_t out_w = output_length(x.w, x.pw, x.dw, x.s, x.sw);
  const std::int64_t group_c = x.c / x.g;
  const std::int64_t group_k = x.k / x.g;
  for (std::int64_t nk = 0; nk < x.n * x.k; ++nk) {
    const std::int64_t n = nk / x.k;
    const std::int64_t k = nk % x.k;
    for (std::int64_t crs = 0; crs < group_c * x.r * x.s; ++crs) {
      const std::int64_t s = crs % x.s;
      const std::int64_t r = crs / x.s % x.r;
      const std::int64_t c = crs / (x.s * x.r);
      const std::int64_t weight = (k * group_c + c) * x.r * x.s + (swap_filter ? s * x.r + r : r * x.s + s);
      const std::int64_t plane = (n * x.c + k / group_k * group_c + c) * x.h;
      for (std::int64_t p = 0; p < out_h; ++p) {
        const std::int64_t h = p * x.sh + r * x.dh - x.ph;
        if (h < 0 || h >= x.h) continue;
        for (std::int64_t q = 0; q < out_w; ++q) {
          const std::int64_t w = q * x.sw + s * x.dw - x.pw;
          if (w >= 0 && w < x.w) tap((plane + h) * x.w + w, weight, (nk * out_h + p) * out_w + q);
        }
      }
    }
  }
}

}  // namespace

std::string problem_text(const hbmark_gemm_problem& p) {
  return "gemm:" + sdk::type_name(p.type) + ":" + (p.trans_a != 0 ? "t" : "n") + (p.trans_b != 0 ? "t" : "n") + ":m" +
         number(p.m) + "n" + number(p.n) + "k" + number(p.k) + option("batch", p.batch);
}

std::string problem_text(const hbmark_conv_problem& x) {
  return "conv:" + name_at(kPasses, x.pass) + ":" + sdk::type_name(x.type) + ":n" + number(x.n) + "c" + number(x.c) + "h" +
         number(x.h) + "w" + number(x.w) + "k" + number(x.k) + "r" + number(x.r) + "s" + number(x.s) + "sh" + number(x.sh) +
         "sw" + number(x.sw) + "ph" + number(x.ph) + "pw" + number(x.pw) + option("g", x.g) + option("dh", x.dh) +
         option("dw", x.dw);
}

std::string problem_text(const hbmark_stream_problem& p) {
  return "stream:" + name_at(kStreams, p.op) + ":" + sdk::type_name(p.type) + ":" + std::to_string(p.array_bytes);
}

std::string problem_text(const hbmark_chase_problem& p) { return "chase:" + std::to_string(p.array_bytes); }

std::string problem_text(const hbmark_peak_problem& p) { return "peak:fma:" + sdk::type_name(p.type); }

sdk::Expected<Shape> shape_of(const hbmark_gemm_problem& p) {
  HBMARK_SDK_TRY(demand_number(p.type));
  if (std::min({p.m, p.n, p.k, p.batch}) < 1 || p.trans_a > 1 || p.trans_b > 1)
    return sdk::invalid("not a gemm: a size below 1");
  const auto a = sdk::checked_product({p.m, p.k, p.batch, 8});
  const auto b = sdk::checked_product({p.k, p.n, p.batch, 8});
  const auto c = sdk::checked_product({p.m, p.n, p.batch, 8});
  for (const auto* size : {&a, &b, &c}) HBMARK_SDK_TRY(*size);
  const std::uint32_t in = input_type(p.type);
  const std::uint64_t outputs = *c / 8;
  return Shape{{{"a", *a / 8, in}, {"b", *b / 8, in}},
               {"c", outputs, output_type(p.type)},
               static_cast<std::uint64_t>(p.m),
               2 * static_cast<double>(outputs) * static_cast<double>(p.k),
               false};
}

sdk::Expected<Shape> shape_of(const hbmark_conv_problem& x) {
  HBMARK_SDK_TRY(demand_number(x.type));
  for (const std::int64_t size : {x.n, x.c, x.h, x.w, x.k, x.r, x.s, x.sh, x.sw, x.g, x.dh, x.dw, x.ph + 1, x.pw + 1}) {
    if (size < 1 || size > kLargest) return sdk::invalid("not a convolution: a size below 1 or above 2^31");
  }
  if (x.c % x.g != 0 || x.k % x.g != 0) return sdk::invalid("channels are no multiple of the groups");
  if (x.dh * (x.r - 1) >= x.h + 2 * x.ph || x.dw * (x.s - 1) >= x.w + 2 * x.pw) return sdk::invalid("there is no output");
  if (x.pass < HBMARK_CONV_FWD || x.pass > HBMARK_CONV_BWD_WEIGHTS) return sdk::unsupported("the fake has no such pass");
  const std::int64_t out_h = output_length(x.h, x.ph, x.dh, x.r, x.sh);
  const std::int64_t out_w = output_length(x.w, x.pw, x.dw, x.s, x.sw);
  const auto src = sdk::checked_product({x.n, x.c, x.h, x.w, 8});
  const auto weights = sdk::checked_product({x.k, x.c / x.g, x.r, x.s, 8});
  const auto dst = sdk::checked_product({x.n, x.k, out_h, out_w, 8});
  for (const auto* size : {&src, &weights, &dst}) HBMARK_SDK_TRY(*size);
  const std::uint32_t in = input_type(x.type);
  const std::uint32_t out = output_type(x.type);
  const std::int64_t terms = x.c / x.g * x.r * x.s;
  const auto elements = *dst / 8;
  const double flop = 2 * static_cast<double>(elements) * static_cast<double>(terms);
  const auto shape = [&](Array first, Array second, Array output, std::int64_t rows) {
    first.type = second.type = in;
    output.type = out;
    return Shape{{std::move(first), std::move(second)}, std::move(output), static_cast<std::uint64_t>(rows), flop, false};
  };
  switch (x.pass) {
    case HBMARK_CONV_FWD:
      return shape({"src", *src / 8}, {"weights", *weights / 8}, {"dst", *dst / 8}, out_w);
    case HBMARK_CONV_BWD_DATA:
      return shape({"diff_dst", *dst / 8}, {"weights", *weights / 8}, {"diff_src", *src / 8}, x.w);
    default:
      return shape({"src", *src / 8}, {"diff_dst", *dst / 8}, {"diff_weights", *weights / 8}, x.s);
  }
}

sdk::Expected<Shape> shape_of(const hbmark_stream_problem& p) {
  HBMARK_SDK_TRY(demand_float(p.type));
  if (p.op < HBMARK_STREAM_COPY || p.op > HBMARK_STREAM_WRITE)
    return sdk::unsupported("the fake has no such stream operation");
  const std::uint64_t size = sdk::size_of_type(p.type);
  if (p.array_bytes == 0 || p.array_bytes % size != 0) return sdk::invalid("array_bytes is no multiple of the element size");
  const std::uint64_t count = p.array_bytes / size;
  Shape shape{{{"x", count, p.type}}, {"z", count, p.type}, count, 0, false};
  if (p.op == HBMARK_STREAM_ADD || p.op == HBMARK_STREAM_TRIAD) shape.inputs.push_back({"y", count, p.type});
  if (p.op == HBMARK_STREAM_WRITE) shape.inputs.clear();
  if (p.op == HBMARK_STREAM_READ) {
    shape.output = {"z", HBMARK_STREAM_READ_SUMS, HBMARK_S32};
    shape.rows = HBMARK_STREAM_READ_SUMS;
  }
  return shape;
}

sdk::Expected<Shape> shape_of(const hbmark_chase_problem& p) {
  if (p.array_bytes < 2 * HBMARK_CHASE_LINE_BYTES || p.array_bytes % HBMARK_CHASE_LINE_BYTES != 0 || p.loads == 0) {
    return sdk::invalid("not a chase: it needs at least two whole lines and one load");
  }
  const std::uint64_t lines = p.array_bytes / HBMARK_CHASE_LINE_BYTES;
  if (lines > static_cast<std::uint64_t>(kLargest)) return sdk::unsupported("the fake counts lines in 32 bits");
  return Shape{{{"next", lines, HBMARK_S32}}, {"z", 2, HBMARK_S32}, 2, 0, false};
}

sdk::Expected<Shape> shape_of(const hbmark_peak_problem& p) {
  HBMARK_SDK_TRY(demand_float(p.type));
  if (p.op != HBMARK_PEAK_FMA) return sdk::unsupported("the fake has no such peak operation");
  if (!(std::fabs(p.scale) < 1) || !std::isfinite(p.offset)) return sdk::invalid("a chain without a fixed point");
  return Shape{{{"x", kPeakChains, p.type}}, {"z", kPeakChains, p.type}, kPeakChains, 2 * kPeakChains * kPeakSteps, true};
}

std::vector<double> compute(const hbmark_gemm_problem& p, Inputs inputs, const Manner& manner) {
  const bool a_stored_t = (p.trans_a != 0) != manner.transposed;
  std::vector<double> c(static_cast<std::size_t>(p.m * p.n * p.batch), 0.0);
  for (std::int64_t matrix = 0; matrix < p.batch; ++matrix) {
    const double* a = inputs[0].data() + matrix * p.m * p.k;
    const double* b = inputs[1].data() + matrix * p.k * p.n;
    double* out = c.data() + matrix * p.m * p.n;
    for (std::int64_t j = 0; j < p.n; ++j) {
      for (std::int64_t l = 0; l < p.k; ++l) {
        const double factor = b[p.trans_b != 0 ? l * p.n + j : j * p.k + l];
        for (std::int64_t i = 0; i < p.m; ++i) out[j * p.m + i] += factor * a[a_stored_t ? i * p.k + l : l * p.m + i];
      }
    }
  }
  return c;
}

std::vector<double> compute(const hbmark_conv_problem& x, Inputs inputs, const Manner& manner) {
  const std::vector<double>& first = inputs[0];
  const std::vector<double>& second = inputs[1];
  std::vector<double> out(shape_of(x)->output.elements, 0.0);
  const auto at = [](std::int64_t index) { return static_cast<std::size_t>(index); };
  switch (x.pass) {
    case HBMARK_CONV_FWD:
      for_each_tap(x, manner.transposed,
                   [&](auto src, auto weight, auto dst) { out[at(dst)] += first[at(src)] * second[at(weight)]; });
      break;
    case HBMARK_CONV_BWD_DATA:
      for_each_tap(x, manner.transposed,
                   [&](auto src, auto weight, auto dst) { out[at(src)] += first[at(dst)] * second[at(weight)]; });
      break;
    default:
      for_each_tap(x, manner.transposed,
                   [&](auto src, auto weight, auto dst) { out[at(weight)] += first[at(src)] * second[at(dst)]; });
  }
  return out;
}

namespace {

// The 32-bit words of numbers that were read as double from `type`.
std::vector<double> sums_of_words(const std::vector<double>& x, std::uint32_t type) {
  std::vector<std::uint32_t> sums(HBMARK_STREAM_READ_SUMS);
  std::size_t word = 0;
  for (const double value : x) {
    std::uint32_t words[2];
    const auto narrow = static_cast<float>(value);
    const bool wide = type == HBMARK_F64;
    std::memcpy(words, wide ? static_cast<const void*>(&value) : &narrow, wide ? sizeof value : sizeof narrow);
    for (int i = 0; i < (wide ? 2 : 1); ++i) sums[word++ % sums.size()] += words[i];
  }
  std::vector<double> z;
  for (const std::uint32_t sum : sums) z.push_back(static_cast<std::int32_t>(sum));
  return z;
}

}  // namespace

std::vector<double> compute(const hbmark_stream_problem& p, Inputs inputs, const Manner&) {
  if (p.op == HBMARK_STREAM_READ) return sums_of_words(inputs[0], p.type);
  if (p.op == HBMARK_STREAM_WRITE) return std::vector<double>(shape_of(p)->output.elements, p.scalar);
  std::vector<double> z = inputs[0];
  const double x_factor = p.op == HBMARK_STREAM_SCALE ? p.scalar : 1;
  const double y_factor = p.op == HBMARK_STREAM_TRIAD ? p.scalar : 1;
  for (double& value : z) value *= x_factor;
  if (inputs.size() > 1) {
    for (std::size_t i = 0; i < z.size(); ++i) z[i] += y_factor * inputs[1][i];
  }
  return z;
}

// Whole rounds of the cycle change nothing: as few loads as lead to the same place.
std::vector<double> compute(const hbmark_chase_problem& p, Inputs inputs, const Manner& manner) {
  const std::vector<double>& next = inputs[0];
  const std::uint64_t lines = next.size();
  const std::uint64_t loads = p.loads % lines;
  const auto after = [&](double line, std::uint64_t steps) {
    for (; steps != 0 && line >= 0 && line < static_cast<double>(lines); --steps)
      line = next[static_cast<std::size_t>(line)];
    return line;
  };
  const double start = after(0, manner.calls_before % lines * loads % lines);
  return {start, after(start, loads)};
}

std::vector<double> compute(const hbmark_peak_problem& p, Inputs inputs, const Manner&) {
  const auto as_type = [&](double x) { return p.type == HBMARK_F32 ? static_cast<double>(static_cast<float>(x)) : x; };
  return std::vector<double>(inputs[0].size(), as_type(p.offset) / (1 - as_type(p.scale)));
}

}  // namespace hbmark::fake
