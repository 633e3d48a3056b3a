// What a result is compared with: the best arithmetic rate and the best bandwidth measured in the same run, by the same
// device's threads. Fed with every result in turn, by the parent. Not thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "bench/problems/problem.h"
#include "bench/run/protocol.h"
#include "results/records.h"

namespace hbmark {

class Ceilings {
 public:
  explicit Ceilings(std::uint64_t last_level_cache_bytes) : last_level_cache_bytes_(last_level_cache_bytes) {}

  // Takes a finished result in (only ok ones of peak and stream count).
  void learn(const ResultRecord& result, const Problem& problem);
  // Sets the three ceiling_* members and the flag `algorithmic` of an ok result; all stay absent where no ceiling applies:
  // a peak, the only stream so far, arrays that a cache may hold (unless the result is cold), a type or device without a
  // measured peak.
  void apply(ResultRecord& result, const Problem& problem, const CaseFacts& facts) const;

 private:
  bool comes_from_memory(const ResultRecord& result, const CaseFacts& facts) const;
  void apply_stream(ResultRecord& result, const CaseFacts& facts) const;
  void apply_roofline(ResultRecord& result, const Problem& problem, const CaseFacts& facts) const;

  struct Place {  // what makes two results comparable
    std::string device;
    std::int64_t threads = 0;
    std::string memory;
    auto operator<=>(const Place&) const = default;
  };
  static Place place_of(const ResultRecord& result) { return {result.device, result.threads, result.memory_kind}; }

  std::uint64_t last_level_cache_bytes_;                        // 0: unknown
  std::map<std::pair<Place, std::string>, double> flop_per_s_;  // by type
  std::map<Place, double> bytes_per_s_;
};

// Too much for the last level of cache (0: unknown) to hold a fair share of: a bandwidth ceiling applies.
bool beyond_caches(std::uint64_t bytes, std::uint64_t last_level_cache_bytes);

// The word of the problem's element type: "f32".
std::string type_word(const Problem& problem);

}  // namespace hbmark
