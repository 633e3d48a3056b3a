#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/fake/elements.h"
#include "backends/fake/session.h"

namespace hbmark::fake {
namespace {

constexpr double kDefaultFlopRate = 1e10;
constexpr double kDefaultByteRate = 1e10;
constexpr double kLeastTime = 1e-6;
constexpr std::uint64_t kTile = 4;

bool holds(const std::vector<FaultKind>& kinds, FaultKind kind) {
  return std::find(kinds.begin(), kinds.end(), kind) != kinds.end();
}

// Wrong by more than any tolerance allows.
void spoil(double& value) { value = value + 1 + std::fabs(value); }

// `out` is columns of `rows` elements.
void falsify_output(std::span<double> out, std::uint64_t rows, const std::vector<FaultKind>& kinds) {
  const std::uint64_t columns = out.size() / rows;
  if (holds(kinds, FaultKind::kWrongElement)) spoil(out[out.size() * 2 / 3]);
  if (holds(kinds, FaultKind::kWrongTile)) {
    for (std::uint64_t j = columns - std::min(kTile, columns); j < columns; ++j) {
      for (std::uint64_t i = rows - std::min(kTile, rows); i < rows; ++i) spoil(out[j * rows + i]);
    }
  }
  if (holds(kinds, FaultKind::kWrongColumn)) {
    for (std::uint64_t i = 0; i < rows; ++i) spoil(out[columns / 2 * rows + i]);
  }
  if (holds(kinds, FaultKind::kNan)) out[out.size() / 2] = std::numeric_limits<double>::quiet_NaN();
  if (holds(kinds, FaultKind::kZeros)) std::fill(out.begin(), out.end(), 0.0);
}

}  // namespace

FakeCase::FakeCase(FakeSession& session, std::string text, Shape shape, Behaviour behaviour)
    : session_(session), text_(std::move(text)), shape_(std::move(shape)), behaviour_(std::move(behaviour)) {
  times_ = TimeSource(behaviour_, candidate_, text_, default_time_s());
}

FakeCase::~FakeCase() {
  static_cast<void>(session_.pass(Step::kRelease, text_));
  session_.enter("");
}

double FakeCase::default_time_s() const {
  std::uint64_t bytes = shape_.output.elements * sdk::size_of_type(shape_.output.type);
  for (const Array& input : shape_.inputs) bytes += input.elements * sdk::size_of_type(input.type);
  return std::max({kLeastTime, shape_.flop / kDefaultFlopRate, static_cast<double>(bytes) / kDefaultByteRate});
}

std::vector<sdk::Candidate> FakeCase::candidates() const {
  std::vector<sdk::Candidate> list;
  for (const CandidateRule& rule : behaviour_.candidates)
    list.push_back({rule.name, rule.algorithm_class, rule.workspace_bytes});
  return list;
}

sdk::Status FakeCase::select(std::uint32_t index) {
  HBMARK_SDK_TRY(session_.pass(Step::kSelect, text_));
  candidate_ = index;
  times_ = TimeSource(behaviour_, candidate_, text_, default_time_s());
  result_.clear();
  return {};
}

std::vector<sdk::Operand> FakeCase::operands() const {
  std::vector<sdk::Operand> list;
  const auto add = [&](const Array& array, std::uint32_t role) {
    const std::uint64_t bytes = array.elements * sdk::size_of_type(array.type);
    list.push_back({array.name, role, array.type, bytes, bytes});
  };
  for (const Array& input : shape_.inputs) add(input, HBMARK_INPUT);
  add(shape_.output, HBMARK_OUTPUT);
  const std::uint64_t workspace_bytes = behaviour_.candidates[candidate_].workspace_bytes;
  if (workspace_bytes > 0) list.push_back({"workspace", HBMARK_WORKSPACE, 0, 0, workspace_bytes});
  return list;
}

sdk::Status FakeCase::bound(std::uint32_t, sdk::Buffer&) {
  result_.clear();
  return {};
}

sdk::Status FakeCase::write_input(std::uint32_t operand, std::span<const std::byte> canonical) {
  HBMARK_SDK_TRY(session_.pass(Step::kWrite, text_));
  result_.clear();
  calls_ = 0;
  return sdk::Case::write_input(operand, canonical);
}

sdk::Status FakeCase::read_output(std::uint32_t operand, std::span<std::byte> canonical) {
  HBMARK_SDK_TRY(session_.pass(Step::kRead, text_));
  return sdk::Case::read_output(operand, canonical);
}

void FakeCase::produce(std::uint64_t calls, const std::vector<FaultKind>& falsify) {
  calls_ += calls;
  if (holds(falsify, FaultKind::kUntouched)) return;
  const bool transposed = holds(falsify, FaultKind::kTransposedOperand);
  if (result_.empty() || transposed != result_transposed_ || !repeats()) {
    std::vector<std::vector<double>> inputs;
    for (std::uint32_t i = 0; i < shape_.inputs.size(); ++i) {
      inputs.push_back(load(buffer(i).data(), shape_.inputs[i].elements, shape_.inputs[i].type));
    }
    result_ = compute(inputs, {transposed, calls_ - 1});
    result_transposed_ = transposed;
  }
  void* out = buffer(static_cast<std::uint32_t>(shape_.inputs.size())).data();
  if (falsify.empty()) return store(result_, shape_.output.type, out);
  std::vector<double> values = result_;
  if (holds(falsify, FaultKind::kAccumulate)) {
    const std::vector<double> before = load(out, values.size(), shape_.output.type);
    for (std::size_t i = 0; i < values.size(); ++i) values[i] = before[i] + static_cast<double>(calls) * values[i];
  }
  falsify_output(values, shape_.rows, falsify);
  store(values, shape_.output.type, out);
}

// The virtual clock pays for `calls` calls; the arithmetic is done once for inputs that did not change.
sdk::Status FakeCase::run(std::uint64_t calls) {
  const auto falsify = session_.pass(Step::kRun, text_);
  HBMARK_SDK_TRY(falsify);
  if (!behaviour_.deaf && session_.host().cancel_requested()) return sdk::cancelled();
  if (calls == 0) return {};
  const double seconds = times_.next(calls);
  session_.advance(seconds);
  if (behaviour_.sleep && !sleep_for(seconds, session_.host(), behaviour_.deaf)) return sdk::cancelled();
  produce(calls, *falsify);
  return {};
}

sdk::Status FakeCase::convert(std::uint64_t calls) {
  HBMARK_SDK_TRY(session_.pass(Step::kConvert, text_));
  if (!behaviour_.conversion_s) return sdk::Case::convert(calls);
  session_.advance(*behaviour_.conversion_s * static_cast<double>(calls));
  return {};
}

sdk::CaseInfo FakeCase::info() const {
  const CandidateRule& rule = behaviour_.candidates[candidate_];
  sdk::CaseInfo info;
  info.algorithm_class = rule.algorithm_class;
  info.has_conversion = behaviour_.conversion_s.has_value();
  info.flop_per_call = shape_.flop_is_news ? shape_.flop : 0;
  info.implementation = "fake:" + rule.name;
  info.isa = "avx9";
  info.layout = "canonical";
  return info;
}

}  // namespace hbmark::fake
