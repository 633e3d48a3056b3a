// The oracle as a plugin: what every other backend's outputs are held against. Vendor-free, for any processor.
#include "backends/reference/cases.h"
#include "backends/sdk/tables.h"

namespace hbmark::reference {
namespace {

constexpr const char* kDevice = "cpu";

// An older host's struct ends before the options and leaves them 0: absent is 1, as the contract's headers have it.
template <class Problem>
Problem with_defaults(Problem problem) {
  const auto complete = [](std::int64_t& option) { option = option == 0 ? 1 : option; };
  if constexpr (requires { problem.batch; }) complete(problem.batch);
  if constexpr (requires { problem.dh; }) complete(problem.g), complete(problem.dh), complete(problem.dw);
  return problem;
}

class OracleSession final : public sdk::Session {
 public:
  using sdk::Session::Session;

  template <class Problem>
  sdk::Status supports(const Problem& problem) const {
    return check(with_defaults(problem));
  }
  template <class Problem>
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const Problem& problem) {
    const Problem whole = with_defaults(problem);
    HBMARK_SDK_TRY(check(whole));
    return make_case(whole, host());
  }
  sdk::Expected<sdk::SessionInfo> describe() const override {
    return sdk::SessionInfo{"", "one thread", "",
                            "an oracle: right, and slow on purpose; its times say nothing of the machine"};
  }
};

struct Oracle {
  using Session = OracleSession;
  static constexpr const char* kName = "reference";
  static constexpr const char* kVersion = HBMARK_VERSION;
  static constexpr const char* kSummary = "plain loops in double precision: slow, to check the others by";

  static sdk::Expected<std::vector<sdk::Device>> probe(const sdk::Host&) {
    return std::vector<sdk::Device>{{kDevice, "any CPU, one thread", HBMARK_DEVICE_CPU, 0}};
  }
  static sdk::Expected<std::unique_ptr<Session>> open(const sdk::Host& host, std::string_view device) {
    if (device != kDevice) {
      return sdk::unavailable("the oracle has one device, \"cpu\", and no \"" + std::string(device) + "\"");
    }
    return std::make_unique<Session>(host);
  }
  static constexpr sdk::Capability kCapabilities[] = {sdk::kernel<Session, hbmark_gemm_problem>(HBMARK_GEMM_V1),
                                                      sdk::kernel<Session, hbmark_conv_problem>(HBMARK_CONV_V1),
                                                      sdk::kernel<Session, hbmark_stream_problem>(HBMARK_STREAM_V1),
                                                      sdk::kernel<Session, hbmark_chase_problem>(HBMARK_CHASE_V1),
                                                      sdk::kernel<Session, hbmark_peak_problem>(HBMARK_PEAK_V1)};
};

}  // namespace
}  // namespace hbmark::reference

HBMARK_DEFINE_BACKEND(hbmark::reference::Oracle)
