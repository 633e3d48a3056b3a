#include "bench/kernels/check.h"

#include <fmt/format.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

#include "backends/abi/kernel.h"

namespace hbmark::check {
namespace {

// Multiples of the root mean square that rounding must not exceed: 8 times 0.55, rounded up. By Hoeffding's inequality a +-1
// sum passes 8 standard deviations with probability 2 exp(-32) = 3e-14.
constexpr double kDeviations = 8;

// What an algorithm's transforms add to the error of direct summation. Winograd F(4x4,3x3) loses 3 to 5 bits (Barabasz,
// Anderson, Soodhalter, Gregg: Error analysis and improving the accuracy of Winograd convolution, ACM TOMS 46(4), 2020); one
// bit more is given. FFT errors grow with log2 of the size but are spread over a whole tile. Strassen: Higham, Accuracy and
// Stability of Numerical Algorithms, section 23.2: norm-wise, a factor of about 4 a level; three levels.
double algorithm_factor(std::uint32_t algorithm_class) {
  switch (algorithm_class) {
    case HBMARK_ALGORITHM_WINOGRAD:
      return 64;
    case HBMARK_ALGORITHM_FFT:
      return 32;
    case HBMARK_ALGORITHM_STRASSEN:
      return 64;
    default:
      return 1;
  }
}

template <class T>
void load_as(const std::byte* from, std::uint64_t count, double* out) {
  for (std::uint64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, from + i * sizeof(T), sizeof(T));
    out[i] = static_cast<double>(value);
  }
}

}  // namespace

std::uint64_t product(std::initializer_list<std::int64_t> factors) {
  double rough = 1;
  std::uint64_t exact = 1;
  for (const auto factor : factors) {
    rough *= static_cast<double>(factor);
    if (rough >= 0x1p62) return std::numeric_limits<std::uint64_t>::max();
    exact *= static_cast<std::uint64_t>(factor);
  }
  return exact;
}

void load(const HostArray& array, std::uint64_t offset, std::uint64_t count, double* out) {
  const auto* from = array.bytes.data() + offset * element_bytes(array.spec.type);
  switch (array.spec.type) {
    case HBMARK_F64:
      return load_as<double>(from, count, out);
    case HBMARK_F32:
    case HBMARK_TF32:
      return load_as<float>(from, count, out);
    case HBMARK_BF16:
      return load_as<Eigen::bfloat16>(from, count, out);
    case HBMARK_F16:
      return load_as<Eigen::half>(from, count, out);
    case HBMARK_S8:
      return load_as<std::int8_t>(from, count, out);
    case HBMARK_U8:
      return load_as<std::uint8_t>(from, count, out);
    default:
      return load_as<std::int32_t>(from, count, out);
  }
}

double at(const HostArray& array, std::uint64_t index) {
  double value = 0;
  load(array, index, 1, &value);
  return value;
}

std::uint64_t first_not_finite(const HostArray& array) {
  double block[1024];
  for (std::uint64_t i = 0; i < array.spec.elements; i += std::size(block)) {
    const auto count = std::min<std::uint64_t>(std::size(block), array.spec.elements - i);
    load(array, i, count, block);
    for (std::uint64_t j = 0; j < count; ++j) {
      if (!std::isfinite(block[j])) return i + j;
    }
  }
  return array.spec.elements;
}

ErrorModel::ErrorModel(const TypeSpec& type, std::uint32_t algorithm_class, double reduction_length) {
  const double u = unit_roundoff(type.accumulator);
  // Our own sums are in double: for f64 they err as much as what they check.
  const double both = type.accumulator == HBMARK_F64 ? 2 : 1;
  const double factor = algorithm_factor(algorithm_class);
  accumulate_ = kDeviations * u * both * factor;
  // gamma_L of Higham, section 3.1, with one rounding more for the final store; direct sums cannot be worse.
  worst_ = factor > 1 ? accumulate_ : (reduction_length + 2) * u * both;
  input_ = kDeviations * 2 * type.input_rounding;
  const double output_roundoff = unit_roundoff(type.output);
  output_ = output_roundoff > u ? output_roundoff : 0;
  tolerance_ = std::min(accumulate_, worst_) + input_ + output_;
}

double ErrorModel::element(const Magnitude& magnitude, double expected) const {
  // An element rounded to a short type may lie half a step further than where the sum's own error put it.
  return std::min(accumulate_, worst_) * magnitude.absolute + input_ * magnitude.square +
         1.01 * output_ * std::abs(expected);
}

double ErrorModel::projection(const Magnitude& magnitude, double terms) const {
  // The last term is the error of our own sums in double, one after the other over `terms` numbers.
  return accumulate_ * magnitude.absolute +
         (input_ + kDeviations * output_ + kDeviations * 0x1p-53 * std::sqrt(terms)) * magnitude.square;
}

bool Tally::compare(double got, double expected, double allowed) {
  const double error = std::abs(got - expected);
  if (!(error <= allowed)) {
    report_.max_rel_error = std::numeric_limits<double>::infinity();
    if (allowed > 0 && std::isfinite(error)) report_.max_rel_error = report_.tolerance * (error / allowed);
    return false;
  }
  if (allowed > 0) report_.max_rel_error = std::max(report_.max_rel_error, report_.tolerance * (error / allowed));
  return true;
}

void Tally::wrong(std::string text) {
  if (report_.first_wrong.empty()) report_.first_wrong = std::move(text);
}

CheckReport Tally::finish(std::int64_t checked, std::string method) {
  report_.checked = checked;
  report_.method = std::move(method);
  return std::move(report_);
}

std::string mismatch(std::string_view name, std::initializer_list<std::int64_t> index, double got, double expected) {
  return fmt::format("{}[{}] is {:.9g}, expected {:.9g}", name, fmt::join(index, ","), got, expected);
}

std::string missing_arrays(const CheckInput& input) {
  std::size_t in = 0, out = 0;
  for (const auto& wanted : input.problem.kernel->operands(input.problem)) {
    const auto arrays = wanted.output ? input.outputs : input.inputs;
    auto& next = wanted.output ? out : in;
    if (next == arrays.size()) return fmt::format("the array {} is missing", wanted.name);
    const auto& array = arrays[next++];
    const auto elements = wanted.elements == 0 ? array.spec.elements : wanted.elements;
    const auto bytes = elements * element_bytes(wanted.type);
    if (array.spec.name != wanted.name || array.spec.type != wanted.type || array.spec.elements != elements ||
        array.bytes.size() != bytes || bytes == 0) {
      return fmt::format("the array {} has {} bytes, {} were expected", wanted.name, array.bytes.size(), bytes);
    }
  }
  return {};
}

std::string with_input_range(std::string method, const TypeSpec& type) {
  const auto range = integer_range(type.input);
  if (range.low < range.high) method += fmt::format("; inputs from {} to {}", range.low, range.high);
  return method;
}

std::int64_t sample_count(double reduction_length, std::uint64_t elements) {
  constexpr double kProducts = 1 << 21;
  const double wanted = std::clamp(kProducts / std::max(reduction_length, 1.0), 8.0, 64.0);
  return static_cast<std::int64_t>(std::min(wanted, static_cast<double>(elements)));
}

}  // namespace hbmark::check
