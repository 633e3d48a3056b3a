#include "backends/cpu/cpu_backend.h"

#include "backends/sdk/cpu_identity.h"
#include "backends/sdk/tables.h"

namespace hbmark::cpu {

sdk::Expected<std::unique_ptr<sdk::Case>> CpuSession::prepare(const hbmark_stream_problem& problem) {
  HBMARK_SDK_TRY(supports(problem));
  return make_stream_case(problem, isa_, host());
}

sdk::Expected<std::unique_ptr<sdk::Case>> CpuSession::prepare(const hbmark_chase_problem& problem) {
  HBMARK_SDK_TRY(supports(problem));
  return make_chase_case(problem, host());
}

sdk::Expected<std::unique_ptr<sdk::Case>> CpuSession::prepare(const hbmark_peak_problem& problem) {
  HBMARK_SDK_TRY(supports(problem));
  return make_peak_case(problem, isa_, host());
}

sdk::Expected<sdk::SessionInfo> CpuSession::describe() const { return sdk::SessionInfo{"", "OpenMP", isa_.name, ""}; }

namespace {

struct CpuBackend {
  using Session = CpuSession;
  static constexpr const char* kName = "cpu";
  static constexpr const char* kVersion = HBMARK_VERSION;
  static constexpr const char* kSummary = "ceilings of this machine's CPUs: memory bandwidth and latency, arithmetic peak";
  static constexpr sdk::Capability kCapabilities[] = {sdk::kernel<Session, hbmark_stream_problem>(HBMARK_STREAM_V1),
                                                      sdk::kernel<Session, hbmark_chase_problem>(HBMARK_CHASE_V1),
                                                      sdk::kernel<Session, hbmark_peak_problem>(HBMARK_PEAK_V1)};

  static sdk::Expected<std::vector<sdk::Device>> probe(const sdk::Host&) {
    HBMARK_SDK_TRY(choose_isa());
    return std::vector<sdk::Device>{{"cpu", sdk::cpu_identity().brand, HBMARK_DEVICE_CPU, 0}};
  }

  static sdk::Expected<std::unique_ptr<Session>> open(const sdk::Host& host, std::string_view device_id) {
    if (device_id != "cpu") return sdk::unavailable("there is no device \"" + std::string(device_id) + "\", only \"cpu\"");
    const sdk::Expected<Isa> isa = choose_isa();
    HBMARK_SDK_TRY(isa);
    return std::make_unique<Session>(host, *isa);
  }
};

}  // namespace
}  // namespace hbmark::cpu

HBMARK_DEFINE_BACKEND(hbmark::cpu::CpuBackend)
