// The fixture of the contract suite: one backend and one of its kernels, on a test host. Every test of it runs for every
// such pair that is found; nothing may be left allocated when it ends. Instantiated in contract_test.cpp.
#pragma once

#include <gmock/gmock.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tests/contract/driver.h"
#include "tests/contract/judge.h"
#include "tests/contract/problems.h"

namespace hbmark::tests {

inline constexpr std::uint64_t kSeed = 20;

struct Subject {
  std::string backend;
  std::size_t kernel = 0;
};

inline void PrintTo(const Subject& subject, std::ostream* out) {
  *out << subject.backend << " " << contract_kernels()[subject.kernel].name;
}

inline std::vector<Subject> list_subjects() {
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

}  // namespace hbmark::tests
