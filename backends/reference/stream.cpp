#include <cstring>

#include "backends/reference/cases.h"

namespace hbmark::reference {
namespace {

bool has_two_inputs(const hbmark_stream_problem& p) { return p.op == HBMARK_STREAM_ADD || p.op == HBMARK_STREAM_TRIAD; }

// The sums that prove a read, word by word in the order of memory.
class ReadCase final : public PlainCase {
 public:
  ReadCase(const hbmark_stream_problem& problem, const sdk::Host& host) : PlainCase(host), p_(problem) {}

  std::vector<sdk::Operand> operands() const override {
    constexpr std::uint64_t kSumBytes = HBMARK_STREAM_READ_SUMS * sizeof(std::int32_t);
    return {{"x", HBMARK_INPUT, p_.type, p_.array_bytes, p_.array_bytes},
            {"z", HBMARK_OUTPUT, HBMARK_S32, kSumBytes, kSumBytes}};
  }

 private:
  void compute() override {
    std::uint32_t sums[HBMARK_STREAM_READ_SUMS] = {};
    const unsigned char* x = buffer(0).as<unsigned char>();
    for (std::uint64_t word = 0; word < p_.array_bytes / sizeof(std::uint32_t); ++word) {
      std::uint32_t value;
      std::memcpy(&value, x + word * sizeof value, sizeof value);
      sums[word % HBMARK_STREAM_READ_SUMS] += value;
    }
    std::memcpy(buffer(1).data(), sums, sizeof sums);
  }

  hbmark_stream_problem p_;
};

class StreamCase final : public PlainCase {
 public:
  StreamCase(const hbmark_stream_problem& problem, const sdk::Host& host) : PlainCase(host), p_(problem) {}

  std::vector<sdk::Operand> operands() const override {
    const auto array = [&](const char* name, std::uint32_t role) {
      return sdk::Operand{name, role, p_.type, p_.array_bytes, p_.array_bytes};
    };
    if (p_.op == HBMARK_STREAM_WRITE) return {array("z", HBMARK_OUTPUT)};
    if (has_two_inputs(p_)) return {array("x", HBMARK_INPUT), array("y", HBMARK_INPUT), array("z", HBMARK_OUTPUT)};
    return {array("x", HBMARK_INPUT), array("z", HBMARK_OUTPUT)};
  }

 private:
  void compute() override { p_.type == HBMARK_F64 ? pass<double>() : pass<float>(); }

  template <class T>
  void pass() {
    const std::uint64_t count = p_.array_bytes / sizeof(T);
    if (p_.op == HBMARK_STREAM_WRITE) {
      for (std::uint64_t i = 0; i < count; ++i) buffer(0).as<T>()[i] = static_cast<T>(p_.scalar);
      return;
    }
    const T* x = buffer(0).as<T>();
    const T* y = has_two_inputs(p_) ? buffer(1).as<T>() : x;
    T* z = buffer(has_two_inputs(p_) ? 2 : 1).as<T>();
    for (std::uint64_t i = 0; i < count; ++i) z[i] = static_cast<T>(element(x[i], y[i]));
  }

  double element(double x, double y) const {
    switch (p_.op) {
      case HBMARK_STREAM_COPY:
        return x;
      case HBMARK_STREAM_SCALE:
        return p_.scalar * x;
      case HBMARK_STREAM_ADD:
        return x + y;
      default:
        return x + p_.scalar * y;
    }
  }

  hbmark_stream_problem p_;
};

}  // namespace

sdk::Status check(const hbmark_stream_problem& p) {
  if (p.type != HBMARK_F32 && p.type != HBMARK_F64) {
    return sdk::unsupported("the oracle streams f32 and f64, not " + sdk::type_name(p.type));
  }
  if (p.op < HBMARK_STREAM_COPY || p.op > HBMARK_STREAM_WRITE) {
    return sdk::unsupported("the oracle has no stream operation " + std::to_string(p.op));
  }
  if (p.array_bytes == 0 || p.array_bytes % sdk::size_of_type(p.type) != 0) {
    return sdk::invalid("array_bytes is a positive multiple of the element size");
  }
  return {};
}

std::unique_ptr<sdk::Case> make_case(const hbmark_stream_problem& problem, const sdk::Host& host) {
  if (problem.op == HBMARK_STREAM_READ) return std::make_unique<ReadCase>(problem, host);
  return std::make_unique<StreamCase>(problem, host);
}

}  // namespace hbmark::reference
