#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

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
template <class T>
void spoil(T& value) {
  value = value + 1 + std::fabs(value);
}

// `out` is columns of `rows` elements.
template <class T>
void falsify_output(std::span<T> out, std::uint64_t rows, const std::vector<FaultKind>& kinds) {
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
  if (holds(kinds, FaultKind::kNan)) out[out.size() / 2] = std::numeric_limits<T>::quiet_NaN();
  if (holds(kinds, FaultKind::kZeros)) std::fill(out.begin(), out.end(), T{0});
}

}  // namespace

FakeCase::FakeCase(FakeSession& session, std::string text, Shape shape, std::uint32_t type, Behaviour behaviour)
    : session_(session), text_(std::move(text)), shape_(std::move(shape)), type_(type), behaviour_(std::move(behaviour)) {
  times_ = TimeSource(behaviour_, candidate_, text_, default_time_s());
}

FakeCase::~FakeCase() {
  static_cast<void>(session_.pass(Step::kRelease, text_));
  session_.enter("");
}

double FakeCase::default_time_s() const {
  std::uint64_t elements = shape_.output.elements;
  for (const Array& input : shape_.inputs) elements += input.elements;
  const double bytes = static_cast<double>(elements * sdk::size_of_type(type_));
  return std::max({kLeastTime, shape_.flop / kDefaultFlopRate, bytes / kDefaultByteRate});
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
  const std::uint64_t size = sdk::size_of_type(type_);
  std::vector<sdk::Operand> list;
  for (const Array& input : shape_.inputs) {
    list.push_back({input.name, HBMARK_INPUT, type_, input.elements * size, input.elements * size});
  }
  const std::uint64_t output_bytes = shape_.output.elements * size;
  list.push_back({shape_.output.name, HBMARK_OUTPUT, type_, output_bytes, output_bytes});
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
  return sdk::Case::write_input(operand, canonical);
}

sdk::Status FakeCase::read_output(std::uint32_t operand, std::span<std::byte> canonical) {
  HBMARK_SDK_TRY(session_.pass(Step::kRead, text_));
  return sdk::Case::read_output(operand, canonical);
}

template <class T>
void FakeCase::produce(std::uint64_t calls, const std::vector<FaultKind>& falsify) {
  if (holds(falsify, FaultKind::kUntouched)) return;
  const bool transposed = holds(falsify, FaultKind::kTransposedOperand);
  if (result_.empty() || transposed != result_transposed_) {
    std::vector<std::vector<double>> inputs;
    for (std::uint32_t i = 0; i < shape_.inputs.size(); ++i) {
      const T* values = buffer(i).template as<T>();
      inputs.emplace_back(values, values + shape_.inputs[i].elements);
    }
    result_ = compute(inputs, transposed);
    result_transposed_ = transposed;
  }
  T* out = buffer(static_cast<std::uint32_t>(shape_.inputs.size())).template as<T>();
  const bool accumulate = holds(falsify, FaultKind::kAccumulate);
  for (std::size_t i = 0; i < result_.size(); ++i) {
    out[i] = static_cast<T>(accumulate ? static_cast<double>(out[i]) + static_cast<double>(calls) * result_[i] : result_[i]);
  }
  falsify_output(std::span<T>(out, result_.size()), shape_.rows, falsify);
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
  type_ == HBMARK_F64 ? produce<double>(calls, *falsify) : produce<float>(calls, *falsify);
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
