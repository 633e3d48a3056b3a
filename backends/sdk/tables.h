// From C++ classes to the C tables of backends/abi. A whole plugin:
//
//   struct MySession : sdk::Session { ... supports(const hbmark_gemm_problem&) const; prepare(const hbmark_gemm_problem&);
//   }; struct MyBackend {
//     using Session = MySession;
//     static constexpr const char *kName = "mine", *kVersion = HBMARK_VERSION, *kSummary = "one line";
//     static sdk::Expected<std::vector<sdk::Device>> probe(const sdk::Host&);
//     static sdk::Expected<std::unique_ptr<Session>> open(const sdk::Host&, std::string_view device_id);
//     static constexpr sdk::Capability kCapabilities[] = {sdk::kernel<Session, hbmark_gemm_problem>(HBMARK_GEMM_V1)};
//   };
//   HBMARK_DEFINE_BACKEND(MyBackend)
//
// hbmark.memory/1 and hbmark.info/1 come by themselves, hbmark.timer/1 when the session satisfies DeviceTimer. Include this
// header in the one source that has HBMARK_DEFINE_BACKEND, compiled for the baseline instruction set.
#pragma once

#include <concepts>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "backends/abi/backend.h"
#include "backends/abi/kernel.h"
#include "backends/sdk/backend.h"
#include "backends/sdk/border.h"

namespace hbmark::sdk {

struct Capability {
  const char* id;
  const void* table;
};

template <class S>
concept DeviceTimer = requires(S& session) {
  { session.timer_begin() } -> std::same_as<Status>;
  { session.timer_end() } -> std::same_as<Status>;
  { session.timer_elapsed() } -> std::same_as<Expected<double>>;
};

inline Session* to_session(hbmark_session* handle) { return reinterpret_cast<Session*>(handle); }
inline hbmark_session* from_session(Session* session) { return reinterpret_cast<hbmark_session*>(session); }

// What does not depend on the plugin's types; in tables.cpp.
namespace thunk {
extern const hbmark_memory kMemory;
extern const hbmark_info_capability kInfo;
std::int32_t candidates(hbmark_case*, hbmark_candidate* list, std::uint32_t capacity, std::uint32_t* count, hbmark_status*);
std::int32_t select(hbmark_case*, std::uint32_t index, hbmark_status*);
std::int32_t operands(hbmark_case*, hbmark_operand* list, std::uint32_t capacity, std::uint32_t* count, hbmark_status*);
std::int32_t bind(hbmark_case*, std::uint32_t operand, hbmark_buffer*, hbmark_status*);
std::int32_t run(hbmark_case*, std::uint64_t calls, hbmark_status*);
std::int32_t convert(hbmark_case*, std::uint64_t calls, hbmark_status*);
std::int32_t info(hbmark_case*, hbmark_case_info*, hbmark_status*);
void release(hbmark_case*);
void close(hbmark_session*);
Status put_case(Expected<std::unique_ptr<Case>> prepared, hbmark_case** out);
Status put_devices(const Expected<std::vector<Device>>& found, hbmark_device* list, std::uint32_t capacity,
                   std::uint32_t* count);

template <class S, class Problem>
std::int32_t supports(hbmark_session* session, const void* problem, hbmark_status* status) {
  return at_border(status, [&]() -> Status {
    const Expected<Problem> copy = copy_in<Problem>(problem, "problem");
    HBMARK_SDK_TRY(copy);
    return static_cast<const S&>(*to_session(session)).supports(*copy);
  });
}

template <class S, class Problem>
std::int32_t prepare(hbmark_session* session, const void* problem, hbmark_case** out, hbmark_status* status) {
  return at_border(status, [&]() -> Status {
    const Expected<Problem> copy = copy_in<Problem>(problem, "problem");
    HBMARK_SDK_TRY(copy);
    return put_case(static_cast<S&>(*to_session(session)).prepare(*copy), out);
  });
}

template <class S, class Problem>
inline constexpr hbmark_kernel kKernel = {sizeof(hbmark_kernel),
                                          0,
                                          supports<S, Problem>,
                                          prepare<S, Problem>,
                                          candidates,
                                          select,
                                          operands,
                                          bind,
                                          run,
                                          convert,
                                          info,
                                          release};

template <DeviceTimer S>
struct Timer {
  static std::int32_t begin(hbmark_session* session, hbmark_status* status) {
    return at_border(status, [&] { return static_cast<S&>(*to_session(session)).timer_begin(); });
  }
  static std::int32_t end(hbmark_session* session, hbmark_status* status) {
    return at_border(status, [&] { return static_cast<S&>(*to_session(session)).timer_end(); });
  }
  static std::int32_t elapsed(hbmark_session* session, double* elapsed_s, hbmark_status* status) {
    return at_border(status, [&]() -> Status {
      if (elapsed_s == nullptr) return invalid("there is nowhere to put the time");
      const Expected<double> result = static_cast<S&>(*to_session(session)).timer_elapsed();
      HBMARK_SDK_TRY(result);
      *elapsed_s = *result;
      return {};
    });
  }
  static constexpr hbmark_timer kTable = {sizeof(hbmark_timer), 0, begin, end, elapsed};
};

template <class B>
std::int32_t probe(const hbmark_host* host, hbmark_device* list, std::uint32_t capacity, std::uint32_t* count,
                   hbmark_status* status) {
  return at_border(status, [&] { return put_devices(B::probe(Host(host)), list, capacity, count); });
}

template <class B>
std::int32_t open(const hbmark_host* host, const char* device_id, hbmark_session** out, hbmark_status* status) {
  return at_border(status, [&]() -> Status {
    if (out == nullptr || device_id == nullptr) return invalid("open needs a device id and somewhere to put the session");
    *out = nullptr;
    Expected<std::unique_ptr<typename B::Session>> opened = B::open(Host(host), std::string_view(device_id));
    HBMARK_SDK_TRY(opened);
    *out = from_session(opened->release());
    return {};
  });
}

template <class B>
const void* capability(const char* id) {
  if (id == nullptr) return nullptr;
  const std::string_view wanted(id);
  for (const Capability& each : B::kCapabilities) {
    if (wanted == each.id) return each.table;
  }
  if (wanted == HBMARK_MEMORY_V1) return &kMemory;
  if (wanted == HBMARK_INFO_V1) return &kInfo;
  if constexpr (DeviceTimer<typename B::Session>) {
    if (wanted == HBMARK_TIMER_V1) return &Timer<typename B::Session>::kTable;
  }
  return nullptr;
}

template <class B>
inline constexpr hbmark_backend kBackend = {sizeof(hbmark_backend),
                                            HBMARK_ABI_MAJOR,
                                            HBMARK_ABI_MINOR,
                                            0,
                                            B::kName,
                                            B::kVersion,
                                            B::kSummary,
                                            probe<B>,
                                            open<B>,
                                            close,
                                            capability<B>};

}  // namespace thunk

// One row of a backend's kCapabilities: session S solves problems of type Problem.
template <class S, class Problem>
constexpr Capability kernel(const char* id) {
  return {id, &thunk::kKernel<S, Problem>};
}

}  // namespace hbmark::sdk

// Once a plugin, at file scope outside any namespace.
#define HBMARK_DEFINE_BACKEND(Backend) \
  extern "C" const hbmark_backend* hbmark_backend_v1(void) { return &::hbmark::sdk::thunk::kBackend<Backend>; }
