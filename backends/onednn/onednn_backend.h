// The onednn backend's session: gemm and conv on one CPU engine and stream, threads by the library's OpenMP.
//
// Threads: as backends/sdk/backend.h says; a call uses the OpenMP team of the calling thread.
#pragma once

#include <memory>

#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"
#include "backends/onednn/onednn_case.h"
#include "backends/sdk/backend.h"

namespace hbmark::onednn {

// The algorithms the library has for a problem, without creating any; unsupported with its reason when it has none.
sdk::Expected<Recipe> matmul_recipe(const Context& context, const hbmark_gemm_problem& problem);
sdk::Expected<Recipe> convolution_recipe(const Context& context, const hbmark_conv_problem& problem);
// Names of the dimensions of the recipe's tensors, for layout_name.
std::vector<std::string> matmul_letters(const hbmark_gemm_problem& problem);
std::vector<std::string> convolution_letters(const hbmark_conv_problem& problem);

// Why a type cannot be had from this library on this CPU, or nothing. Shared by both kernels.
sdk::Status type_supported(const Context& context, std::uint32_t type);
// The output's type for a problem's type: s8 accumulates in and gives s32.
std::uint32_t output_type(std::uint32_t type);

class OnednnSession final : public sdk::Session {
 public:
  OnednnSession(const sdk::Host& host, Context context) : Session(host), context_(std::move(context)) {}

  sdk::Status supports(const hbmark_gemm_problem& problem) const;
  sdk::Status supports(const hbmark_conv_problem& problem) const;
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const hbmark_gemm_problem& problem);
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const hbmark_conv_problem& problem);
  sdk::Expected<sdk::SessionInfo> describe() const override;

 private:
  Context context_;
};

}  // namespace hbmark::onednn
