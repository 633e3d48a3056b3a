// The normative table of number types: what the word in a problem string means for inputs, accumulator and outputs.
//
// Pure, thread-safe, static storage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace hbmark {

struct TypeSpec {
  std::string_view name;      // the word: "f16"
  std::uint32_t problem = 0;  // the ABI problem struct's `type`
  std::uint32_t input = 0;    // element type of inputs as stored
  std::uint32_t accumulator = 0;
  std::uint32_t output = 0;
  // Largest relative rounding of an input before it is multiplied; 0: used as stored. TF32 keeps 10 of f32's 23 fraction
  // bits and hardware may truncate: 2^-10.
  double input_rounding = 0;
};

//   word  input  accumulator  output
//   f32   f32    f32          f32
//   f64   f64    f64          f64
//   tf32  f32    f32          f32     inputs rounded to TF32 (8 bits of exponent, 10 of fraction) before they are multiplied
//   bf16  bf16   f32          bf16
//   f16   f16    f32          f16
//   s8    s8     s32          s32     inputs in [-127, 127]; exact
std::span<const TypeSpec> types();
const TypeSpec* find_type(std::string_view name);

// The words above, for a grammar.
std::vector<std::string_view> type_words();

// Of an element type (HBMARK_F32, ...). Both end the program on a number that is none: that is a bug.
std::size_t element_bytes(std::uint32_t element_type);
double unit_roundoff(std::uint32_t element_type);  // 2^-24 for f32; 0 for integers

// The range fill_random keeps to for integers. s8 leaves out -128, so that |x| fits; u8 stays at or under 126: two products
// u8 * s8 are then at most 2 * 126 * 128 = 32256 and do not saturate the 16-bit sums of instruction sets before VNNI.
struct IntegerRange {
  int low = 0;
  int high = 0;
};
IntegerRange integer_range(std::uint32_t element_type);  // s8, u8; {0, 0} for others

}  // namespace hbmark
