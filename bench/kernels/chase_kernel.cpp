// chase: loads one after the other along a random cycle through all lines of an array: latency, not bandwidth.
#include "backends/abi/chase.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "bench/kernels/abi_bytes.h"
#include "bench/kernels/check.h"
#include "bench/kernels/fields.h"
#include "bench/kernels/kernel.h"
#include "bench/kernels/random.h"

namespace hbmark {
namespace {

constexpr std::int64_t kLineBytes = HBMARK_CHASE_LINE_BYTES;
// Long enough for what surrounds the loads of a call (some 20 ns) to vanish: 40 us in a cache of a nanosecond. A prime, so
// that no array but one of so many lines brings a call back to where it started.
constexpr std::int64_t kFewestLoads = 32771;
// A call passes every line, and one more for the same reason, of arrays up to 64 MiB; beyond, it would take longer than the
// 0.1 s that so many loads take at 100 ns, and calls pass every line between them.
constexpr std::int64_t kMostLines = std::int64_t{1} << 20;
// Larger cycles are not walked whole by the check: that takes as long as making them did.
constexpr std::int64_t kMostLinesWalked = std::int64_t{1} << 24;

std::int64_t lines_of(const Problem& problem) { return problem.number("array_bytes") / kLineBytes; }

// Normative: results of one problem compare only as long as its calls are the same.
std::int64_t loads_of(const Problem& problem) { return std::max(kFewestLoads, std::min(lines_of(problem), kMostLines) + 1); }

Status validate(const Problem& problem) {
  const auto given = problem.number("array_bytes");
  if (given % kLineBytes == 0) return {};
  return usage_error("its array does not hold whole lines",
                     fmt::format("array_bytes is {}, no multiple of {} (a cache line)", given, kLineBytes),
                     fmt::format("give {}", std::max(given / kLineBytes, std::int64_t{2}) * kLineBytes));
}

// Loads compute nothing, and move whole lines of which 8 bytes are used: neither count would say anything.
std::optional<double> none(const Problem&) { return std::nullopt; }

double loads(const Problem& problem) { return static_cast<double>(loads_of(problem)); }

std::vector<OperandSpec> operands(const Problem& problem) {
  return {{"next", HBMARK_S32, static_cast<std::uint64_t>(lines_of(problem)), false}, {"z", HBMARK_S32, 2, true}};
}

std::vector<std::byte> to_abi(const Problem& problem) {
  hbmark_chase_problem abi{};
  abi.struct_size = sizeof(abi);
  abi.array_bytes = static_cast<std::uint64_t>(problem.number("array_bytes"));
  abi.loads = static_cast<std::uint64_t>(loads_of(problem));
  return abi_bytes(abi);
}

std::int32_t* indexes(HostArray& array) { return reinterpret_cast<std::int32_t*>(array.bytes.data()); }
const std::int32_t* indexes(const HostArray& array) { return reinterpret_cast<const std::int32_t*>(array.bytes.data()); }

// S. Sattolo, An algorithm to generate a random cyclic permutation, Information Processing Letters 22(6), 1986: as a
// shuffle, but an element never stays in its place, and the result is one cycle.
void fill(const Problem&, HostArray& array, std::uint64_t seed) {
  const random::Stream stream(seed, array.spec.name);
  array.bytes.resize(array.spec.elements * sizeof(std::int32_t));
  auto* next = indexes(array);
  std::iota(next, next + array.spec.elements, 0);
  for (std::uint64_t i = array.spec.elements - 1; i > 0; --i) std::swap(next[i], next[stream.below(i, i)]);
}

// Empty: one cycle through all lines. Every index is within the array.
std::string broken_cycle(const std::int32_t* next, std::int64_t lines) {
  std::int64_t length = 0;
  std::int32_t line = 0;
  do {
    line = next[line];
    ++length;
  } while (line != 0 && length <= lines);
  if (length == lines) return {};
  return fmt::format("the cycle comes back after {} of {} lines: the check would prove nothing", length, lines);
}

CheckReport check_chase(const CheckInput& input) {
  check::Tally tally(0);
  if (auto missing = check::missing_arrays(input); !missing.empty()) {
    tally.wrong(std::move(missing));
    return tally.finish(0, "none");
  }
  const auto lines = lines_of(input.problem);
  const auto* next = indexes(input.inputs[0]);
  const auto inside = [&](std::int64_t line) { return line >= 0 && line < lines; };
  if (!std::all_of(next, next + lines, inside)) tally.wrong("next names a line beyond the array");
  const bool whole = lines <= kMostLinesWalked;
  if (!tally.found() && whole) {
    if (auto broken = broken_cycle(next, lines); !broken.empty()) tally.wrong(std::move(broken));
  }
  const std::int32_t start = indexes(input.outputs[0])[0], end = indexes(input.outputs[0])[1];
  if (!tally.found() && !inside(start)) {
    tally.compare(start, 0, 0);
    tally.wrong(fmt::format("z[0] is {}, expected the line where the call started, 0 to {}", start, lines - 1));
  }
  const auto loads = loads_of(input.problem);
  if (!tally.found()) {
    std::int32_t line = start;
    for (std::int64_t load = 0; load < loads; ++load) line = next[line];
    if (!tally.compare(end, line, 0)) {
      tally.wrong(fmt::format("z[1] is {}, expected line {}: {} loads after line {}", end, line, loads, start));
    }
  }
  return tally.finish(loads, whole ? "where the last call ended, and that the cycle has every line"
                                   : "where the last call ended (the cycle is too long to be walked whole)");
}

std::vector<FieldSpec> grammar() {
  FieldSpec size = fields::dimension("array_bytes", "bytes the cycle passes through", 2 * kLineBytes, {"bytes"});
  size.kind = FieldSpec::Kind::kNumber;
  size.max = fields::kMaxDimension * kLineBytes;  // lines are counted in 32 bits: 128 GiB
  return {size};
}

}  // namespace

const KernelSpec& chase_kernel() {
  static const KernelSpec spec{.name = "chase",
                               .capability = HBMARK_CHASE_V1,
                               .summary = "latency of a load: a random cycle of dependent loads, one thread",
                               .example = "chase:268435456",
                               .grammar = grammar(),
                               .validate = validate,
                               .flop = none,
                               .bytes = none,
                               .operands = operands,
                               .to_abi = to_abi,
                               .check = check_chase,
                               .loads = loads,
                               .one_thread = true,
                               .fill = fill};
  return spec;
}

}  // namespace hbmark
