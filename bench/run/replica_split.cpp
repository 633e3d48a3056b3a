#include "bench/run/replica_split.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "bench/kernels/kernel.h"

namespace hbmark {

Result<Problem> split_problem(const Problem& whole, int replicas) {
  if (replicas <= 1) return whole;
  std::string_view field;
  if (whole.kernel->name == "conv") field = "n";
  if (whole.kernel->name == "gemm") field = whole.number("batch") > 1 ? "batch" : "n";
  if (field.empty()) return whole;
  const std::int64_t all = whole.number(field);
  if (all % replicas != 0) {
    return usage_error("cannot split " + to_string(whole),
                       fmt::format("its {} of {} is no multiple of {} replicas", field, all, replicas),
                       "choose a number of replicas that divides it, or leave --replicas-split out");
  }
  Problem part = whole;
  const auto number =
      std::find_if(part.numbers.begin(), part.numbers.end(), [&](const auto& one) { return one.first == field; });
  number->second = all / replicas;
  return part;
}

}  // namespace hbmark
