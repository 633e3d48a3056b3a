// The fake as a plugin; README.md says what it can be told to do.
#include "backends/fake/session.h"
#include "backends/sdk/tables.h"

namespace hbmark::fake {
namespace {

// The script as far as probe and open go: a session gets a copy with fresh counters.
sdk::Expected<Script> begin(Step step, const sdk::Host& host) {
  auto script = load_script();
  HBMARK_SDK_TRY(script);
  HBMARK_SDK_TRY(script->pass(step, "", host));
  if (script->unavailable) return sdk::unavailable(*script->unavailable);
  return script;
}

struct Fake {
  using Session = FakeSession;
  static constexpr const char* kName = "fake";
  static constexpr const char* kVersion = HBMARK_VERSION;
  static constexpr const char* kSummary = "scripted clock, results and failures; for tests";

  static sdk::Expected<std::vector<sdk::Device>> probe(const sdk::Host& host) {
    auto script = begin(Step::kProbe, host);
    HBMARK_SDK_TRY(script);
    if (script->devices.empty()) return sdk::unavailable("the script lists no devices");
    return script->devices;
  }
  static sdk::Expected<std::unique_ptr<Session>> open(const sdk::Host& host, std::string_view device) {
    auto script = begin(Step::kOpen, host);
    HBMARK_SDK_TRY(script);
    for (const sdk::Device& each : script->devices) {
      if (each.id == device) return std::make_unique<Session>(host, std::move(*script));
    }
    return sdk::unavailable("the script has no device \"" + std::string(device) + "\"");
  }
  static constexpr sdk::Capability kCapabilities[] = {sdk::kernel<Session, hbmark_gemm_problem>(HBMARK_GEMM_V1),
                                                      sdk::kernel<Session, hbmark_conv_problem>(HBMARK_CONV_V1),
                                                      sdk::kernel<Session, hbmark_stream_problem>(HBMARK_STREAM_V1),
                                                      sdk::kernel<Session, hbmark_chase_problem>(HBMARK_CHASE_V1),
                                                      sdk::kernel<Session, hbmark_peak_problem>(HBMARK_PEAK_V1)};
};

}  // namespace
}  // namespace hbmark::fake

HBMARK_DEFINE_BACKEND(hbmark::fake::Fake)
