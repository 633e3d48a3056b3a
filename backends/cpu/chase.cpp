#include <cstring>

#include "backends/cpu/cpu_backend.h"

namespace hbmark::cpu {
namespace {

constexpr std::uint64_t kLineBytes = HBMARK_CHASE_LINE_BYTES;
constexpr std::uint64_t kMostLines = std::uint64_t{1} << 31;  // "next" counts them in 32 bits

// Nothing but loads: each address is the eight bytes that the load before it brought.
const char* follow(const char* line, std::uint64_t loads) {
  for (; loads != 0; --loads) std::memcpy(&line, line, sizeof line);
  return line;
}

// On the calling thread alone: a second one would share caches and memory, and bandwidth is another kernel's question.
class ChaseCase final : public sdk::Case {
 public:
  ChaseCase(const hbmark_chase_problem& problem, const sdk::Host& host) : problem_(problem), host_(host) {}

  std::vector<sdk::Operand> operands() const override {
    return {{"next", HBMARK_INPUT, HBMARK_S32, lines() * sizeof(std::int32_t), problem_.array_bytes},
            {"z", HBMARK_OUTPUT, HBMARK_S32, 2 * sizeof(std::int32_t), 2 * sizeof(std::int32_t)}};
  }

  // Indexes become addresses, one at the head of each line. What is no index would lead the loads out of the buffer.
  sdk::Status write_input(std::uint32_t, std::span<const std::byte> canonical) override {
    here_ = nullptr;
    char* base = buffer(0).as<char>();
    for (std::uint64_t line = 0; line < lines(); ++line) {
      std::int32_t next = 0;
      std::memcpy(&next, canonical.data() + line * sizeof next, sizeof next);
      if (next < 0 || static_cast<std::uint64_t>(next) >= lines()) {
        return sdk::invalid("line " + std::to_string(line) + " leads to line " + std::to_string(next) + " of " +
                            std::to_string(lines()));
      }
      const char* address = base + static_cast<std::uint64_t>(next) * kLineBytes;
      std::memcpy(base + line * kLineBytes, &address, sizeof address);
    }
    here_ = base;
    return {};
  }

  sdk::Status bound(std::uint32_t operand, sdk::Buffer&) override {
    if (operand == 0) here_ = nullptr;
    return {};
  }

  sdk::Status run(std::uint64_t calls) override {
    if (here_ == nullptr) return sdk::invalid("\"next\" was not written: there is no cycle to follow");
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (host_.cancel_requested()) return sdk::cancelled();
      const char* start = here_;
      here_ = follow(start, problem_.loads);
      const std::int32_t z[] = {index_of(start), index_of(here_)};
      std::memcpy(buffer(1).data(), z, sizeof z);
    }
    return {};
  }

  sdk::CaseInfo info() const override {
    sdk::CaseInfo info;
    info.implementation = "dependent loads, one a line, 1 thread";
    info.layout = "an address in each line of 64 bytes";
    return info;
  }

 private:
  std::uint64_t lines() const { return problem_.array_bytes / kLineBytes; }
  std::int32_t index_of(const char* line) const {
    return static_cast<std::int32_t>(static_cast<std::uint64_t>(line - buffer(0).as<const char>()) / kLineBytes);
  }

  hbmark_chase_problem problem_;
  sdk::Host host_;
  const char* here_ = nullptr;  // the line where the next call starts; null: nothing was written
};

}  // namespace

sdk::Status chase_supported(const hbmark_chase_problem& problem) {
  if (problem.array_bytes < 2 * kLineBytes || problem.array_bytes % kLineBytes != 0) {
    return sdk::unsupported("a chase goes through whole lines of " + std::to_string(kLineBytes) + " bytes, at least two; " +
                            std::to_string(problem.array_bytes) + " bytes are not that");
  }
  if (problem.array_bytes / kLineBytes > kMostLines) {
    return sdk::unsupported("a chase counts its lines in 32 bits: at most " + std::to_string(kMostLines * kLineBytes) +
                            " bytes, not " + std::to_string(problem.array_bytes));
  }
  if (problem.loads == 0) return sdk::unsupported("a chase without loads has no latency");
  return {};
}

std::unique_ptr<sdk::Case> make_chase_case(const hbmark_chase_problem& problem, const sdk::Host& host) {
  return std::make_unique<ChaseCase>(problem, host);
}

}  // namespace hbmark::cpu
