#include "backends/reference/cases.h"
#include "backends/reference/elements.h"

namespace hbmark::reference {
namespace {

// Larger than any convolution that makes sense, small enough that no coordinate below overflows.
constexpr std::int64_t kLargest = std::int64_t{1} << 31;

std::int64_t output_length(std::int64_t in, std::int64_t pad, std::int64_t dilation, std::int64_t filter,
                           std::int64_t stride) {
  const std::int64_t room = in + 2 * pad - dilation * (filter - 1) - 1;
  return room < 0 ? 0 : room / stride + 1;
}

struct Sizes {
  std::int64_t out_h = 0, out_w = 0;
  std::int64_t src = 0, weights = 0, dst = 0;  // elements
};

sdk::Expected<Sizes> measure(const hbmark_conv_problem& x) {
  Sizes sizes;
  sizes.out_h = output_length(x.h, x.ph, x.dh, x.r, x.sh);
  sizes.out_w = output_length(x.w, x.pw, x.dw, x.s, x.sw);
  constexpr std::int64_t kLargestElement = sizeof(double);  // so that the bytes fit as well
  const auto src = sdk::checked_product({x.n, x.c, x.h, x.w, kLargestElement});
  const auto weights = sdk::checked_product({x.k, x.c / x.g, x.r, x.s, kLargestElement});
  const auto dst = sdk::checked_product({x.n, x.k, sizes.out_h, sizes.out_w, kLargestElement});
  for (const auto* size : {&src, &weights, &dst}) HBMARK_SDK_TRY(*size);
  sizes.src = static_cast<std::int64_t>(*src) / kLargestElement;
  sizes.weights = static_cast<std::int64_t>(*weights) / kLargestElement;
  sizes.dst = static_cast<std::int64_t>(*dst) / kLargestElement;
  return sizes;
}

// Operands 0, 1 and 2 are in the order of the contract, which differs by pass; `src`, `weights` and `dst` below are the
// three tensors of the forward definition, whichever of them is computed.
class ConvCase final : public PlainCase {
 public:
  ConvCase(const hbmark_conv_problem& problem, const sdk::Host& host)
      : PlainCase(host), x_(problem), sizes_(*measure(problem)), c_(x_.c / x_.g), k_(x_.k / x_.g) {}

  std::vector<sdk::Operand> operands() const override {
    const ElementSizes element = sizes_of(x_.type);
    const auto in = [&](const char* name, std::int64_t elements) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * element.input_bytes;
      return sdk::Operand{name, HBMARK_INPUT, sizes_of(x_.type).input_type, bytes, bytes};
    };
    const auto out = [&](const char* name, std::int64_t elements) {
      const std::uint64_t bytes = static_cast<std::uint64_t>(elements) * element.output_bytes;
      return sdk::Operand{name, HBMARK_OUTPUT, element.output_type, bytes, bytes};
    };
    switch (x_.pass) {
      case HBMARK_CONV_FWD:
        return {in("src", sizes_.src), in("weights", sizes_.weights), out("dst", sizes_.dst)};
      case HBMARK_CONV_BWD_DATA:
        return {in("diff_dst", sizes_.dst), in("weights", sizes_.weights), out("diff_src", sizes_.src)};
      default:
        return {in("src", sizes_.src), in("diff_dst", sizes_.dst), out("diff_weights", sizes_.weights)};
    }
  }

 private:
  void compute() override {
    visit_type(x_.type, [&](auto t) {
      using T = decltype(t);
      if (x_.pass == HBMARK_CONV_FWD) forward<T>();
      if (x_.pass == HBMARK_CONV_BWD_DATA) backward_data<T>();
      if (x_.pass == HBMARK_CONV_BWD_WEIGHTS) backward_weights<T>();
    });
  }

  // Channels counted over all groups.
  std::int64_t src_at(std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w) const {
    return ((n * x_.c + c) * x_.h + h) * x_.w + w;
  }
  std::int64_t dst_at(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) const {
    return ((n * x_.k + k) * sizes_.out_h + p) * sizes_.out_w + q;
  }
  // k over all groups, c within its group.
  std::int64_t weight_at(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) const {
    return ((k * c_ + c) * x_.r + r) * x_.s + s;
  }

  template <class T>
  void forward() {
    const auto* src = buffer(0).as<typename T::Input>();
    const auto* weights = buffer(1).as<typename T::Input>();
    auto* dst = buffer(2).as<typename T::Output>();
    for (std::int64_t n = 0; n < x_.n; ++n)
      for (std::int64_t k = 0; k < x_.k; ++k)
        for (std::int64_t p = 0; p < sizes_.out_h; ++p)
          for (std::int64_t q = 0; q < sizes_.out_w; ++q) {
            double sum = 0;
            for (std::int64_t c = 0; c < c_; ++c)
              for (std::int64_t r = 0; r < x_.r; ++r)
                for (std::int64_t s = 0; s < x_.s; ++s) {
                  const std::int64_t h = p * x_.sh - x_.ph + r * x_.dh;
                  const std::int64_t w = q * x_.sw - x_.pw + s * x_.dw;
                  if (h < 0 || h >= x_.h || w < 0 || w >= x_.w) continue;
                  sum += T::load(src[src_at(n, k / k_ * c_ + c, h, w)]) * T::load(weights[weight_at(k, c, r, s)]);
                }
            dst[dst_at(n, k, p, q)] = T::store(sum);
          }
  }

  // diff_src[n,c,h,w]: every output (k,p,q) whose filter element (r,s) lay on (h,w).
  template <class T>
  void backward_data() {
    const auto* dst = buffer(0).as<typename T::Input>();
    const auto* weights = buffer(1).as<typename T::Input>();
    auto* src = buffer(2).as<typename T::Output>();
    for (std::int64_t n = 0; n < x_.n; ++n)
      for (std::int64_t c = 0; c < x_.c; ++c)
        for (std::int64_t h = 0; h < x_.h; ++h)
          for (std::int64_t w = 0; w < x_.w; ++w) {
            double sum = 0;
            const std::int64_t group = c / c_;
            for (std::int64_t k = group * k_; k < (group + 1) * k_; ++k)
              for (std::int64_t r = 0; r < x_.r; ++r)
                for (std::int64_t s = 0; s < x_.s; ++s) {
                  const std::int64_t top = h + x_.ph - r * x_.dh;
                  const std::int64_t left = w + x_.pw - s * x_.dw;
                  if (top < 0 || left < 0 || top % x_.sh != 0 || left % x_.sw != 0) continue;
                  const std::int64_t p = top / x_.sh;
                  const std::int64_t q = left / x_.sw;
                  if (p >= sizes_.out_h || q >= sizes_.out_w) continue;
                  sum += T::load(dst[dst_at(n, k, p, q)]) * T::load(weights[weight_at(k, c % c_, r, s)]);
                }
            src[src_at(n, c, h, w)] = T::store(sum);
          }
  }

  template <class T>
  void backward_weights() {
    const auto* src = buffer(0).as<typename T::Input>();
    const auto* dst = buffer(1).as<typename T::Input>();
    auto* weights = buffer(2).as<typename T::Output>();
    for (std::int64_t k = 0; k < x_.k; ++k)
      for (std::int64_t c = 0; c < c_; ++c)
        for (std::int64_t r = 0; r < x_.r; ++r)
          for (std::int64_t s = 0; s < x_.s; ++s) {
            double sum = 0;
            for (std::int64_t n = 0; n < x_.n; ++n)
              for (std::int64_t p = 0; p < sizes_.out_h; ++p)
                for (std::int64_t q = 0; q < sizes_.out_w; ++q) {
                  const std::int64_t h = p * x_.sh - x_.ph + r * x_.dh;
                  const std::int64_t w = q * x_.sw - x_.pw + s * x_.dw;
                  if (h < 0 || h >= x_.h || w < 0 || w >= x_.w) continue;
                  sum += T::load(src[src_at(n, k / k_ * c_ + c, h, w)]) * T::load(dst[dst_at(n, k, p, q)]);
                }
            weights[weight_at(k, c, r, s)] = T::store(sum);
          }
  }

  hbmark_conv_problem x_;
  Sizes sizes_;
  std::int64_t c_, k_;  // channels of a group
};

}  // namespace

sdk::Status check(const hbmark_conv_problem& x) {
  if (sizes_of(x.type).input_bytes == 0) return sdk::unsupported("the oracle has no conv of " + sdk::type_name(x.type));
  if (x.pass < HBMARK_CONV_FWD || x.pass > HBMARK_CONV_BWD_WEIGHTS) {
    return sdk::unsupported("the oracle has no convolution pass " + std::to_string(x.pass));
  }
  for (const std::int64_t size : {x.n, x.c, x.h, x.w, x.k, x.r, x.s, x.sh, x.sw, x.g, x.dh, x.dw}) {
    if (size < 1 || size > kLargest) return sdk::invalid("every size of a convolution is from 1 to 2^31");
  }
  for (const std::int64_t pad : {x.ph, x.pw}) {
    if (pad < 0 || pad > kLargest) return sdk::invalid("padding is from 0 to 2^31");
  }
  if (x.c % x.g != 0 || x.k % x.g != 0) return sdk::invalid("c and k are multiples of the number of groups");
  const auto sizes = measure(x);
  HBMARK_SDK_TRY(sizes);
  if (sizes->dst == 0) return sdk::invalid("the filter is larger than the padded input: there is no output");
  return {};
}

std::unique_ptr<sdk::Case> make_case(const hbmark_conv_problem& problem, const sdk::Host& host) {
  return std::make_unique<ConvCase>(problem, host);
}

}  // namespace hbmark::reference
