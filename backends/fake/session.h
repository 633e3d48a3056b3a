// The fake's session and cases. One thread; cases die before their session.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "backends/fake/loops.h"
#include "backends/fake/script.h"

namespace hbmark::fake {

class FakeSession final : public sdk::Session {
 public:
  FakeSession(const sdk::Host& host, Script script) : sdk::Session(host), script_(std::move(script)) {}

  template <class Problem>
  sdk::Status supports(const Problem& problem) const;
  template <class Problem>
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const Problem& problem);

  sdk::Expected<std::unique_ptr<sdk::Buffer>> allocate(std::uint64_t size_bytes) override;
  sdk::Expected<sdk::SessionInfo> describe() const override { return script_.info; }

  sdk::Status timer_begin();
  sdk::Status timer_end();
  sdk::Expected<double> timer_elapsed();

  // For the cases.
  sdk::Expected<std::vector<FaultKind>> pass(Step step, const std::string& problem) const {
    return script_.pass(step, problem, host());
  }
  void advance(double seconds) { now_s_ += seconds; }
  void enter(const std::string& problem) { current_ = problem; }

 private:
  sdk::Expected<Shape> check(const std::string& text, sdk::Expected<Shape> shape) const;

  mutable Script script_;  // its counters move even when the host only asks
  std::string current_;    // the problem prepared last; empty: none
  double now_s_ = 0;
  double begin_s_ = 0;
  double end_s_ = 0;
};

class FakeCase : public sdk::Case {
 public:
  FakeCase(FakeSession& session, std::string text, Shape shape, Behaviour behaviour);
  ~FakeCase() override;

  std::vector<sdk::Candidate> candidates() const override;
  sdk::Status select(std::uint32_t index) override;
  std::vector<sdk::Operand> operands() const override;
  sdk::Status run(std::uint64_t calls) override;
  sdk::Status convert(std::uint64_t calls) override;
  sdk::CaseInfo info() const override;
  sdk::Status write_input(std::uint32_t operand, std::span<const std::byte> canonical) override;
  sdk::Status read_output(std::uint32_t operand, std::span<std::byte> canonical) override;
  sdk::Status bound(std::uint32_t operand, sdk::Buffer& buffer) override;

 protected:
  virtual std::vector<double> compute(Inputs inputs, const Manner& manner) const = 0;
  // Whether every call of the same inputs gives the same.
  virtual bool repeats() const = 0;

 private:
  void produce(std::uint64_t calls, const std::vector<FaultKind>& falsify);
  double default_time_s() const;

  FakeSession& session_;
  std::string text_;
  Shape shape_;
  Behaviour behaviour_;
  std::uint32_t candidate_ = 0;
  TimeSource times_;
  std::vector<double> result_;  // of inputs as they are now; empty: not known
  bool result_transposed_ = false;
  std::uint64_t calls_ = 0;  // since the inputs were written
};

// A case of one kernel: what differs is the arithmetic.
template <class Problem>
class KernelCase final : public FakeCase {
 public:
  KernelCase(FakeSession& session, const Problem& problem, Shape shape, Behaviour behaviour)
      : FakeCase(session, problem_text(problem), std::move(shape), std::move(behaviour)), problem_(problem) {}

 protected:
  std::vector<double> compute(Inputs inputs, const Manner& manner) const override {
    return fake::compute(problem_, inputs, manner);
  }
  bool repeats() const override { return !std::is_same_v<Problem, hbmark_chase_problem>; }

 private:
  Problem problem_;
};

template <class Problem>
sdk::Status FakeSession::supports(const Problem& given) const {
  const Problem problem = with_defaults(given);
  const std::string text = problem_text(problem);
  HBMARK_SDK_TRY(pass(Step::kSupports, text));
  HBMARK_SDK_TRY(check(text, shape_of(problem)));
  return {};
}

template <class Problem>
sdk::Expected<std::unique_ptr<sdk::Case>> FakeSession::prepare(const Problem& given) {
  const Problem problem = with_defaults(given);
  const std::string text = problem_text(problem);
  HBMARK_SDK_TRY(pass(Step::kPrepare, text));
  auto shape = check(text, shape_of(problem));
  HBMARK_SDK_TRY(shape);
  enter(text);
  return std::make_unique<KernelCase<Problem>>(*this, problem, std::move(*shape), script_.behaviour(text));
}

}  // namespace hbmark::fake
