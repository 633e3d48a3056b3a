#include "backends/reference/elements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <type_traits>

namespace hbmark::reference {
namespace {

// binary16: 5 exponent bits, bias 15, 10 stored digits.
constexpr int kHalfDigits = 11;
constexpr int kHalfLowest = -24;
constexpr double kHalfMax = 65504;
constexpr int kHalfBias = 15;
// bfloat16: the exponent of binary32, 7 stored digits.
constexpr int kBfloatDigits = 8;
constexpr int kBfloatLowest = -133;

}  // namespace

double round_to_digits(double x, int digits, int lowest) {
  if (x == 0 || !std::isfinite(x)) return x;
  const int quantum = std::max(std::ilogb(x) - (digits - 1), lowest);
  return std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
}

double half_to_double(std::uint16_t bits) {
  const double sign = (bits & 0x8000u) != 0 ? -1 : 1;
  const int exponent = (bits >> 10) & 0x1f;
  const int fraction = bits & 0x3ff;
  if (exponent == 0x1f) return fraction == 0 ? sign * std::numeric_limits<double>::infinity() : std::nan("");
  if (exponent == 0) return sign * std::ldexp(fraction, kHalfLowest);
  return sign * std::ldexp(1024 + fraction, exponent - kHalfBias - 10);
}

std::uint16_t double_to_half(double x) {
  if (std::isnan(x)) return 0x7e00;
  const auto sign = static_cast<std::uint16_t>(std::signbit(x) ? 0x8000 : 0);
  const double rounded = std::fabs(round_to_digits(x, kHalfDigits, kHalfLowest));
  if (rounded > kHalfMax) return static_cast<std::uint16_t>(sign | 0x7c00);
  if (rounded < std::ldexp(1.0, 1 - kHalfBias)) {  // subnormal: a count of the smallest quantum
    return static_cast<std::uint16_t>(sign | static_cast<int>(std::ldexp(rounded, -kHalfLowest)));
  }
  const int exponent = std::ilogb(rounded);
  const int fraction = static_cast<int>(std::ldexp(rounded, 10 - exponent)) - 1024;
  return static_cast<std::uint16_t>(sign | ((exponent + kHalfBias) << 10) | fraction);
}

double bfloat_to_double(std::uint16_t bits) {
  const std::uint32_t wide = static_cast<std::uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof value);
  return value;
}

std::uint16_t double_to_bfloat(double x) {
  const auto value = static_cast<float>(round_to_digits(x, kBfloatDigits, kBfloatLowest));  // exact, or out of range
  std::uint32_t wide;
  std::memcpy(&wide, &value, sizeof wide);
  return static_cast<std::uint16_t>(wide >> 16);
}

ElementSizes sizes_of(std::uint32_t type) {
  ElementSizes sizes;
  visit_type(type, [&](auto t) {
    using T = decltype(t);
    sizes.input_bytes = sizeof(typename T::Input);
    sizes.output_bytes = sizeof(typename T::Output);
    sizes.input_type = std::is_same_v<T, Tf32> ? std::uint32_t{HBMARK_F32} : type;  // tf32 is a way to multiply f32
    sizes.output_type = std::is_same_v<T, S8> ? std::uint32_t{HBMARK_S32} : sizes.input_type;
  });
  return sizes;
}

}  // namespace hbmark::reference
