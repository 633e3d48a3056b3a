// From a plugin's codes to how a case ends. Pure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>

#include "backends/abi/status.h"
#include "results/outcome.h"

namespace hbmark {

// Why a case cannot go on. The error type of every step of a case.
struct CaseEnd {
  Outcome outcome = Outcome::kFailed;
  std::string reason;
};
template <class T>
using Step = tl::expected<T, CaseEnd>;

inline tl::unexpected<CaseEnd> case_ends(Outcome outcome, std::string reason) {
  return tl::make_unexpected(CaseEnd{outcome, std::move(reason)});
}

hbmark_status new_status();

// The plugin's sentence with its vendor's code; a stand-in when it gave none.
std::string status_text(const hbmark_status& status);

// `during`: what was going on, "prepare". UNSUPPORTED is an outcome of its own only when asked for support; later it means
// that the plugin's `supports` was not truthful, and the case failed.
CaseEnd end_of_call(std::int32_t code, const hbmark_status& status, std::string_view during);

}  // namespace hbmark
