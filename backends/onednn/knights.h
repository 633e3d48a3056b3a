// What the user of a Xeon Phi must know of the oneDNN he runs.
//
// Pure, thread-safe, no library behind it.
#pragma once

#include <string>

#include "backends/sdk/cpu_identity.h"

namespace hbmark::onednn {

// Empty unless `cpu` is a Knights Landing or Knights Mill and `isa` (the library's effective one) is not one of its own.
std::string knights_warning(const sdk::CpuIdentity& cpu, const std::string& library, const std::string& isa);

}  // namespace hbmark::onednn
