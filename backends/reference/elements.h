// Element types of the oracle: how each is read into double and rounded back. Written from the formats' definitions (IEEE
// 754 binary16; bfloat16 and TF32 as the upper 16 bits and upper 19 bits of binary32), round to nearest even, no bit tricks
// shared with any other folder. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <string>

#include "backends/abi/kernel.h"

namespace hbmark::reference {

// The double nearest to x among those with `digits` significant binary digits and no bit below 2^lowest.
double round_to_digits(double x, int digits, int lowest);

double half_to_double(std::uint16_t bits);
std::uint16_t double_to_half(double x);
double bfloat_to_double(std::uint16_t bits);
std::uint16_t double_to_bfloat(double x);

struct F32 {
  using Input = float;
  using Output = float;
  static double load(Input x) { return x; }
  static Output store(double x) { return static_cast<float>(x); }
};
struct F64 {
  using Input = double;
  using Output = double;
  static double load(Input x) { return x; }
  static Output store(double x) { return x; }
};
struct Tf32 {  // binary32 with 11 significant digits kept of each input
  using Input = float;
  using Output = float;
  static double load(Input x) { return round_to_digits(x, 11, -136); }
  static Output store(double x) { return static_cast<float>(x); }
};
struct Bf16 {
  using Input = std::uint16_t;
  using Output = std::uint16_t;
  static double load(Input x) { return bfloat_to_double(x); }
  static Output store(double x) { return double_to_bfloat(x); }
};
struct F16 {
  using Input = std::uint16_t;
  using Output = std::uint16_t;
  static double load(Input x) { return half_to_double(x); }
  static Output store(double x) { return double_to_half(x); }
};
struct S8 {  // sums of 8-bit products are exact in a double up to a reduction length of 2^39
  using Input = std::int8_t;
  using Output = std::int32_t;
  static double load(Input x) { return x; }
  static Output store(double x) {
    return static_cast<std::int32_t>(static_cast<std::int64_t>(x));
  }  // wraps, as hardware does
};

// Calls visitor(T{}) with the struct above for an HBMARK_* type; false for a type the oracle does not have.
template <class Visitor>
bool visit_type(std::uint32_t type, Visitor&& visitor) {
  switch (type) {
    case HBMARK_F32:
      visitor(F32{});
      return true;
    case HBMARK_F64:
      visitor(F64{});
      return true;
    case HBMARK_TF32:
      visitor(Tf32{});
      return true;
    case HBMARK_BF16:
      visitor(Bf16{});
      return true;
    case HBMARK_F16:
      visitor(F16{});
      return true;
    case HBMARK_S8:
      visitor(S8{});
      return true;
    default:
      return false;
  }
}

struct ElementSizes {
  std::uint64_t input_bytes = 0;
  std::uint64_t output_bytes = 0;
  std::uint32_t input_type = 0;  // HBMARK_*, of the canonical layout
  std::uint32_t output_type = 0;
};
ElementSizes sizes_of(std::uint32_t type);  // all 0 for a type the oracle does not have

}  // namespace hbmark::reference
