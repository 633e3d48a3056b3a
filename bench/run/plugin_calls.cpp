#include "bench/run/plugin_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace hbmark {

hbmark_status new_status() {
  hbmark_status status{};
  status.struct_size = sizeof status;
  return status;
}

std::string status_text(const hbmark_status& status) {
  const auto* end = std::find(std::begin(status.message), std::end(status.message), '\0');
  std::string text(std::begin(status.message), end);
  if (text.empty()) text = "the plugin gave no reason";
  if (status.vendor_code != 0) text += fmt::format(" (library code {})", status.vendor_code);
  return text;
}

CaseEnd end_of_call(std::int32_t code, const hbmark_status& status, std::string_view during) {
  const std::string text = status_text(status);
  switch (code) {
    case HBMARK_UNSUPPORTED:
      if (during == "supports") return {Outcome::kUnsupported, text};
      return {Outcome::kFailed,
              fmt::format("the plugin said that it supports this problem, then refused it during {}: {}", during, text)};
    case HBMARK_UNAVAILABLE:
      return {Outcome::kUnavailable, text};
    case HBMARK_OUT_OF_MEMORY:
      return {Outcome::kUnavailable, fmt::format("out of memory during {}: {}", during, text)};
    case HBMARK_CANCELLED:
      return {Outcome::kFailed, fmt::format("the plugin ended {} as cancelled: {}", during, text)};
    case HBMARK_INVALID:
      return {Outcome::kFailed, fmt::format("the plugin says that hbmark broke the contract during {}: {}", during, text)};
    case HBMARK_FAILED:
      return {Outcome::kFailed, fmt::format("{} failed: {}", during, text)};
    default:
      return {Outcome::kFailed, fmt::format("the plugin returned the unknown code {} from {}: {}", code, during, text)};
  }
}

}  // namespace hbmark
