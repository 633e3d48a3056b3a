// oneDNN's exceptions and codes as the SDK's failures.
//
// Thread-safe. 1 is out of memory; 2 (invalid arguments: f16 on 2.0) and 3 (unimplemented) both mean that the library cannot
// do this problem when they come from describing or creating a primitive, and a defect when they come from running one.
#pragma once

#include <oneapi/dnnl/dnnl.hpp>
#include <string>
#include <utility>

#include "backends/sdk/failure.h"

namespace hbmark::onednn {

inline sdk::Unexpected creation_failure(dnnl_status_t status, const std::string& what, const std::string& words) {
  const std::string text = what + ": oneDNN status " + std::to_string(static_cast<int>(status)) + ", " + words;
  switch (status) {
    case dnnl_out_of_memory:
      return sdk::out_of_memory(text, status);
    case dnnl_invalid_arguments:
    case dnnl_unimplemented:
      return sdk::unsupported(text, status);
    default:
      return sdk::failed(text, status);
  }
}

inline sdk::Unexpected execution_failure(dnnl_status_t status, const std::string& what) {
  const std::string text = what + ": oneDNN status " + std::to_string(static_cast<int>(status));
  if (status == dnnl_out_of_memory) return sdk::out_of_memory(text, status);
  return sdk::failed(text, status);
}

// body() returns an Expected or Status; what the library throws in it becomes a failure. `what` names the attempt.
template <class Body>
auto creating(const std::string& what, Body&& body) -> decltype(body()) {
  try {
    return std::forward<Body>(body)();
  } catch (const dnnl::error& e) {
    return creation_failure(e.status, what, e.message);
  }
}

template <class Body>
sdk::Status executing(const std::string& what, Body&& body) {
  try {
    std::forward<Body>(body)();
    return {};
  } catch (const dnnl::error& e) {
    return execution_failure(e.status, what + " (" + e.message + ")");
  }
}

}  // namespace hbmark::onednn
