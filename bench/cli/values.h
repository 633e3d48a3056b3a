// Reading the values of options: each error names the option, what stood there and what may stand there.
//
// Pure, thread-safe. NaN, infinities, negative numbers, zero, overflow and trailing text are all refused here, before
// anything is measured.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "results/base/result.h"
#include "results/stats/compare.h"

namespace hbmark::cli {

Result<double> parse_precision(std::string_view text);                         // "2%", "2 %", "0.02" -> 0.02
Result<double> parse_share(std::string_view option, std::string_view text);    // likewise
Result<double> parse_seconds(std::string_view option, std::string_view text);  // "3", "3s", "500ms", "2min"
Result<int> parse_threads(std::string_view text);
Result<int> parse_launches(std::string_view text);
Result<int> parse_replicas(std::string_view text);
// "1,2,4". Errors: a member that is no number of threads, or comes twice.
Result<std::vector<int>> parse_threads_per_core(std::string_view text);
// "ddr,fast,node:1", each as topology::memory_word gives it; mcdram and hbm are fast. Errors: no such word, or twice.
Result<std::vector<std::string>> parse_memories(std::string_view text);
Result<std::string> parse_word(std::string_view option, std::string_view text, const std::vector<std::string>& known);
Result<std::uint64_t> parse_seed(std::string_view text);
Status check_label(std::string_view text);
Status check_label(std::string_view option, std::string_view text);  // of what another option names

struct Threshold {
  stats::Verdict verdict = stats::Verdict::kSlower;  // or kFaster
  double share = 0;                                  // 0.05: by 5 % or more
};
Result<Threshold> parse_threshold(std::string_view text);  // "slower:5%"

// The word of `known` nearest to `word`, or "" when none is near enough to be meant.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

}  // namespace hbmark::cli
