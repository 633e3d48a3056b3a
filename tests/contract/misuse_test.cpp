// How a kernel takes failure, misuse and hosts of another age; put to every backend there is, as contract_test.cpp says.
#include <cstddef>
#include <cstring>

#include "tests/contract/kernel_contract.h"

namespace hbmark::tests {
namespace {

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

}  // namespace
}  // namespace hbmark::tests
