#include <omp.h>

#include <algorithm>

#include "backends/cpu/cpu_backend.h"

namespace hbmark::cpu {
namespace {

constexpr const char* kOpNames[] = {"copy", "scale", "add", "triad"};
constexpr const char* kStoreNames[] = {"temporal", "non-temporal"};
constexpr std::uint64_t kLineBytes = 64;

class StreamCase final : public sdk::Case {
 public:
  StreamCase(const hbmark_stream_problem& problem, const Isa& isa, const sdk::Host& host)
      : problem_(problem), isa_(isa), host_(host) {}

  // Which one pays depends on size, machine and memory: the host times both.
  std::vector<sdk::Candidate> candidates() const override {
    return {{kStoreNames[kTemporal], HBMARK_ALGORITHM_DIRECT, 0}, {kStoreNames[kNonTemporal], HBMARK_ALGORITHM_DIRECT, 0}};
  }

  sdk::Status select(std::uint32_t index) override {
    store_ = static_cast<Store>(index);
    return {};
  }

  std::vector<sdk::Operand> operands() const override {
    const std::uint64_t bytes = problem_.array_bytes;
    std::vector<sdk::Operand> list = {{"x", HBMARK_INPUT, problem_.type, bytes, bytes}};
    if (has_y()) list.push_back({"y", HBMARK_INPUT, problem_.type, bytes, bytes});
    list.push_back({"z", HBMARK_OUTPUT, problem_.type, bytes, bytes});
    return list;
  }

  sdk::Status run(std::uint64_t calls) override {
    const std::uint64_t element_bytes = sdk::size_of_type(problem_.type);
    const StreamLoop loop = isa_.loops->stream[problem_.op - 1][problem_.type == HBMARK_F64 ? kDouble : kFloat][store_];
    const auto* x = buffer(0).as<const char>();
    const char* y = has_y() ? buffer(1).as<const char>() : nullptr;
    auto* z = buffer(has_y() ? 2 : 1).as<char>();
    const std::uint64_t bytes = problem_.array_bytes;
    const std::uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
    const double scalar = problem_.scalar;
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (host_.cancel_requested()) return sdk::cancelled();
        // Contiguous parts of whole cache lines, so that no two threads write one line and each part is aligned.
#pragma omp parallel default(none) firstprivate(loop, x, y, z, bytes, lines, scalar, element_bytes)
      {
        const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
        const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
        const std::uint64_t share = lines / threads;
        const std::uint64_t longer = lines % threads;  // the first so many threads take one line more
        const std::uint64_t first_line = thread * share + std::min(thread, longer);
        const std::uint64_t begin = first_line * kLineBytes;
        const std::uint64_t end = std::min(bytes, begin + (share + (thread < longer ? 1 : 0)) * kLineBytes);
        if (begin < end)
          loop(x + begin, y == nullptr ? nullptr : y + begin, z + begin, scalar, (end - begin) / element_bytes);
      }
    }
    return {};
  }

  sdk::CaseInfo info() const override {
    sdk::CaseInfo info;
    info.implementation = std::string(kOpNames[problem_.op - 1]) + ":" + kStoreNames[store_];
    info.isa = isa_.name;
    info.layout = "plain";
    return info;
  }

 private:
  bool has_y() const { return problem_.op == HBMARK_STREAM_ADD || problem_.op == HBMARK_STREAM_TRIAD; }

  hbmark_stream_problem problem_;
  Isa isa_;
  sdk::Host host_;
  Store store_ = kTemporal;
};

}  // namespace

sdk::Status stream_supported(const hbmark_stream_problem& problem) {
  if (problem.op < HBMARK_STREAM_COPY || problem.op > HBMARK_STREAM_TRIAD) {
    return sdk::unsupported("stream operation " + std::to_string(problem.op) + " is none of copy, scale, add and triad");
  }
  if (problem.type != HBMARK_F32 && problem.type != HBMARK_F64) {
    return sdk::unsupported("stream runs on f32 and f64, not on " + sdk::type_name(problem.type));
  }
  const std::uint64_t element_bytes = sdk::size_of_type(problem.type);
  if (problem.array_bytes == 0 || problem.array_bytes % element_bytes != 0) {
    return sdk::unsupported("an array of " + std::to_string(problem.array_bytes) + " bytes holds no whole number of " +
                            sdk::type_name(problem.type) + " elements");
  }
  return {};
}

std::unique_ptr<sdk::Case> make_stream_case(const hbmark_stream_problem& problem, const Isa& isa, const sdk::Host& host) {
  return std::make_unique<StreamCase>(problem, isa, host);
}

}  // namespace hbmark::cpu
