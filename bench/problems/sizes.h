// Sizes of arrays that stand for facts of the node in a suite: "beyond-last-level" for one, "sweep" for many.
//
// Powers of two all of them, so that nodes whose caches differ still share problems and their results compare. Pure but for
// the context's notes; thread-safe when those are not shared.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/problems/suite.h"

namespace hbmark::sizes {

bool is_symbol(std::string_view text);

// What `symbol` stands for as array_bytes of this kernel, with these other fields, smallest first; at least one.
//   beyond-last-level  the arrays together at least four times the last level of cache, and 64 MiB each at least
//   sweep              from an eighth of the first level of the caches of all threads, by doubling, to 32 GiB in use or
//                      eight times the last level, whichever is more, as far as half of the available memory holds what a
//                      case needs (1 GiB in use where the memory is unknown)
// Errors: the other fields make no problem; `why` alone says it all.
Result<std::vector<std::int64_t>> resolve(std::string_view symbol, const KernelSpec& kernel,
                                          const std::vector<std::pair<std::string, std::string>>& other_fields,
                                          const SuiteContext& context);

}  // namespace hbmark::sizes
