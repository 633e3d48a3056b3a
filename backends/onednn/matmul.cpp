// gemm through oneDNN's matmul. Column-major C = op(A) op(B) is row-major C' = op(B)' op(A)': the operands swap places.
#include "backends/onednn/compat.h"
#include "backends/onednn/failure.h"
#include "backends/onednn/onednn_backend.h"

namespace hbmark::onednn {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;

struct Descs {
  memory::desc a, b, c;
};

// A column-major matrix of x rows and y columns is, with its dimensions named the other way round, a row-major one (`ab`).
Descs plain_descs(const hbmark_gemm_problem& p, memory::data_type in, memory::data_type out) {
  const bool batched = p.batch > 1;
  const auto describe = [&](std::int64_t rows, std::int64_t columns, memory::data_type type, bool transposed) {
    if (batched) return memory::desc({p.batch, rows, columns}, type, transposed ? Tag::acb : Tag::abc);
    return memory::desc({rows, columns}, type, transposed ? Tag::ba : Tag::ab);
  };
  return {describe(p.k, p.m, in, p.trans_a != 0), describe(p.n, p.k, in, p.trans_b != 0), describe(p.n, p.m, out, false)};
}

Descs any_descs(const hbmark_gemm_problem& p, memory::data_type in, memory::data_type out) {
  const auto describe = [&](std::int64_t rows, std::int64_t columns, memory::data_type type) {
    if (p.batch > 1) return memory::desc({p.batch, rows, columns}, type, Tag::any);
    return memory::desc({rows, columns}, type, Tag::any);
  };
  return {describe(p.k, p.m, in), describe(p.n, p.k, in), describe(p.n, p.m, out)};
}

sdk::Status shape_supported(const hbmark_gemm_problem& p) {
  if (p.trans_a > 1 || p.trans_b > 1) return sdk::unsupported("a matrix is stored as it is (0) or transposed (1)");
  if (p.m < 1 || p.n < 1 || p.k < 1 || p.batch < 1) return sdk::unsupported("m, n, k and batch must be at least 1");
  for (const auto& [rows, columns] : {std::pair(p.m, p.k), std::pair(p.k, p.n), std::pair(p.m, p.n)}) {
    HBMARK_SDK_TRY(sdk::checked_product({p.batch, rows, columns, 8}));
  }
  return {};
}

}  // namespace

sdk::Expected<Recipe> matmul_recipe(const Context& context, const hbmark_gemm_problem& given) {
  hbmark_gemm_problem problem = given;
  if (problem.batch == 0) problem.batch = 1;  // a host from before batches
  HBMARK_SDK_TRY(shape_supported(problem));
  HBMARK_SDK_TRY(type_supported(context, problem.type));
  const memory::data_type in = *data_type_of(problem.type);
  const memory::data_type out = *data_type_of(output_type(problem.type));
  const std::string what =
      context.library + " has no gemm of " + sdk::type_name(problem.type) + " for this shape on " + context.isa;
  return creating(what, [&]() -> sdk::Expected<Recipe> {
    const dnnl::primitive_attr attr = strict_attributes();
    const Descs plain = plain_descs(problem, in, out);
    const Descs any = any_descs(problem, in, out);
    Recipe recipe;
    recipe.tensors = {{"a", HBMARK_INPUT, problem.type, DNNL_ARG_WEIGHTS, plain.a},
                      {"b", HBMARK_INPUT, problem.type, DNNL_ARG_SRC, plain.b},
                      {"c", HBMARK_OUTPUT, output_type(problem.type), DNNL_ARG_DST, plain.c}};
    // The plain layouts, as a caller of BLAS has them; and the library's own where it would rather have others.
    const dnnl::primitive_desc blas = matmul_desc(context.engine, plain.b, plain.a, plain.c, attr);
    recipe.algorithms.push_back({std::string("plain layouts (") + blas.impl_info_str() + ")", blas});
    try {
      const dnnl::primitive_desc preferred = matmul_desc(context.engine, any.b, any.a, any.c, attr);
      bool differs = false;
      for (const Tensor& tensor : recipe.tensors) {
        differs = differs || preferred.query_md(dnnl::query::exec_arg_md, tensor.argument) != tensor.plain;
      }
      if (differs)
        recipe.algorithms.push_back({std::string("library's layouts (") + preferred.impl_info_str() + ")", preferred});
    } catch (const dnnl::error&) {
      // None for free layouts; the plain ones are there.
    }
    return recipe;
  });
}

std::vector<std::string> matmul_letters(const hbmark_gemm_problem& problem) {
  // The dimensions as oneDNN sees them: a is (k, m), b is (n, k), c is (n, m).
  if (problem.batch > 1) return {"gkm", "gnk", "gnm"};
  return {"km", "nk", "nm"};
}

}  // namespace hbmark::onednn
