// The cpu plugin against plain loops in double, on every instruction set this machine has.
#include <gmock/gmock.h>

#include <cmath>
#include <cstdlib>
#include <cstring>

#include "backends/abi/chase.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "plugin_host.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;

class Environment {
 public:
  Environment(const char* name, const char* value) : name_(name) { setenv(name, value, 1); }
  ~Environment() { unsetenv(name_); }

 private:
  const char* name_;
};

bool machine_has(const std::string& isa) {
  __builtin_cpu_init();
  if (isa == "avx512f") return __builtin_cpu_supports("avx512f") != 0;
  if (isa == "avx2") return __builtin_cpu_supports("avx2") != 0 && __builtin_cpu_supports("fma") != 0;
  return true;
}

hbmark_stream_problem stream_problem(std::uint32_t op, std::uint32_t type, std::uint64_t bytes) {
  return {sizeof(hbmark_stream_problem), op, type, 0, bytes, 0.4};
}
hbmark_peak_problem peak_problem(std::uint32_t type, double scale, double offset) {
  return {sizeof(hbmark_peak_problem), HBMARK_PEAK_FMA, type, 0, scale, offset};
}

class EachIsa : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    if (!machine_has(GetParam())) GTEST_SKIP() << "this machine has no " << GetParam();
  }
};
INSTANTIATE_TEST_SUITE_P(Cpu, EachIsa, ::testing::Values("sse2", "avx2", "avx512f"),
                         [](const auto& each) { return std::string(each.param); });

template <class T>
std::vector<T> expected_stream(std::uint32_t op, const std::vector<T>& x, const std::vector<T>& y, T scalar) {
  std::vector<T> z(x.size());
  for (std::size_t i = 0; i < x.size(); ++i) {
    switch (op) {
      case HBMARK_STREAM_COPY:
        z[i] = x[i];
        break;
      case HBMARK_STREAM_SCALE:
        z[i] = scalar * x[i];
        break;
      case HBMARK_STREAM_ADD:
        z[i] = x[i] + y[i];
        break;
      default: {
        volatile T product = scalar * y[i];  // rounded by itself: no contraction into a fused operation
        z[i] = x[i] + product;
      }
    }
  }
  return z;
}

template <class T>
void check_stream(std::uint32_t type, std::uint32_t op, std::size_t count, const OpenSession& session) {
  const hbmark_stream_problem problem = stream_problem(op, type, count * sizeof(T));
  OpenCase c(session, HBMARK_STREAM_V1, &problem);
  ASSERT_EQ(c.candidates().size(), 2u);
  const bool has_y = op == HBMARK_STREAM_ADD || op == HBMARK_STREAM_TRIAD;
  std::vector<T> x, y;
  if constexpr (sizeof(T) == 4) {
    x = random_floats(count, 1), y = random_floats(count, 2);
  } else {
    x = random_doubles(count, 1), y = random_doubles(count, 2);
  }
  for (std::uint32_t candidate = 0; candidate < 2; ++candidate) {
    c.select(candidate);
    c.bind_all();
    c.write(0, x);
    if (has_y) c.write(1, y);
    c.run(2);
    EXPECT_EQ(c.read<T>(has_y ? 2 : 1), expected_stream<T>(op, x, y, static_cast<T>(0.4)))
        << "operation " << op << ", " << count << " elements, " << c.info().implementation;
  }
}

TEST_P(EachIsa, StreamsMatchPlainLoopsAtEverySize) {
  const Environment isa("HBMARK_CPU_ISA", GetParam());
  PluginHost host;
  const OpenSession session(host, plugin("cpu"));
  EXPECT_STREQ(session.describe().isa, GetParam());
  // Below a vector, a line, a line a thread; one more and one less than each; not a multiple of the team.
  const std::size_t counts[] = {1, 2, 3, 7, 8, 9, 15, 16, 17, 31, 33, 63, 64, 65, 127, 129, 1000, 4097, 100'003};
  for (std::uint32_t op = HBMARK_STREAM_COPY; op <= HBMARK_STREAM_TRIAD; ++op) {
    for (const std::size_t count : counts) {
      check_stream<float>(HBMARK_F32, op, count, session);
      check_stream<double>(HBMARK_F64, op, count, session);
    }
  }
}

template <class T>
std::vector<T> random_numbers(std::size_t count, std::uint32_t seed) {
  if constexpr (sizeof(T) == 4) return random_floats(count, seed);
  if constexpr (sizeof(T) == 8) return random_doubles(count, seed);
}

template <class T>
void check_write(std::uint32_t type, std::size_t count, const OpenSession& session) {
  const hbmark_stream_problem problem = stream_problem(HBMARK_STREAM_WRITE, type, count * sizeof(T));
  OpenCase c(session, HBMARK_STREAM_V1, &problem);
  ASSERT_EQ(c.candidates().size(), 2u);
  for (std::uint32_t candidate = 0; candidate < 2; ++candidate) {
    c.select(candidate);
    c.bind_all();
    c.run(1);
    EXPECT_EQ(c.read<T>(0), std::vector<T>(count, static_cast<T>(0.4))) << count << " elements";
  }
}

template <class T>
void check_read(std::uint32_t type, std::size_t count, const OpenSession& session) {
  const hbmark_stream_problem problem = stream_problem(HBMARK_STREAM_READ, type, count * sizeof(T));
  OpenCase c(session, HBMARK_STREAM_V1, &problem);
  ASSERT_EQ(c.candidates().size(), 1u);
  c.bind_all();
  const std::vector<T> x = random_numbers<T>(count, 6);
  std::vector<std::int32_t> expected(HBMARK_STREAM_READ_SUMS);
  std::vector<std::uint32_t> words(count * sizeof(T) / 4);
  std::memcpy(words.data(), x.data(), words.size() * 4);
  for (std::size_t i = 0; i < words.size(); ++i) {
    auto& sum = expected[i % HBMARK_STREAM_READ_SUMS];
    sum = static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) + words[i]);
  }
  c.write(0, x);
  c.run(3);
  EXPECT_EQ(c.read<std::int32_t>(1), expected) << count << " elements";
}

TEST_P(EachIsa, ReadsAndWritesEveryElementAtEverySize) {
  const Environment isa("HBMARK_CPU_ISA", GetParam());
  PluginHost host;
  const OpenSession session(host, plugin("cpu"));
  // Below and beside a line, eight vectors of each width, a line a thread.
  for (const std::size_t count : {1, 2, 3, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 255, 257, 1000, 100'003}) {
    check_read<float>(HBMARK_F32, count, session);
    check_read<double>(HBMARK_F64, count, session);
    check_write<float>(HBMARK_F32, count, session);
    check_write<double>(HBMARK_F64, count, session);
  }
}

TEST(Cpu, AChaseFollowsTheCycleInItsOwnArray) {
  PluginHost host;
  const OpenSession session(host, plugin("cpu"));
  const hbmark_chase_problem problem{sizeof problem, 0, 5 * 64, 3};
  OpenCase c(session, HBMARK_CHASE_V1, &problem);
  EXPECT_EQ(c.operands()[0].canonical_bytes, 20u);
  EXPECT_EQ(c.operands()[0].device_bytes, 320u) << "one line an element: that is what is measured";
  c.bind_all();
  hbmark_status status = empty_status();
  EXPECT_EQ(c.kernel->run(c.handle, 1, &status), HBMARK_INVALID) << "nothing was written";
  EXPECT_THAT(status.message, HasSubstr("not written"));
  c.write(0, std::vector<std::int32_t>{2, 4, 1, 0, 3});  // 0 2 1 4 3
  c.run(1);
  EXPECT_EQ(c.read<std::int32_t>(1), (std::vector<std::int32_t>{0, 4}));
  c.run(1);
  EXPECT_EQ(c.read<std::int32_t>(1), (std::vector<std::int32_t>{4, 2}));
}

template <class T>
void check_peak(std::uint32_t type, double scale, double offset, double ulps, const OpenSession& session) {
  const hbmark_peak_problem problem = peak_problem(type, scale, offset);
  OpenCase c(session, HBMARK_PEAK_V1, &problem);
  c.bind_all();
  const std::size_t chains = c.operands()[0].canonical_bytes / sizeof(T);
  ASSERT_GT(chains, 0u);
  std::vector<T> x(chains);
  for (std::size_t i = 0; i < chains; ++i) x[i] = static_cast<T>(i % 17) - T{8};
  c.write(0, x);
  c.run(1);
  const double fixed_point = static_cast<double>(static_cast<T>(offset)) / (1 - static_cast<double>(static_cast<T>(scale)));
  const double tolerance = ulps * std::numeric_limits<T>::epsilon() * std::fabs(fixed_point) / (1 - std::fabs(scale));
  for (const T got : c.read<T>(1)) ASSERT_NEAR(got, fixed_point, tolerance) << "scale " << scale;
  const hbmark_case_info info = c.info();
  EXPECT_GT(info.flop_per_call, 2.0 * static_cast<double>(chains));
  EXPECT_EQ(std::fmod(info.flop_per_call, 2.0 * static_cast<double>(chains)), 0) << "a whole number of steps";
}

TEST_P(EachIsa, PeakComesToItsFixedPoint) {
  const Environment isa("HBMARK_CPU_ISA", GetParam());
  PluginHost host;
  const OpenSession session(host, plugin("cpu"));
  for (const double scale : {0.5, -0.5, 0.9, 0.999, 0.0}) {
    check_peak<float>(HBMARK_F32, scale, 0.3, 2, session);
    check_peak<double>(HBMARK_F64, scale, 0.3, 2, session);
  }
}

TEST(Cpu, RejectsAnUnknownOrAbsentInstructionSet) {
  const Environment isa("HBMARK_CPU_ISA", "avx9000");
  PluginHost host;
  hbmark_device device{};
  device.struct_size = sizeof device;
  std::uint32_t count = 99;
  hbmark_status status = empty_status();
  EXPECT_EQ(plugin("cpu")->probe(host.table(), &device, 1, &count, &status), HBMARK_UNAVAILABLE);
  EXPECT_EQ(count, 0u);
  EXPECT_THAT(status.message, HasSubstr("avx9000"));
  EXPECT_THAT(status.message, HasSubstr("avx512f, avx2 or sse2"));
}

TEST(Cpu, ProbesOneDeviceWithAName) {
  PluginHost host;
  hbmark_device device{};
  device.struct_size = sizeof device;
  std::uint32_t count = 0;
  hbmark_status status = empty_status();
  ASSERT_EQ(plugin("cpu")->probe(host.table(), &device, 1, &count, &status), HBMARK_OK) << status.message;
  EXPECT_EQ(count, 1u);
  EXPECT_STREQ(device.id, "cpu");
  EXPECT_STRNE(device.name, "");
  EXPECT_EQ(device.memory_bytes, 0u);
}

TEST(Cpu, SaysWhyAProblemIsUnsupported) {
  PluginHost host;
  const OpenSession session(host, plugin("cpu"));
  const auto reason = [&](const char* id, auto problem) {
    const hbmark_status status = session.supports(id, &problem);
    EXPECT_EQ(status.code, HBMARK_UNSUPPORTED);
    hbmark_case* c = nullptr;
    hbmark_status prepared = empty_status();
    EXPECT_EQ(session.kernel(id)->prepare(session.handle, &problem, &c, &prepared), HBMARK_UNSUPPORTED);
    EXPECT_EQ(c, nullptr);
    return std::string(status.message);
  };
  EXPECT_THAT(reason(HBMARK_STREAM_V1, stream_problem(7, HBMARK_F32, 64)), HasSubstr("copy, scale, add"));
  EXPECT_THAT(reason(HBMARK_STREAM_V1, stream_problem(HBMARK_STREAM_ADD, HBMARK_BF16, 64)), HasSubstr("bf16"));
  EXPECT_THAT(reason(HBMARK_STREAM_V1, stream_problem(HBMARK_STREAM_ADD, HBMARK_F64, 12)), HasSubstr("12 bytes"));
  EXPECT_THAT(reason(HBMARK_STREAM_V1, stream_problem(HBMARK_STREAM_ADD, HBMARK_F64, 0)), HasSubstr("0 bytes"));
  EXPECT_THAT(reason(HBMARK_CHASE_V1, hbmark_chase_problem{sizeof(hbmark_chase_problem), 0, 100, 1}),
              HasSubstr("100 bytes"));
  EXPECT_THAT(reason(HBMARK_CHASE_V1, hbmark_chase_problem{sizeof(hbmark_chase_problem), 0, std::uint64_t{1} << 40, 1}),
              HasSubstr("32 bits"));
  EXPECT_THAT(reason(HBMARK_CHASE_V1, hbmark_chase_problem{sizeof(hbmark_chase_problem), 0, 128, 0}),
              HasSubstr("without loads"));
  EXPECT_THAT(reason(HBMARK_PEAK_V1, peak_problem(HBMARK_S8, 0.5, 1)), HasSubstr("s8"));
  EXPECT_THAT(reason(HBMARK_PEAK_V1, peak_problem(HBMARK_F32, 1.0, 1)), HasSubstr("fixed point"));
  EXPECT_THAT(reason(HBMARK_PEAK_V1, peak_problem(HBMARK_F32, std::nan(""), 1)), HasSubstr("fixed point"));
  EXPECT_THAT(reason(HBMARK_PEAK_V1, peak_problem(HBMARK_F32, 0.5, 0)), HasSubstr("denormal"));
}

TEST(Cpu, EndsWhenCancelledAndGoesOnAfterwards) {
  PluginHost host;
  const OpenSession session(host, plugin("cpu"));
  const hbmark_stream_problem problem = stream_problem(HBMARK_STREAM_COPY, HBMARK_F64, 4096);
  OpenCase c(session, HBMARK_STREAM_V1, &problem);
  c.bind_all();
  c.write(0, random_doubles(512, 3));
  host.cancel = true;
  hbmark_status status = empty_status();
  EXPECT_EQ(c.kernel->run(c.handle, UINT64_MAX, &status), HBMARK_CANCELLED);
  host.cancel = false;
  c.run(1);
  EXPECT_EQ(c.read<double>(1), random_doubles(512, 3));
}

TEST(Cpu, GivesEveryBufferBack) {
  PluginHost host;
  {
    const OpenSession session(host, plugin("cpu"));
    const hbmark_stream_problem problem = stream_problem(HBMARK_STREAM_TRIAD, HBMARK_F32, 4096);
    OpenCase c(session, HBMARK_STREAM_V1, &problem);
    c.bind_all();
    EXPECT_EQ(host.live_allocations, 3);
    hbmark_buffer* extra = nullptr;
    hbmark_status status = empty_status();
    host.refuse_above_bytes = 100;
    EXPECT_EQ(session.memory->alloc(session.handle, 101, &extra, &status), HBMARK_OUT_OF_MEMORY);
    EXPECT_EQ(extra, nullptr);
    EXPECT_STREQ(status.message, "refused by the test");
  }
  EXPECT_EQ(host.live_allocations, 0);
}

}  // namespace
}  // namespace hbmark::tests
