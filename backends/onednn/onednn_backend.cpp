#include "backends/onednn/onednn_backend.h"

#include "backends/onednn/compat.h"
#include "backends/onednn/failure.h"
#include "backends/onednn/knights.h"
#include "backends/sdk/cpu_identity.h"
#include "backends/sdk/tables.h"

namespace hbmark::onednn {

sdk::Status type_supported(const Context& context, std::uint32_t type) {
  if (type == HBMARK_S32 || !data_type_of(type)) {
    return sdk::unsupported(context.library + " computes no " + sdk::type_name(type) + " on a CPU");
  }
  // Before VNNI the library multiplies 8-bit numbers in pairs that saturate at 16 bits, or halves the weights to avoid it:
  // either way not the product asked for.
  const bool vnni = context.isa.find("vnni") != std::string::npos || context.isa.find("bf16") != std::string::npos ||
                    context.isa.find("amx") != std::string::npos || context.isa.find("avx10") != std::string::npos;
  if (type == HBMARK_S8 && !vnni) {
    return sdk::unsupported(context.library + " multiplies s8 inexactly on " + context.isa + ", which lacks VNNI");
  }
  return {};
}

std::uint32_t output_type(std::uint32_t type) { return type == HBMARK_S8 ? std::uint32_t{HBMARK_S32} : type; }

sdk::Status OnednnSession::supports(const hbmark_gemm_problem& problem) const {
  HBMARK_SDK_TRY(matmul_recipe(context_, problem));
  return {};
}

sdk::Status OnednnSession::supports(const hbmark_conv_problem& problem) const {
  HBMARK_SDK_TRY(convolution_recipe(context_, problem));
  return {};
}

sdk::Expected<std::unique_ptr<sdk::Case>> OnednnSession::prepare(const hbmark_gemm_problem& problem) {
  sdk::Expected<Recipe> recipe = matmul_recipe(context_, problem);
  HBMARK_SDK_TRY(recipe);
  return OnednnCase::make(context_, host(), std::move(*recipe), matmul_letters(problem));
}

sdk::Expected<std::unique_ptr<sdk::Case>> OnednnSession::prepare(const hbmark_conv_problem& problem) {
  sdk::Expected<Recipe> recipe = convolution_recipe(context_, problem);
  HBMARK_SDK_TRY(recipe);
  return OnednnCase::make(context_, host(), std::move(*recipe), convolution_letters(problem));
}

sdk::Expected<sdk::SessionInfo> OnednnSession::describe() const {
  return sdk::SessionInfo{context_.library, "OpenMP", context_.isa,
                          knights_warning(sdk::cpu_identity(), context_.library, context_.isa)};
}

namespace {

std::string version_text(int major, int minor, int patch) {
  return std::to_string(major) + "." + std::to_string(minor) + "." + std::to_string(patch);
}

// 2.0 and 2.6 share one SONAME and swap without an error from the loader: compare what was compiled with what was loaded.
sdk::Status library_fits() {
  const dnnl_version_t* loaded = dnnl_version();
  if (loaded->major != DNNL_VERSION_MAJOR || loaded->minor != DNNL_VERSION_MINOR) {
    return sdk::unavailable("this plugin was built for oneDNN " +
                            version_text(DNNL_VERSION_MAJOR, DNNL_VERSION_MINOR, DNNL_VERSION_PATCH) +
                            " and the loader found " + version_text(loaded->major, loaded->minor, loaded->patch) +
                            ": unset LD_LIBRARY_PATH and LD_PRELOAD, or rebuild with -DHBMARK_ONEDNN_ROOT=PREFIX");
  }
  if (loaded->cpu_runtime != DNNL_RUNTIME_OMP) {
    return sdk::unavailable("the oneDNN found is not built for OpenMP, whose threads hbmark places");
  }
  return {};
}

struct OnednnBackend {
  using Session = OnednnSession;
  static constexpr const char* kName = "onednn";
  static constexpr const char* kVersion = HBMARK_VERSION;
  static constexpr const char* kSummary = "GEMM and convolution on CPUs through oneDNN";
  static constexpr sdk::Capability kCapabilities[] = {sdk::kernel<Session, hbmark_gemm_problem>(HBMARK_GEMM_V1),
                                                      sdk::kernel<Session, hbmark_conv_problem>(HBMARK_CONV_V1)};

  static sdk::Expected<std::vector<sdk::Device>> probe(const sdk::Host&) {
    HBMARK_SDK_TRY(library_fits());
    return std::vector<sdk::Device>{{"cpu", sdk::cpu_identity().brand, HBMARK_DEVICE_CPU, 0}};
  }

  static sdk::Expected<std::unique_ptr<Session>> open(const sdk::Host& host, std::string_view device_id) {
    if (device_id != "cpu") return sdk::unavailable("there is no device \"" + std::string(device_id) + "\", only \"cpu\"");
    HBMARK_SDK_TRY(library_fits());
    return creating("opening the CPU engine", [&]() -> sdk::Expected<std::unique_ptr<Session>> {
      const dnnl_version_t* loaded = dnnl_version();
      Context context;
      context.engine = dnnl::engine(dnnl::engine::kind::cpu, 0);
      context.stream = dnnl::stream(context.engine);
      context.library = "oneDNN " + version_text(loaded->major, loaded->minor, loaded->patch);
      context.isa = isa_name();
      return std::make_unique<Session>(host, std::move(context));
    });
  }
};

}  // namespace
}  // namespace hbmark::onednn

HBMARK_DEFINE_BACKEND(hbmark::onednn::OnednnBackend)
