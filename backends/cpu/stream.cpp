#include <omp.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <vector>

#include "backends/cpu/cpu_backend.h"

namespace hbmark::cpu {
namespace {

constexpr const char* kOpNames[] = {"copy", "scale", "add", "triad", "read", "write"};
constexpr const char* kStoreNames[] = {"temporal", "non-temporal"};
constexpr std::uint64_t kLineBytes = 64;

// Whole cache lines for each thread, so that no two write one line and each part is aligned.
struct Part {
  std::uint64_t begin, end;  // bytes
};
Part part_of_thread(std::uint64_t bytes) {
  const std::uint64_t lines = (bytes + kLineBytes - 1) / kLineBytes;
  const auto threads = static_cast<std::uint64_t>(omp_get_num_threads());
  const auto thread = static_cast<std::uint64_t>(omp_get_thread_num());
  const std::uint64_t share = lines / threads;
  const std::uint64_t longer = lines % threads;  // the first so many threads take one line more
  const std::uint64_t begin = (thread * share + std::min(thread, longer)) * kLineBytes;
  return {begin, std::min(bytes, begin + (share + (thread < longer ? 1 : 0)) * kLineBytes)};
}

// `calls` passes of every thread over its part. One team for all of them, and nobody waits for the others between calls: to
// start a team costs a microsecond for two threads and many for two hundred, more than a pass over what a cache holds.
template <class Pass>
sdk::Status in_one_team(const sdk::Host& host, int threads, std::uint64_t bytes, std::uint64_t calls, const Pass& pass) {
  std::atomic<bool> stop{false};
#pragma omp parallel num_threads(threads) default(none) shared(host, stop, pass) firstprivate(bytes, calls)
  {
    const Part part = part_of_thread(bytes);
    const bool first = omp_get_thread_num() == 0;
    for (std::uint64_t call = 0; call < calls; ++call) {
      if (first && host.cancel_requested()) stop.store(true, std::memory_order_relaxed);
      if (stop.load(std::memory_order_relaxed)) break;
      if (part.begin < part.end) pass(part);
    }
  }
  if (stop) return sdk::cancelled();
  return {};
}

// A read: every thread sums up its part, then one adds up what they have.
class ReadCase final : public sdk::Case {
 public:
  ReadCase(const hbmark_stream_problem& problem, const Isa& isa, const sdk::Host& host)
      : problem_(problem), isa_(isa), host_(host), sums_(static_cast<std::size_t>(omp_get_max_threads())) {}

  std::vector<sdk::Operand> operands() const override {
    const std::uint64_t bytes = problem_.array_bytes;
    return {{"x", HBMARK_INPUT, problem_.type, bytes, bytes}, {"z", HBMARK_OUTPUT, HBMARK_S32, sizeof(Sums), sizeof(Sums)}};
  }

  sdk::Status run(std::uint64_t calls) override {
    if (calls == 0) return {};
    const ReadLoop loop = isa_.loops->read;
    const auto* x = buffer(0).as<const char>();
    for (Sums& each : sums_) each = {};
    HBMARK_SDK_TRY(in_one_team(host_, static_cast<int>(sums_.size()), problem_.array_bytes, calls, [&](const Part& part) {
      Sums& own = sums_[static_cast<std::size_t>(omp_get_thread_num())];
      own = {};
      loop(x + part.begin, own.words, part.end - part.begin);
    }));
    Sums total{};
    for (const Sums& each : sums_) {
      for (std::size_t j = 0; j < HBMARK_STREAM_READ_SUMS; ++j) total.words[j] += each.words[j];
    }
    std::memcpy(buffer(1).data(), &total, sizeof total);
    return {};
  }

  sdk::CaseInfo info() const override {
    sdk::CaseInfo info;
    info.implementation = "read";
    info.isa = isa_.name;
    info.layout = "plain";
    return info;
  }

 private:
  struct alignas(kLineBytes) Sums {  // a line of its own for each thread
    std::uint32_t words[HBMARK_STREAM_READ_SUMS] = {};
  };

  hbmark_stream_problem problem_;
  Isa isa_;
  sdk::Host host_;
  std::vector<Sums> sums_;  // by thread of the team
};

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
    std::vector<sdk::Operand> list;
    if (inputs() > 0) list.push_back({"x", HBMARK_INPUT, problem_.type, bytes, bytes});
    if (inputs() > 1) list.push_back({"y", HBMARK_INPUT, problem_.type, bytes, bytes});
    list.push_back({"z", HBMARK_OUTPUT, problem_.type, bytes, bytes});
    return list;
  }

  sdk::Status run(std::uint64_t calls) override {
    const std::uint64_t element_bytes = sdk::size_of_type(problem_.type);
    const StreamLoop loop = chosen_loop();
    const auto* x = inputs() > 0 ? buffer(0).as<const char>() : nullptr;
    const char* y = inputs() > 1 ? buffer(1).as<const char>() : nullptr;
    auto* z = buffer(inputs()).as<char>();
    const std::uint64_t bytes = problem_.array_bytes;
    const double scalar = problem_.scalar;
    return in_one_team(host_, omp_get_max_threads(), bytes, calls, [=](const Part& part) {
      loop(x == nullptr ? nullptr : x + part.begin, y == nullptr ? nullptr : y + part.begin, z + part.begin, scalar,
           (part.end - part.begin) / element_bytes);
    });
  }

  sdk::CaseInfo info() const override {
    sdk::CaseInfo info;
    info.implementation = std::string(kOpNames[problem_.op - 1]) + ":" + kStoreNames[store_];
    info.isa = isa_.name;
    info.layout = "plain";
    return info;
  }

 private:
  std::uint32_t inputs() const {
    if (problem_.op == HBMARK_STREAM_WRITE) return 0;
    return problem_.op == HBMARK_STREAM_ADD || problem_.op == HBMARK_STREAM_TRIAD ? 2 : 1;
  }
  StreamLoop chosen_loop() const {
    const Element element = problem_.type == HBMARK_F64 ? kDouble : kFloat;
    if (problem_.op == HBMARK_STREAM_WRITE) return isa_.loops->write[element][store_];
    return isa_.loops->stream[problem_.op - 1][element][store_];
  }

  hbmark_stream_problem problem_;
  Isa isa_;
  sdk::Host host_;
  Store store_ = kTemporal;
};

}  // namespace

sdk::Status stream_supported(const hbmark_stream_problem& problem) {
  if (problem.op < HBMARK_STREAM_COPY || problem.op > HBMARK_STREAM_WRITE) {
    return sdk::unsupported("stream operation " + std::to_string(problem.op) +
                            " is none of copy, scale, add, triad, read and write");
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
  if (problem.op == HBMARK_STREAM_READ) return std::make_unique<ReadCase>(problem, isa, host);
  return std::make_unique<StreamCase>(problem, isa, host);
}

}  // namespace hbmark::cpu
