// What a kernel's problems come to, put to every backend there is: each plugin of the stage's backend folder, the test
// backend folder and $HBMARK_BACKEND_PATH, with each of its kernels and every problem of problems.h. A new plugin is tested
// by being there. How it takes failure and misuse is in misuse_test.cpp.
#include <cmath>
#include <cstring>

#include "backends/loader/members.h"
#include "tests/contract/kernel_contract.h"

namespace hbmark::tests {
namespace {

constexpr std::uint32_t kMostCandidatesTried = 6;

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

// A call that began anew each time would find its lines in a cache, however large the array.
TEST(Chase, GoesOnWhereItEndedAndBeginsAtLineZero) {
  const hbmark_chase_problem problem{0, 0, 4096, 7};
  int backends = 0;
  for (const LoadedBackend& backend : plugins().backends) {
    if (backend.table->capability(HBMARK_CHASE_V1) == nullptr) continue;
    SCOPED_TRACE(backend.name);
    TestHost host;
    TestSession session(backend.table, host);
    if (!session.ok()) continue;
    TestCase c(session, HBMARK_CHASE_V1, to_bytes(problem));
    ASSERT_TRUE(c.everything_until_run(kSeed));
    const auto ends = [&] {
      Bytes out;
      EXPECT_TRUE(c.read(out));
      return to_doubles(out, HBMARK_S32);
    };
    const auto next = to_doubles(make_input(c.operands()[0], kSeed, false), HBMARK_S32);
    const auto after = [&](int loads) {
      double line = 0;
      for (int i = 0; i < loads; ++i) line = next[static_cast<std::size_t>(line)];
      return line;
    };
    EXPECT_EQ(ends(), (std::vector<double>{0, after(7)}));
    ASSERT_TRUE(c.run(1));
    EXPECT_EQ(ends(), (std::vector<double>{after(7), after(14)}));
    ASSERT_TRUE(c.run(5));
    EXPECT_EQ(ends(), (std::vector<double>{after(42), after(49)}));
    ASSERT_TRUE(c.write_all(kSeed));
    ASSERT_TRUE(c.run(1));
    EXPECT_EQ(ends(), (std::vector<double>{0, after(7)}));
    ++backends;
  }
  EXPECT_GE(backends, 2) << "the reference and the fake have it";
}

// A plugin may follow only what it was given: an index out of range would lead its loads anywhere.
TEST(Chase, IndexesBeyondTheArrayAreRefused) {
  for (const char* name : {"cpu", "reference"}) {
    const hbmark_backend* backend = find_backend(name);
    if (backend == nullptr) continue;
    TestHost host;
    TestSession session(backend, host);
    TestCase c(session, HBMARK_CHASE_V1, to_bytes(hbmark_chase_problem{0, 0, 256, 7}));
    ASSERT_TRUE(c.prepare());
    ASSERT_TRUE(c.list_operands());
    ASSERT_TRUE(c.bind_all());
    for (const std::int32_t wrong : {-1, 4}) {
      Bytes next = make_input(c.operands()[0], kSeed, false);
      std::memcpy(next.data() + 4, &wrong, sizeof wrong);
      EXPECT_EQ(c.write(0, next).code, HBMARK_INVALID) << name << " " << wrong;
    }
  }
}

std::string subject_name(const testing::TestParamInfo<Subject>& info) {
  return info.param.backend + "_" + contract_kernels()[info.param.kernel].name;
}
INSTANTIATE_TEST_SUITE_P(Every, KernelContract, testing::ValuesIn(list_subjects()), subject_name);

}  // namespace
}  // namespace hbmark::tests
