// The contract, put to every backend there is: each plugin of the stage's backend folder, the test backend folder and
// $HBMARK_BACKEND_PATH, with each of its kernels and every problem of problems.h. A new plugin is tested by being there.
#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "backends/loader/members.h"
#include "tests/contract/driver.h"
#include "tests/contract/judge.h"
#include "tests/contract/problems.h"

namespace hbmark::tests {
namespace {

constexpr std::uint64_t kSeed = 20;
constexpr std::uint32_t kMostCandidatesTried = 6;

struct Subject {
  std::string backend;
  std::size_t kernel = 0;
};

void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.backend << " " << contract_kernels()[subject.kernel].name;
}

std::vector<Subject> list_subjects() {
  std::vector<Subject> subjects;
  for (const LoadedBackend& backend : plugins().backends) {
    for (std::size_t i = 0; i < contract_kernels().size(); ++i) {
      if (backend.table->capability(contract_kernels()[i].capability) != nullptr) subjects.push_back({backend.name, i});
    }
  }
  return subjects;
}

class KernelContract : public testing::TestWithParam<Subject> {
 protected:
  void SetUp() override {
    kernel_ = &contract_kernels()[GetParam().kernel];
    session_ = std::make_unique<TestSession>(find_backend(GetParam().backend), host_);
    if (!session_->ok()) {
      EXPECT_FALSE(session_->opened().message.empty()) << "unavailable without a reason";
      GTEST_SKIP() << GetParam().backend << " is not available here: " << session_->opened().message;
    }
  }
  void TearDown() override {
    session_.reset();
    EXPECT_EQ(host_.live(), 0u) << "host memory was leaked";
    EXPECT_THAT(host_.faults(), testing::IsEmpty());
  }

  std::unique_ptr<TestCase> make_case(const ContractProblem& problem) {
    return std::make_unique<TestCase>(*session_, kernel_->capability, problem.bytes);
  }

  // The problems that this backend says it supports. At least one, or it should not offer the kernel.
  std::vector<const ContractProblem*> supported() {
    std::vector<const ContractProblem*> result;
    for (const ContractProblem& problem : kernel_->problems) {
      if (make_case(problem)->supports()) result.push_back(&problem);
    }
    EXPECT_FALSE(result.empty()) << "offers the kernel and supports none of its problems";
    return result;
  }
  // A few of them, of every kind: for tests whose cost grows with the square of something.
  std::vector<const ContractProblem*> some_supported() {
    const auto all = supported();
    std::vector<const ContractProblem*> result;
    const std::size_t step = std::max<std::size_t>(1, all.size() / 6);
    for (std::size_t i = 0; i < all.size(); i += step) result.push_back(all[i]);
    return result;
  }

  std::uint32_t algorithm_class(TestCase& c) {
    hbmark_case_info info;
    EXPECT_TRUE(c.info(info));
    return info.algorithm_class;
  }
  void expect_right(TestCase& c, const ContractProblem& problem, const Expected& expected, const char* when) {
    Bytes out;
    const Called result = c.read(out);
    ASSERT_TRUE(result) << result.message;
    EXPECT_EQ(judge(problem, expected, to_doubles(out, c.output().type), algorithm_class(c)), "") << when;
  }

  TestHost host_;
  const ContractKernel* kernel_ = nullptr;
  std::unique_ptr<TestSession> session_;
};

TEST_P(KernelContract, TableIsWholeAndStable) {
  const hbmark_backend& backend = session_->backend();
  EXPECT_EQ(backend.capability(kernel_->capability), backend.capability(kernel_->capability));
  const hbmark_kernel table = session_->kernel(kernel_->capability);
  EXPECT_NE(table.supports, nullptr);
  EXPECT_NE(table.prepare, nullptr);
  EXPECT_NE(table.candidates, nullptr);
  EXPECT_NE(table.select, nullptr);
  EXPECT_NE(table.operands, nullptr);
  EXPECT_NE(table.bind, nullptr);
  EXPECT_NE(table.run, nullptr);
  EXPECT_NE(table.info, nullptr);
  EXPECT_NE(table.release, nullptr);
}

TEST_P(KernelContract, SupportsIsTruthfulBothWays) {
  int yes = 0;
  for (const ContractProblem& problem : kernel_->problems) {
    SCOPED_TRACE(problem.text);
    const auto c = make_case(problem);
    const Called said = c->supports();
    const Called again = c->supports();
    EXPECT_EQ(said.code, again.code) << "says one thing and then another";
    const Called did = c->prepare();
    EXPECT_EQ(said.code, did.code) << "supports: \"" << said.message << "\", prepare: \"" << did.message << "\"";
    if (said) {
      ++yes;
      continue;
    }
    EXPECT_EQ(said.code, HBMARK_UNSUPPORTED) << said.message;
    EXPECT_FALSE(said.message.empty()) << "unsupported without a reason";
    EXPECT_FALSE(did.message.empty()) << "unsupported without a reason";
  }
  EXPECT_GT(yes, 0) << "offers the kernel and supports none of its problems";
}

TEST_P(KernelContract, BrokenProblemsGiveACodeAndAReason) {
  ASSERT_FALSE(kernel_->broken.empty());
  for (const ContractProblem& problem : kernel_->broken) {
    SCOPED_TRACE(problem.text);
    const auto c = make_case(problem);
    for (const Called& result : {c->supports(), c->prepare()}) {
      EXPECT_TRUE(result.code == HBMARK_INVALID || result.code == HBMARK_UNSUPPORTED || result.code == HBMARK_OUT_OF_MEMORY)
          << "code " << result.code << ": " << result.message;
      EXPECT_FALSE(result.message.empty());
    }
  }
}

TEST_P(KernelContract, OperandsAreThoseOfTheKernelAndDoNotChange) {
  for (const ContractProblem* problem : supported()) {
    SCOPED_TRACE(problem->text);
    const auto first = make_case(*problem);
    const auto second = make_case(*problem);
    for (TestCase* c : {first.get(), second.get()}) {
      ASSERT_TRUE(c->prepare());
      ASSERT_TRUE(c->list_operands());
    }
    ASSERT_EQ(first->operands().size(), second->operands().size());
    for (std::size_t i = 0; i < first->operands().size(); ++i) {
      EXPECT_EQ(std::memcmp(&first->operands()[i], &second->operands()[i], sizeof(hbmark_operand)), 0) << "operand " << i;
    }
    const Expected expected = expect(*kernel_, *problem, kSeed);
    ASSERT_GE(first->operands().size(), expected.operands.size());
    for (std::size_t i = 0; i < expected.operands.size(); ++i) {
      const hbmark_operand& mine = first->operands()[i];
      EXPECT_STREQ(mine.name, expected.operands[i].name);
      EXPECT_EQ(mine.role, expected.operands[i].role) << mine.name;
      EXPECT_EQ(mine.type, expected.operands[i].type) << mine.name;
      EXPECT_EQ(mine.canonical_bytes, expected.operands[i].canonical_bytes) << mine.name;
    }
    for (std::size_t i = 0; i < first->operands().size(); ++i) {
      const hbmark_operand& mine = first->operands()[i];
      const bool workspace = mine.role == HBMARK_WORKSPACE;
      EXPECT_EQ(mine.canonical_bytes == 0, workspace) << mine.name;
      EXPECT_TRUE(expected.operands.empty() || workspace == (i >= expected.operands.size())) << mine.name;
    }
  }
}

TEST_P(KernelContract, EveryCandidateMatchesTheReference) {
  for (const ContractProblem* problem : supported()) {
    SCOPED_TRACE(problem->text);
    const Expected expected = expect(*kernel_, *problem, kSeed);
    const auto c = make_case(*problem);
    ASSERT_TRUE(c->prepare());
    ASSERT_TRUE(c->list_candidates());
    const auto count = std::min(static_cast<std::uint32_t>(c->candidates().size()), kMostCandidatesTried);
    for (std::uint32_t i = 0; i < count; ++i) {
      SCOPED_TRACE(c->candidates()[i].name);
      for (const Called& result : {c->select(i), c->list_operands(), c->bind_all(), c->write_all(kSeed), c->run(1)}) {
        ASSERT_TRUE(result) << result.message;
      }
      expect_right(*c, *problem, expected, "after one call");
      EXPECT_EQ(algorithm_class(*c), c->candidates()[i].algorithm_class);
    }
  }
}

TEST_P(KernelContract, OutputsAreLeftAsOneCallWould) {
  for (const ContractProblem* problem : supported()) {
    SCOPED_TRACE(problem->text);
    const auto c = make_case(*problem);
    const Called result = c->everything_until_run(kSeed);
    ASSERT_TRUE(result) << result.message;
    ASSERT_TRUE(c->run(3));
    expect_right(*c, *problem, expect(*kernel_, *problem, kSeed), "after three more calls");
    // New inputs in the same buffers: nothing may be kept from the calls before.
    ASSERT_TRUE(c->write_all(kSeed + 1));
    ASSERT_TRUE(c->run(2));
    expect_right(*c, *problem, expect(*kernel_, *problem, kSeed + 1), "after other inputs");
  }
}

TEST_P(KernelContract, ConversionLeavesTheCaseUsable) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    const auto c = make_case(*problem);
    ASSERT_TRUE(c->everything_until_run(kSeed));
    hbmark_case_info info;
    ASSERT_TRUE(c->info(info));
    if (info.has_conversion == 0) continue;
    ASSERT_NE(c->table().convert, nullptr) << "has_conversion without convert";
    const Called result = c->convert(2);
    ASSERT_TRUE(result) << result.message;
    ASSERT_TRUE(c->write_all(kSeed));
    ASSERT_TRUE(c->run(1));
    expect_right(*c, *problem, expect(*kernel_, *problem, kSeed), "after convert");
  }
}

TEST_P(KernelContract, InfoIsText) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    const auto c = make_case(*problem);
    ASSERT_TRUE(c->prepare());
    hbmark_case_info info;
    const Called result = c->info(info);
    ASSERT_TRUE(result) << result.message;
    EXPECT_EQ(info.struct_size, sizeof info);
    EXPECT_FALSE(checked_text(info.implementation, sizeof info.implementation).empty()) << "what runs has no name";
    checked_text(info.isa, sizeof info.isa);
    checked_text(info.layout, sizeof info.layout);
    EXPECT_LE(info.has_conversion, 1u);
    EXPECT_GE(info.flop_per_call, 0);
    EXPECT_GE(info.bytes_per_call, 0);
    EXPECT_TRUE(kernel_->name != "peak" || info.flop_per_call > 0) << "only the plugin knows the flop of a peak";
  }
}

TEST_P(KernelContract, EveryAllocationMayFail) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    bool succeeded = false;
    for (std::uint64_t nth = 1; nth < 64 && !succeeded; ++nth) {
      SCOPED_TRACE("allocation " + std::to_string(nth) + " refused");
      const auto c = make_case(*problem);
      host_.fail_allocation(nth);
      const Called result = c->everything_until_run(kSeed);
      succeeded = host_.refused() == 0;
      host_.fail_allocation(0);
      if (succeeded) {
        EXPECT_TRUE(result) << result.message;
      } else {
        EXPECT_EQ(result.code, HBMARK_OUT_OF_MEMORY) << result.message;
        EXPECT_FALSE(result.message.empty());
      }
    }
    EXPECT_TRUE(succeeded) << "never got by without more memory";
    EXPECT_EQ(host_.live(), 0u) << "leaked";
    const auto c = make_case(*problem);  // the session is still of use
    ASSERT_TRUE(c->everything_until_run(kSeed));
    expect_right(*c, *problem, expect(*kernel_, *problem, kSeed), "after memory was refused");
  }
}

TEST_P(KernelContract, ReleaseIsPossibleAfterEveryStep) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    for (int steps = 0; steps <= 7; ++steps) {
      const auto c = make_case(*problem);
      const std::function<Called()> life[] = {[&] { return c->prepare(); },  [&] { return c->list_candidates(); },
                                              [&] { return c->select(0); },  [&] { return c->list_operands(); },
                                              [&] { return c->bind_all(); }, [&] { return c->write_all(kSeed); },
                                              [&] { return c->run(1); }};
      for (int i = 0; i < steps; ++i) ASSERT_TRUE(life[i]()) << "step " << i;
    }
    EXPECT_EQ(host_.live(), 0u) << "leaked";
  }
}

TEST_P(KernelContract, CallsOutOfOrderAreRefusedAndDoNoHarm) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    const auto c = make_case(*problem);
    const auto refused = [](const Called& result, const char* what) {
      EXPECT_EQ(result.code, HBMARK_INVALID) << what << ": " << result.message;
      EXPECT_FALSE(result.message.empty()) << what;
    };
    ASSERT_TRUE(c->prepare());
    ASSERT_TRUE(c->list_candidates());
    ASSERT_TRUE(c->list_operands());
    Bytes out;
    refused(c->run(1), "run before bind");
    refused(c->read(out), "read before bind");
    refused(c->write(0, make_input(c->operands()[0], kSeed, false)), "write before bind");
    refused(c->select(static_cast<std::uint32_t>(c->candidates().size())), "select of a candidate that is not there");
    refused(c->select(0xffffffffu), "select of a candidate that is not there");
    ASSERT_TRUE(c->bind_all());
    refused(call([&](hbmark_status* s) { return c->table().bind(c->handle(), 99, nullptr, s); }), "bind of operand 99");
    refused(call([&](hbmark_status* s) { return c->table().bind(c->handle(), 0, nullptr, s); }), "bind of nothing");
    refused(c->write(0, Bytes(c->operands()[0].canonical_bytes + 8)), "write of too much");
    refused(c->write(c->output_index(), Bytes(c->output().canonical_bytes)), "write of an output");
    refused(c->write(99, Bytes(8)), "write of operand 99");
    ASSERT_TRUE(c->select(0));
    refused(c->run(1), "run after select, which unbinds");
    ASSERT_TRUE(c->list_operands());
    for (const Called& result : {c->bind_all(), c->write_all(kSeed), c->run(1)}) ASSERT_TRUE(result) << result.message;
    expect_right(*c, *problem, expect(*kernel_, *problem, kSeed), "after calls out of order");
  }
}

TEST_P(KernelContract, ABufferThatIsTooSmallIsRefused) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    const auto c = make_case(*problem);
    ASSERT_TRUE(c->prepare());
    ASSERT_TRUE(c->list_operands());
    if (c->operands()[0].device_bytes < 2) continue;
    hbmark_buffer* buffer = nullptr;
    const hbmark_memory& memory = session_->memory();
    ASSERT_TRUE(call(
        [&](hbmark_status* s) { return memory.alloc(session_->handle(), c->operands()[0].device_bytes - 1, &buffer, s); }));
    const Called result = call([&](hbmark_status* s) { return c->table().bind(c->handle(), 0, buffer, s); });
    EXPECT_EQ(result.code, HBMARK_INVALID) << result.message;
    memory.free(session_->handle(), buffer);
  }
}

TEST_P(KernelContract, CancelEndsARunAndNoMore) {
  for (const ContractProblem* problem : some_supported()) {
    SCOPED_TRACE(problem->text);
    const auto c = make_case(*problem);
    ASSERT_TRUE(c->everything_until_run(kSeed));
    host_.cancel = true;
    const Called result = c->run(2);
    host_.cancel = false;
    EXPECT_TRUE(result.code == HBMARK_CANCELLED || result.code == HBMARK_OK) << result.code << ": " << result.message;
    host_.cancel_looks = 0;
    ASSERT_TRUE(c->run(5)) << "a cancelled run spoilt the next";
    EXPECT_LE(host_.cancel_looks, 5u) << "looks at the cancel service more than once a call inside what is timed";
    expect_right(*c, *problem, expect(*kernel_, *problem, kSeed), "after a cancelled run");
  }
}

TEST_P(KernelContract, NeitherStdoutNorStderrIsWritten) {
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  bool right = true;
  for (const ContractProblem* problem : some_supported()) {
    const auto c = make_case(*problem);
    right = right && c->everything_until_run(kSeed);
    static_cast<void>(c->run(2));
  }
  for (const ContractProblem& problem : kernel_->broken) static_cast<void>(make_case(problem)->prepare());
  std::fflush(nullptr);
  const std::string err = testing::internal::GetCapturedStderr();
  const std::string out = testing::internal::GetCapturedStdout();
  EXPECT_EQ(out, "");
  EXPECT_EQ(err, "");
  EXPECT_TRUE(right);
}

TEST_P(KernelContract, ListsRespectTheirCapacity) {
  const ContractProblem* problem = supported().at(0);
  const auto c = make_case(*problem);
  ASSERT_TRUE(c->prepare());
  ASSERT_TRUE(c->list_operands());
  std::vector<hbmark_operand> list(2);
  std::memset(static_cast<void*>(list.data()), 0x77, 2 * sizeof list[0]);
  list[0].struct_size = sizeof list[0];
  std::uint32_t count = 0;
  ASSERT_TRUE(call([&](hbmark_status* s) { return c->table().operands(c->handle(), list.data(), 1, &count, s); }));
  EXPECT_EQ(count, c->operands().size());
  EXPECT_STREQ(list[0].name, c->operands()[0].name);
  EXPECT_EQ(list[1].role, 0x77777777u) << "wrote past the capacity";
  ASSERT_TRUE(call([&](hbmark_status* s) { return c->table().operands(c->handle(), nullptr, 0, &count, s); }));
  EXPECT_EQ(count, c->operands().size());
  ASSERT_TRUE(call([&](hbmark_status* s) { return c->table().candidates(c->handle(), nullptr, 0, &count, s); }));
  EXPECT_GT(count, 0u);
}

TEST_P(KernelContract, AnOlderHostsStructsAreFilledNoFurtherThanTheyReach) {
  const ContractProblem* problem = supported().at(0);
  const auto c = make_case(*problem);
  ASSERT_TRUE(c->prepare());
  hbmark_case_info info;
  std::memset(static_cast<void*>(&info), 0x77, sizeof info);
  info.struct_size = offsetof(hbmark_case_info, isa);
  ASSERT_TRUE(call([&](hbmark_status* s) { return c->table().info(c->handle(), &info, s); }));
  for (std::size_t i = offsetof(hbmark_case_info, isa); i < sizeof info; ++i) {
    ASSERT_EQ(reinterpret_cast<const unsigned char*>(&info)[i], 0x77) << "wrote past struct_size, at byte " << i;
  }
  checked_text(info.implementation, sizeof info.implementation);

  hbmark_status status;
  std::memset(&status, 0x77, sizeof status);
  status.struct_size = offsetof(hbmark_status, message);
  EXPECT_NE(c->table().select(c->handle(), 0xffffffffu, &status), HBMARK_OK);
  EXPECT_EQ(status.message[0], 0x77) << "wrote past the struct_size of a status";
}

TEST_P(KernelContract, AnOlderHostsShorterProblemMeansTheDefaults) {
  int tried = 0;
  for (const ContractProblem* problem : supported()) {
    if (problem->least_size == 0) continue;
    SCOPED_TRACE(problem->text);
    Bytes shorter(problem->bytes.begin(), problem->bytes.begin() + problem->least_size);
    std::memcpy(shorter.data(), &problem->least_size, sizeof problem->least_size);
    TestCase c(*session_, kernel_->capability, shorter);
    EXPECT_TRUE(c.supports());
    const Called result = c.everything_until_run(kSeed);
    ASSERT_TRUE(result) << result.message;
    expect_right(c, *problem, expect(*kernel_, *problem, kSeed), "with a shorter problem struct");
    if (++tried == 3) break;
  }
  if (tried == 0) GTEST_SKIP() << kernel_->name << " has no options to leave out";
}

TEST_P(KernelContract, ANewerHostsLargerStructsAreAccepted) {
  const ContractProblem* problem = supported().at(0);
  Bytes larger = problem->bytes;
  larger.resize(larger.size() + 64);  // members that this plugin does not know, at their default
  const auto size = static_cast<std::uint32_t>(larger.size());
  std::memcpy(larger.data(), &size, sizeof size);
  TestCase c(*session_, kernel_->capability, larger);
  EXPECT_TRUE(c.supports());
  const Called result = c.everything_until_run(kSeed);
  ASSERT_TRUE(result) << result.message;
  expect_right(c, *problem, expect(*kernel_, *problem, kSeed), "with a larger problem struct");
}

TEST_P(KernelContract, WorksForAHostWithoutServices) {
  TestHost bare;
  bare.offers_services = false;
  const ContractProblem* problem = supported().at(0);
  TestSession session(&session_->backend(), bare);
  ASSERT_TRUE(session.ok()) << session.opened().message;
  TestCase c(session, kernel_->capability, problem->bytes);
  const Called result = c.everything_until_run(kSeed);
  ASSERT_TRUE(result) << result.message;
  expect_right(c, *problem, expect(*kernel_, *problem, kSeed), "without services");
}

TEST_P(KernelContract, TwoCasesLiveSideBySide) {
  const auto problems = some_supported();
  const auto first = make_case(*problems.front());
  const auto second = make_case(*problems.back());
  ASSERT_TRUE(first->everything_until_run(kSeed));
  ASSERT_TRUE(second->everything_until_run(kSeed));
  ASSERT_TRUE(first->run(1));
  expect_right(*first, *problems.front(), expect(*kernel_, *problems.front(), kSeed), "beside another case");
  expect_right(*second, *problems.back(), expect(*kernel_, *problems.back(), kSeed), "beside another case");
}

TEST_P(KernelContract, TheDeviceClockAdvances) {
  const auto timer = find_capability<hbmark_timer>(session_->backend(), HBMARK_TIMER_V1);
  if (!timer) GTEST_SKIP() << GetParam().backend << " has no clock of its own: the host times it";
  const auto c = make_case(*supported().at(0));
  ASSERT_TRUE(c->everything_until_run(kSeed));
  const auto time = [&](std::uint64_t calls) {
    double elapsed_s = -1;
    EXPECT_TRUE(call([&](hbmark_status* s) { return timer->begin(session_->handle(), s); }));
    EXPECT_TRUE(c->run(calls));
    EXPECT_TRUE(call([&](hbmark_status* s) { return timer->end(session_->handle(), s); }));
    EXPECT_TRUE(call([&](hbmark_status* s) { return timer->elapsed(session_->handle(), &elapsed_s, s); }));
    return elapsed_s;
  };
  const double few = time(1);
  const double many = time(1000);
  EXPECT_GT(few, 0);
  EXPECT_TRUE(std::isfinite(many));
  EXPECT_GT(many, few);
}

std::string subject_name(const testing::TestParamInfo<Subject>& info) {
  return info.param.backend + "_" + contract_kernels()[info.param.kernel].name;
}
INSTANTIATE_TEST_SUITE_P(Every, KernelContract, testing::ValuesIn(list_subjects()), subject_name);

}  // namespace
}  // namespace hbmark::tests
