#include "bench/problems/sizes.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "bench/problems/rows.h"
#include "bench/problems/text.h"
#include "bench/problems/types.h"

namespace hbmark::sizes {
namespace {

constexpr std::string_view kBeyondLastLevel = "beyond-last-level";
constexpr std::string_view kSweep = "sweep";

constexpr std::uint64_t kKiB = 1 << 10, kMiB = 1 << 20, kGiB = 1 << 30;
constexpr std::uint64_t kAssumedFirstLevel = 32 * kKiB;
constexpr std::uint64_t kSmallestBeyond = 64 * kMiB;
constexpr std::uint64_t kLargestCache = std::uint64_t{1} << 43;  // beyond it is no cache, and products would overflow
// One last level is not enough on a victim cache, four are (measured: 8 MiB on a 32 MiB level still ran 1.8 times too fast
// at one); STREAM asks for four too. Doubling may stop short of the end of a sweep by half: hence eight there.
constexpr std::uint64_t kTimesBeyond = 4, kTimesSweep = 8;
// Twice the 16 GiB of the memory that a Knights Landing may use as a cache: a sweep has to pass its end. Larger arrays show
// the same memory again, and filling them takes minutes.
constexpr std::uint64_t kEndOfSweep = 32 * kGiB;
constexpr std::uint64_t kEndOfBlindSweep = kGiB;  // where nobody knows how much memory there is

void note(const SuiteContext& context, const std::string& text) {
  if (context.notes == nullptr) return;
  auto& notes = *context.notes;
  if (std::find(notes.begin(), notes.end(), text) == notes.end()) notes.push_back(text);
}

// What a problem takes a byte of array_bytes.
struct Appetite {
  std::string name;        // "stream triad f64"
  std::uint64_t arrays{};  // of array_bytes, where it runs
  double copies{};         // on the host besides: what goes in and comes out

  double needed(std::uint64_t array_bytes) const {
    return (static_cast<double>(arrays) + copies) * static_cast<double>(array_bytes);
  }
};

Result<Appetite> appetite_of(const KernelSpec& kernel, const std::vector<std::pair<std::string, std::string>>& fields) {
  constexpr std::uint64_t kProbe = 64 * kMiB;
  rows::Choices choices{{"array_bytes", {fmt::format("{}", kProbe)}}};
  Appetite appetite;
  appetite.name = kernel.name;
  for (const auto& [field, value] : fields) {
    choices.emplace_back(field, std::vector<std::string>{value});
    appetite.name += " " + value;
  }
  const auto made = rows::from_set(kernel, choices);
  if (!made) return tl::make_unexpected(made.error());
  for (const OperandSpec& operand : kernel.operands(made->front())) {
    const std::uint64_t bytes = operand.elements * element_bytes(operand.type);
    appetite.arrays += bytes == kProbe ? 1 : 0;
    appetite.copies += static_cast<double>(bytes) / static_cast<double>(kProbe);
  }
  appetite.arrays = std::max<std::uint64_t>(appetite.arrays, 1);  // of a chase, where it runs only
  return appetite;
}

std::uint64_t last_level(const SuiteContext& context) {
  if (context.last_level_cache_bytes > 0) return std::min(context.last_level_cache_bytes, kLargestCache);
  note(context,
       "the size of the last level of cache is unknown: 32 MiB is assumed, stream arrays may be too small to leave it");
  return kAssumedLastLevelBytes;
}

std::uint64_t beyond_last_level(const Appetite& appetite, const SuiteContext& context) {
  const std::uint64_t level = last_level(context);
  const std::uint64_t each = (kTimesBeyond * level + appetite.arrays - 1) / appetite.arrays;
  const std::uint64_t size = std::max(kSmallestBeyond, std::bit_ceil(each));
  if (size > kGiB) {
    note(context, fmt::format("stream arrays take {} GiB each to leave a last level of {} MiB", size >> 30, level >> 20));
  }
  if (context.memory_bytes > 0 && appetite.needed(size) > static_cast<double>(context.memory_bytes)) {
    note(context, fmt::format("{} beyond the last level needs {}, {} are available: it will be skipped", appetite.name,
                              text::bytes_text(static_cast<std::uint64_t>(appetite.needed(size))),
                              text::bytes_text(context.memory_bytes)));
  }
  return size;
}

std::vector<std::int64_t> sweep(const Appetite& appetite, const KernelSpec& kernel, const SuiteContext& context) {
  if (context.first_level_cache_bytes == 0) {
    note(context, "the size of the first level of cache is unknown: 32 KiB is assumed, the sweep may begin beyond it");
  }
  const std::uint64_t first = context.first_level_cache_bytes > 0 ? context.first_level_cache_bytes : kAssumedFirstLevel;
  const std::uint64_t threads = kernel.one_thread ? 1 : static_cast<std::uint64_t>(std::max(context.threads, 1));
  const std::uint64_t begin =
      std::max(kKiB, std::bit_ceil(std::min(first, kLargestCache) * threads / (8 * appetite.arrays)));
  const std::uint64_t end = context.memory_bytes > 0 ? kEndOfSweep : kEndOfBlindSweep;
  const std::uint64_t in_use = std::max(end, kTimesSweep * last_level(context));
  const std::uint64_t wanted = std::max(begin, std::bit_floor(in_use / appetite.arrays));
  std::vector<std::int64_t> sizes;
  for (std::uint64_t size = begin; size <= wanted; size *= 2) {
    const bool fits = context.memory_bytes == 0 || 2 * appetite.needed(size) <= static_cast<double>(context.memory_bytes);
    if (!fits && !sizes.empty()) {
      note(context,
           fmt::format("the sweep of {} ends at {} an array instead of {}: the next size needs {}, more than half of the {} "
                       "available",
                       appetite.name, text::bytes_text(static_cast<std::uint64_t>(sizes.back())), text::bytes_text(wanted),
                       text::bytes_text(static_cast<std::uint64_t>(appetite.needed(size))),
                       text::bytes_text(context.memory_bytes)));
      break;
    }
    sizes.push_back(static_cast<std::int64_t>(size));
  }
  return sizes;
}

}  // namespace

bool is_symbol(std::string_view text) { return text == kBeyondLastLevel || text == kSweep; }

Result<std::vector<std::int64_t>> resolve(std::string_view symbol, const KernelSpec& kernel,
                                          const std::vector<std::pair<std::string, std::string>>& other_fields,
                                          const SuiteContext& context) {
  const auto appetite = appetite_of(kernel, other_fields);
  if (!appetite) return tl::make_unexpected(appetite.error());
  if (symbol == kSweep) return sweep(*appetite, kernel, context);
  return std::vector<std::int64_t>{static_cast<std::int64_t>(beyond_last_level(*appetite, context))};
}

}  // namespace hbmark::sizes
