// Failures as values, for plugin code: what a function of a plugin returns instead of throwing.
//
//   if (problem.type != HBMARK_F32) return unsupported("this backend multiplies f32 only, not " + type_name(problem.type));
//
// Plain values; thread-safe. A message is one sentence for a person: what failed and why.
#pragma once

#include <cstdint>
#include <string>
#include <tl/expected.hpp>
#include <utility>

#include "backends/abi/status.h"

namespace hbmark::sdk {

struct Failure {
  std::int32_t code = HBMARK_FAILED;
  std::int64_t vendor_code = 0;
  std::string message;
};

template <class T>
using Expected = tl::expected<T, Failure>;
using Status = tl::expected<void, Failure>;
using Unexpected = tl::unexpected<Failure>;

inline Unexpected failure(std::int32_t code, std::string message, std::int64_t vendor_code = 0) {
  return Unexpected(Failure{code, vendor_code, std::move(message)});
}
inline Unexpected unsupported(std::string why, std::int64_t vendor_code = 0) {
  return failure(HBMARK_UNSUPPORTED, std::move(why), vendor_code);
}
inline Unexpected unavailable(std::string why, std::int64_t vendor_code = 0) {
  return failure(HBMARK_UNAVAILABLE, std::move(why), vendor_code);
}
inline Unexpected out_of_memory(std::string why, std::int64_t vendor_code = 0) {
  return failure(HBMARK_OUT_OF_MEMORY, std::move(why), vendor_code);
}
inline Unexpected cancelled() { return failure(HBMARK_CANCELLED, "ended early: the host asked for it"); }
inline Unexpected invalid(std::string why) { return failure(HBMARK_INVALID, std::move(why)); }
inline Unexpected failed(std::string why, std::int64_t vendor_code = 0) {
  return failure(HBMARK_FAILED, std::move(why), vendor_code);
}

}  // namespace hbmark::sdk

// Leaves the enclosing function with the failure of `expression` (a Status or Expected) if it has one.
#define HBMARK_SDK_TRY(expression)                                     \
  do {                                                                 \
    const auto& hbmark_sdk_try_result = (expression);                  \
    if (!hbmark_sdk_try_result) {                                      \
      return ::hbmark::sdk::Unexpected(hbmark_sdk_try_result.error()); \
    }                                                                  \
  } while (false)
