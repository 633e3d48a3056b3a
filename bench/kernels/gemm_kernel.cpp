// gemm: C(m,n) = op(A)(m,k) op(B)(k,n), column-major as in BLAS, alpha 1, beta 0; `batch` independent products.
#include "backends/abi/gemm.h"

#include <fmt/format.h>

#include <limits>

#include "bench/kernels/abi_bytes.h"
#include "bench/kernels/check.h"
#include "bench/kernels/fields.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark {
namespace {

// 8-bit sums must fit 32 bits: k * 127 * 127 < 2^31.
constexpr std::int64_t kMaxExactReduction = std::numeric_limits<std::int32_t>::max() / (127 * 127);

Status validate(const Problem& problem) {
  if (problem.word("type") == "s8" && problem.number("k") > kMaxExactReduction) {
    return usage_error("its 32-bit sums may overflow",
                       fmt::format("k is {}; with s8 at most {}", problem.number("k"), kMaxExactReduction),
                       "give a smaller k, or another type: gemm:f32:nn:m1024n1024k1024");
  }
  return {};
}

// One call: a multiplication and an addition for each of m n k products: 2 m n k batch (as DeepBench and LAPACK count).
std::optional<double> flop(const Problem& problem) {
  return 2.0 * static_cast<double>(problem.number("m")) * static_cast<double>(problem.number("n")) *
         static_cast<double>(problem.number("k")) * static_cast<double>(problem.number("batch"));
}

std::vector<OperandSpec> operands(const Problem& problem) {
  const auto& type = *find_type(problem.word("type"));
  const auto m = problem.number("m"), n = problem.number("n"), k = problem.number("k"), batch = problem.number("batch");
  return {{"a", type.input, check::product({m, k, batch}), false},
          {"b", type.input, check::product({k, n, batch}), false},
          {"c", type.output, check::product({m, n, batch}), true}};
}

// One call: A and B read once, C written once: batch (m k + k n) input elements and batch m n output elements.
std::optional<double> bytes(const Problem& problem) {
  double total = 0;
  for (const auto& operand : operands(problem)) {
    total += static_cast<double>(operand.elements) * static_cast<double>(element_bytes(operand.type));
  }
  return total;
}

std::vector<std::byte> to_abi(const Problem& problem) {
  hbmark_gemm_problem abi{};
  abi.struct_size = sizeof(abi);
  abi.type = find_type(problem.word("type"))->problem;
  abi.trans_a = problem.word("trans")[0] == 't' ? 1 : 0;
  abi.trans_b = problem.word("trans")[1] == 't' ? 1 : 0;
  abi.m = problem.number("m");
  abi.n = problem.number("n");
  abi.k = problem.number("k");
  abi.batch = problem.number("batch");
  return abi_bytes(abi);
}

std::vector<FieldSpec> grammar() {
  auto trans = fields::word("trans", "A, then B: n as stored, t transposed", {"nn", "nt", "tn", "tt"}, "nn");
  trans.csv_flags = {"a_t", "b_t"};
  return {fields::word("type", "number type", type_words(), "f32"),
          trans,
          fields::dimension("m", "rows of C"),
          fields::dimension("n", "columns of C"),
          fields::dimension("k", "length of the sums"),
          fields::option("batch", "independent products")};
}

}  // namespace

const KernelSpec& gemm_kernel() {
  static const KernelSpec spec{.name = "gemm",
                               .capability = HBMARK_GEMM_V1,
                               .summary = "matrix product C(m,n) = op(A)(m,k) op(B)(k,n), column-major",
                               .example = "gemm:f32:nn:m1024n1024k1024",
                               .grammar = grammar(),
                               .validate = validate,
                               .flop = flop,
                               .bytes = bytes,
                               .operands = operands,
                               .to_abi = to_abi,
                               .check = check::gemm};
  return spec;
}

}  // namespace hbmark
