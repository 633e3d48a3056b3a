// The SDK's border: failures, exceptions, structs of other sizes, order of calls; against a backend written here on it.
#include <gmock/gmock.h>

#include <cstring>
#include <new>

#include "backends/abi/gemm.h"
#include "backends/sdk/cpu_identity.h"
#include "backends/sdk/tables.h"
#include "plugin_host.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;

// m says what the case does when run.
enum Behaviour : std::int64_t { kWork = 1, kThrow, kThrowInt, kBadAlloc, kFail, kLongMessage };

class ToyCase final : public sdk::Case {
 public:
  explicit ToyCase(Behaviour behaviour) : behaviour_(behaviour) {}
  std::vector<sdk::Candidate> candidates() const override {
    return {{"plain", HBMARK_ALGORITHM_DIRECT, 0}, {"with workspace", HBMARK_ALGORITHM_WINOGRAD, 256}};
  }
  sdk::Status select(std::uint32_t index) override {
    selected_ = index;
    return {};
  }
  std::vector<sdk::Operand> operands() const override {
    std::vector<sdk::Operand> list = {{"a", HBMARK_INPUT, HBMARK_F32, 16, 32}, {"c", HBMARK_OUTPUT, HBMARK_F32, 16, 16}};
    if (selected_ == 1) list.push_back({"workspace", HBMARK_WORKSPACE, 0, 0, 256});
    return list;
  }
  sdk::Status run(std::uint64_t calls) override {
    switch (behaviour_) {
      case kThrow:
        throw std::runtime_error("the vendor's words");
      case kThrowInt:
        throw 42;
      case kBadAlloc:
        throw std::bad_alloc();
      case kFail:
        return sdk::failed("the library said no", -7);
      case kLongMessage:
        return sdk::failed(std::string(478, 'x') + "\xc3\xa9\xc3\xa9");
      default:
        break;
    }
    for (std::uint64_t i = 0; i < calls; ++i) std::memcpy(buffer(1).data(), buffer(0).data(), 16);
    return {};
  }

 private:
  Behaviour behaviour_;
  std::uint32_t selected_ = 0;
};

class ToySession final : public sdk::Session {
 public:
  using Session::Session;
  sdk::Status supports(const hbmark_gemm_problem& problem) const {
    if (problem.batch > 1) return sdk::unsupported("no batches");
    return {};
  }
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const hbmark_gemm_problem& problem) {
    HBMARK_SDK_TRY(supports(problem));
    return std::make_unique<ToyCase>(static_cast<Behaviour>(problem.m));
  }
  sdk::Status timer_begin() { return {}; }
  sdk::Status timer_end() { return {}; }
  sdk::Expected<double> timer_elapsed() { return 0.25; }
};

struct ToyBackend {
  using Session = ToySession;
  static constexpr const char* kName = "toy";
  static constexpr const char* kVersion = "1";
  static constexpr const char* kSummary = "for tests";
  static constexpr sdk::Capability kCapabilities[] = {sdk::kernel<Session, hbmark_gemm_problem>(HBMARK_GEMM_V1)};
  static sdk::Expected<std::vector<sdk::Device>> probe(const sdk::Host& host) {
    host.warn("probing");
    return std::vector<sdk::Device>{{"toy:0", "first", HBMARK_DEVICE_CPU, 0}, {"toy:1", "second", HBMARK_DEVICE_GPU, 7}};
  }
  static sdk::Expected<std::unique_ptr<Session>> open(const sdk::Host& host, std::string_view id) {
    if (id == "throw") throw std::bad_alloc();
    return std::make_unique<Session>(host);
  }
};

const hbmark_backend* toy() { return &sdk::thunk::kBackend<ToyBackend>; }

hbmark_gemm_problem problem_of(Behaviour behaviour, std::int64_t batch = 1) {
  return {sizeof(hbmark_gemm_problem), HBMARK_F32, 0, 0, behaviour, 2, 2, batch};
}

class Sdk : public ::testing::Test {
 protected:
  hbmark_status run(Behaviour behaviour) {
    const hbmark_gemm_problem problem = problem_of(behaviour);
    OpenCase c(session_, HBMARK_GEMM_V1, &problem);
    c.bind_all();
    hbmark_status status = empty_status();
    const std::int32_t code = c.kernel->run(c.handle, 1, &status);
    EXPECT_EQ(code, status.code);
    return status;
  }

  PluginHost host_;
  OpenSession session_{host_, toy(), "toy:0"};
};

TEST_F(Sdk, RunsAHappyCaseThroughTheTables) {
  const hbmark_gemm_problem problem = problem_of(kWork);
  OpenCase c(session_, HBMARK_GEMM_V1, &problem);
  c.bind_all();
  const std::vector<float> values = {1, 2, 3, 4};
  c.write(0, values);
  c.run(3);
  EXPECT_EQ(c.read<float>(1), values);
}

TEST_F(Sdk, TurnsExceptionsIntoStatuses) {
  hbmark_status status = run(kThrow);
  EXPECT_EQ(status.code, HBMARK_FAILED);
  EXPECT_STREQ(status.message, "the vendor's words");
  status = run(kThrowInt);
  EXPECT_EQ(status.code, HBMARK_FAILED);
  EXPECT_THAT(status.message, HasSubstr("no std::exception"));
  status = run(kBadAlloc);
  EXPECT_EQ(status.code, HBMARK_OUT_OF_MEMORY);
  EXPECT_STRNE(status.message, "");
  status = run(kFail);
  EXPECT_EQ(status.code, HBMARK_FAILED);
  EXPECT_EQ(status.vendor_code, -7);
  hbmark_session* none = nullptr;
  status = empty_status();
  EXPECT_EQ(toy()->open(host_.table(), "throw", &none, &status), HBMARK_OUT_OF_MEMORY);
  EXPECT_EQ(none, nullptr);
}

TEST_F(Sdk, CutsLongMessagesBetweenCharacters) {
  const hbmark_status status = run(kLongMessage);
  EXPECT_EQ(std::string(status.message), std::string(478, 'x'));
}

TEST_F(Sdk, ChecksIndexesSizesRolesAndOrder) {
  const hbmark_gemm_problem problem = problem_of(kWork);
  OpenCase c(session_, HBMARK_GEMM_V1, &problem);
  hbmark_status status = empty_status();
  float values[4] = {};
  EXPECT_EQ(c.kernel->run(c.handle, 1, &status), HBMARK_INVALID);
  EXPECT_THAT(status.message, HasSubstr("\"a\" is not bound"));
  EXPECT_EQ(session_.memory->write_input(c.handle, 0, values, 16, &status), HBMARK_INVALID);
  c.bind_all();
  EXPECT_EQ(session_.memory->write_input(c.handle, 0, values, 15, &status), HBMARK_INVALID);
  EXPECT_THAT(status.message, HasSubstr("16 bytes, not 15"));
  EXPECT_EQ(session_.memory->write_input(c.handle, 0, nullptr, 16, &status), HBMARK_INVALID);
  EXPECT_EQ(session_.memory->write_input(c.handle, 1, values, 16, &status), HBMARK_INVALID);
  EXPECT_EQ(session_.memory->read_output(c.handle, 0, values, 16, &status), HBMARK_INVALID);
  EXPECT_EQ(session_.memory->read_output(c.handle, 9, values, 16, &status), HBMARK_INVALID);
  EXPECT_EQ(c.kernel->bind(c.handle, 9, c.buffer(0), &status), HBMARK_INVALID);
  EXPECT_EQ(c.kernel->bind(c.handle, 0, nullptr, &status), HBMARK_INVALID);
  EXPECT_EQ(c.kernel->bind(c.handle, 0, c.buffer(1), &status), HBMARK_INVALID) << "a buffer that is too small";
  EXPECT_EQ(c.kernel->select(c.handle, 2, &status), HBMARK_INVALID);
  EXPECT_EQ(c.kernel->convert(c.handle, 1, &status), HBMARK_INVALID);
  EXPECT_EQ(c.kernel->run(c.handle, 1, &status), HBMARK_OK) << "refusals changed nothing";
  EXPECT_STREQ(status.message, "");
}

TEST_F(Sdk, SelectingUnbindsAndChangesTheOperands) {
  const hbmark_gemm_problem problem = problem_of(kWork);
  OpenCase c(session_, HBMARK_GEMM_V1, &problem);
  c.bind_all();
  c.select(1);
  EXPECT_EQ(c.operands().size(), 3u);
  hbmark_status status = empty_status();
  EXPECT_EQ(c.kernel->run(c.handle, 1, &status), HBMARK_INVALID);
  c.bind_all();
  c.run(1);
}

TEST_F(Sdk, ReadsOlderAndNewerProblems) {
  hbmark_gemm_problem problem = problem_of(kWork, 5);
  EXPECT_EQ(session_.supports(HBMARK_GEMM_V1, &problem).code, HBMARK_UNSUPPORTED);
  problem.struct_size = offsetof(hbmark_gemm_problem, batch);  // an older host: it never said 5
  EXPECT_EQ(session_.supports(HBMARK_GEMM_V1, &problem).code, HBMARK_OK);

  struct Newer {
    hbmark_gemm_problem known;
    std::int64_t unheard_of;
  } newer{problem_of(kWork), 0};
  newer.known.struct_size = sizeof newer;
  EXPECT_EQ(session_.supports(HBMARK_GEMM_V1, &newer).code, HBMARK_OK);
  newer.unheard_of = 1;
  const hbmark_status status = session_.supports(HBMARK_GEMM_V1, &newer);
  EXPECT_EQ(status.code, HBMARK_UNSUPPORTED);
  EXPECT_THAT(status.message, HasSubstr("newer"));
  problem.struct_size = 0;
  EXPECT_EQ(session_.supports(HBMARK_GEMM_V1, &problem).code, HBMARK_INVALID);
  EXPECT_EQ(session_.supports(HBMARK_GEMM_V1, nullptr).code, HBMARK_INVALID);
}

TEST_F(Sdk, FillsListsOfAnOlderHostByItsOwnStride) {
  // An older hbmark_device that ends after id, and something behind the array that must stay.
  struct alignas(hbmark_device) OldDevice {
    std::uint32_t struct_size;
    std::uint32_t kind;
    char id[64];
  } devices[3] = {};
  for (OldDevice& each : devices) each.struct_size = sizeof each;
  std::strcpy(devices[2].id, "untouched");
  std::uint32_t count = 0;
  hbmark_status status = empty_status();
  ASSERT_EQ(toy()->probe(host_.table(), reinterpret_cast<hbmark_device*>(devices), 2, &count, &status), HBMARK_OK);
  EXPECT_EQ(count, 2u);
  EXPECT_STREQ(devices[0].id, "toy:0");
  EXPECT_STREQ(devices[1].id, "toy:1");
  EXPECT_EQ(devices[1].kind, std::uint32_t{HBMARK_DEVICE_GPU});
  EXPECT_STREQ(devices[2].id, "untouched");
  EXPECT_THAT(host_.log, ::testing::ElementsAre("probing"));
  ASSERT_EQ(toy()->probe(host_.table(), nullptr, 0, &count, &status), HBMARK_OK) << "only asks how many";
  EXPECT_EQ(count, 2u);
}

TEST_F(Sdk, FillsAStatusOnlyAsFarAsItGoes) {
  struct {
    hbmark_status status;
    char beyond;
  } small{};
  small.status.struct_size = offsetof(hbmark_status, message) + 8;
  std::memset(small.status.message, 'z', sizeof small.status.message);
  const hbmark_gemm_problem problem = problem_of(kWork, 2);
  EXPECT_EQ(session_.kernel(HBMARK_GEMM_V1)->supports(session_.handle, &problem, &small.status), HBMARK_UNSUPPORTED);
  EXPECT_EQ(std::memcmp(small.status.message, "no batchzz", 10), 0);
}

TEST_F(Sdk, OffersTheCapabilitiesOfTheSession) {
  EXPECT_NE(toy()->capability(HBMARK_MEMORY_V1), nullptr);
  EXPECT_NE(toy()->capability(HBMARK_INFO_V1), nullptr);
  EXPECT_EQ(toy()->capability("hbmark.conv/1"), nullptr);
  EXPECT_EQ(toy()->capability(nullptr), nullptr);
  const auto* timer = static_cast<const hbmark_timer*>(toy()->capability(HBMARK_TIMER_V1));
  ASSERT_NE(timer, nullptr);
  double elapsed_s = 0;
  hbmark_status status = empty_status();
  EXPECT_EQ(timer->begin(session_.handle, &status), HBMARK_OK);
  EXPECT_EQ(timer->end(session_.handle, &status), HBMARK_OK);
  EXPECT_EQ(timer->elapsed(session_.handle, &elapsed_s, &status), HBMARK_OK);
  EXPECT_EQ(elapsed_s, 0.25);
}

TEST_F(Sdk, AllocatesAlignedMemoryFromTheHostOrWithoutIt) {
  for (const bool offered : {true, false}) {
    PluginHost host;
    host.offer_services = offered;
    {
      const OpenSession session(host, toy(), "toy:0");
      hbmark_status status = empty_status();
      for (const std::uint64_t bytes : {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{5000}}) {
        hbmark_buffer* buffer = nullptr;
        ASSERT_EQ(session.memory->alloc(session.handle, bytes, &buffer, &status), HBMARK_OK);
        EXPECT_EQ(reinterpret_cast<std::uintptr_t>(session.memory->address(buffer)) % 64, 0u);
        std::memset(session.memory->address(buffer), 1, bytes);
        EXPECT_EQ(host.live_allocations, offered ? 1 : 0);
        session.memory->free(session.handle, buffer);
      }
      hbmark_buffer* buffer = nullptr;
      EXPECT_EQ(session.memory->alloc(session.handle, 0, &buffer, &status), HBMARK_INVALID);
      EXPECT_EQ(session.memory->alloc(session.handle, UINT64_MAX, &buffer, &status), HBMARK_OUT_OF_MEMORY);
      EXPECT_EQ(buffer, nullptr);
    }
    EXPECT_EQ(host.live_allocations, 0);
  }
}

TEST(SdkHelpers, KnowsTypesProductsAndTheCpu) {
  EXPECT_EQ(sdk::type_name(HBMARK_BF16), "bf16");
  EXPECT_EQ(sdk::type_name(99), "type 99");
  EXPECT_EQ(sdk::size_of_type(HBMARK_F64), 8u);
  EXPECT_EQ(sdk::size_of_type(99), 0u);
  EXPECT_EQ(*sdk::checked_product({3, 4, 5}), 60u);
  EXPECT_EQ(*sdk::checked_product({0, INT64_MAX, INT64_MAX}), 0u);
  EXPECT_EQ(sdk::checked_product({INT64_MAX, 2}).error().code, HBMARK_UNSUPPORTED);
  EXPECT_EQ(sdk::checked_product({-1, 2}).error().code, HBMARK_INVALID);
  EXPECT_NE(sdk::cpu_identity().brand, "");
  EXPECT_TRUE(sdk::is_knights({"", 6, 0x57}));
  EXPECT_TRUE(sdk::is_knights({"", 6, 0x85}));
  EXPECT_FALSE(sdk::is_knights({"", 6, 0x55}));
  EXPECT_FALSE(sdk::is_knights({"", 25, 0x57}));
}

}  // namespace
}  // namespace hbmark::tests
