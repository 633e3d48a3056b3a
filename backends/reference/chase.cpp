#include "backends/reference/cases.h"

namespace hbmark::reference {
namespace {

constexpr std::uint64_t kLineBytes = HBMARK_CHASE_LINE_BYTES;

// Follows the indexes themselves: right, and no measure of any latency.
class ChaseCase final : public PlainCase {
 public:
  ChaseCase(const hbmark_chase_problem& problem, const sdk::Host& host) : PlainCase(host), p_(problem) {}

  std::vector<sdk::Operand> operands() const override {
    const std::uint64_t bytes = p_.array_bytes / kLineBytes * sizeof(std::int32_t);
    return {{"next", HBMARK_INPUT, HBMARK_S32, bytes, bytes},
            {"z", HBMARK_OUTPUT, HBMARK_S32, 2 * sizeof(std::int32_t), 2 * sizeof(std::int32_t)}};
  }

  sdk::Status write_input(std::uint32_t operand, std::span<const std::byte> canonical) override {
    HBMARK_SDK_TRY(PlainCase::write_input(operand, canonical));
    const auto lines = static_cast<std::int64_t>(p_.array_bytes / kLineBytes);
    for (std::int64_t line = 0; line < lines; ++line) {
      const std::int32_t next = buffer(0).as<std::int32_t>()[line];
      if (next < 0 || next >= lines) return sdk::invalid("\"next\" names a line that is not there");
    }
    line_ = 0;
    return {};
  }

 private:
  void compute() override {
    const std::int32_t* next = buffer(0).as<std::int32_t>();
    std::int32_t* z = buffer(1).as<std::int32_t>();
    z[0] = line_;
    for (std::uint64_t load = 0; load < p_.loads; ++load) line_ = next[line_];
    z[1] = line_;
  }

  hbmark_chase_problem p_;
  std::int32_t line_ = 0;
};

}  // namespace

sdk::Status check(const hbmark_chase_problem& p) {
  if (p.array_bytes < 2 * kLineBytes || p.array_bytes % kLineBytes != 0) {
    return sdk::invalid("array_bytes is a multiple of 64, at least 128");
  }
  if (p.array_bytes / kLineBytes > std::uint64_t{1} << 31) return sdk::unsupported("the oracle counts lines in 32 bits");
  if (p.loads == 0) return sdk::invalid("a call makes at least one load");
  return {};
}

std::unique_ptr<sdk::Case> make_case(const hbmark_chase_problem& problem, const sdk::Host& host) {
  return std::make_unique<ChaseCase>(problem, host);
}

}  // namespace hbmark::reference
