#include "backends/reference/cases.h"
#include "backends/reference/elements.h"

namespace hbmark::reference {
namespace {

struct Sizes {
  std::uint64_t a = 0, b = 0, c = 0;  // bytes
};

sdk::Expected<Sizes> measure(const hbmark_gemm_problem& p) {
  const ElementSizes element = sizes_of(p.type);
  const auto input = static_cast<std::int64_t>(element.input_bytes);
  const auto a = sdk::checked_product({p.m, p.k, p.batch, input});
  const auto b = sdk::checked_product({p.k, p.n, p.batch, input});
  const auto c = sdk::checked_product({p.m, p.n, p.batch, static_cast<std::int64_t>(element.output_bytes)});
  for (const auto* size : {&a, &b, &c}) HBMARK_SDK_TRY(*size);
  return Sizes{*a, *b, *c};
}

class GemmCase final : public PlainCase {
 public:
  GemmCase(const hbmark_gemm_problem& problem, const sdk::Host& host)
      : PlainCase(host), p_(problem), sizes_(*measure(problem)) {}

  std::vector<sdk::Operand> operands() const override {
    return {{"a", HBMARK_INPUT, sizes_of(p_.type).input_type, sizes_.a, sizes_.a},
            {"b", HBMARK_INPUT, sizes_of(p_.type).input_type, sizes_.b, sizes_.b},
            {"c", HBMARK_OUTPUT, sizes_of(p_.type).output_type, sizes_.c, sizes_.c}};
  }

 private:
  void compute() override {
    visit_type(p_.type, [&](auto t) {
      for (std::int64_t matrix = 0; matrix < p_.batch; ++matrix) multiply<decltype(t)>(matrix);
    });
  }

  template <class T>
  void multiply(std::int64_t matrix) {
    const auto* a = buffer(0).as<typename T::Input>() + matrix * p_.m * p_.k;
    const auto* b = buffer(1).as<typename T::Input>() + matrix * p_.k * p_.n;
    auto* c = buffer(2).as<typename T::Output>() + matrix * p_.m * p_.n;
    for (std::int64_t j = 0; j < p_.n; ++j) {
      for (std::int64_t i = 0; i < p_.m; ++i) {
        double sum = 0;
        for (std::int64_t l = 0; l < p_.k; ++l) {
          const double a_il = T::load(p_.trans_a != 0 ? a[l + i * p_.k] : a[i + l * p_.m]);
          const double b_lj = T::load(p_.trans_b != 0 ? b[j + l * p_.n] : b[l + j * p_.k]);
          sum += a_il * b_lj;
        }
        c[i + j * p_.m] = T::store(sum);
      }
    }
  }

  hbmark_gemm_problem p_;
  Sizes sizes_;
};

}  // namespace

sdk::Status check(const hbmark_gemm_problem& p) {
  if (sizes_of(p.type).input_bytes == 0) return sdk::unsupported("the oracle has no gemm of " + sdk::type_name(p.type));
  if (p.trans_a > 1 || p.trans_b > 1) return sdk::invalid("trans_a and trans_b are 0 or 1");
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) return sdk::invalid("m, n, k and batch of a gemm are at least 1");
  HBMARK_SDK_TRY(measure(p));
  return {};
}

std::unique_ptr<sdk::Case> make_case(const hbmark_gemm_problem& problem, const sdk::Host& host) {
  return std::make_unique<GemmCase>(problem, host);
}

}  // namespace hbmark::reference
