#include "bench/problems/types.h"

#include <array>
#include <cstdio>
#include <cstdlib>

#include "backends/abi/kernel.h"

namespace hbmark {
namespace {

constexpr auto kTypes = std::to_array<TypeSpec>({
    {"f32", HBMARK_F32, HBMARK_F32, HBMARK_F32, HBMARK_F32, 0},
    {"f64", HBMARK_F64, HBMARK_F64, HBMARK_F64, HBMARK_F64, 0},
    {"tf32", HBMARK_TF32, HBMARK_F32, HBMARK_F32, HBMARK_F32, 0x1p-10},
    {"bf16", HBMARK_BF16, HBMARK_BF16, HBMARK_F32, HBMARK_BF16, 0},
    {"f16", HBMARK_F16, HBMARK_F16, HBMARK_F32, HBMARK_F16, 0},
    {"s8", HBMARK_S8, HBMARK_S8, HBMARK_S32, HBMARK_S32, 0},
});

[[noreturn]] void no_such_type(std::uint32_t element_type) {
  std::fprintf(stderr, "hbmark: bug: %u is no element type\n", static_cast<unsigned>(element_type));
  std::abort();
}

}  // namespace

std::span<const TypeSpec> types() { return kTypes; }

const TypeSpec* find_type(std::string_view name) {
  for (const auto& type : kTypes) {
    if (type.name == name) return &type;
  }
  return nullptr;
}

std::vector<std::string_view> type_words() {
  std::vector<std::string_view> words;
  for (const auto& type : kTypes) words.push_back(type.name);
  return words;
}

std::size_t element_bytes(std::uint32_t element_type) {
  switch (element_type) {
    case HBMARK_F64:
      return 8;
    case HBMARK_F32:
    case HBMARK_TF32:
    case HBMARK_S32:
      return 4;
    case HBMARK_BF16:
    case HBMARK_F16:
      return 2;
    case HBMARK_S8:
    case HBMARK_U8:
      return 1;
    default:
      no_such_type(element_type);
  }
}

double unit_roundoff(std::uint32_t element_type) {
  switch (element_type) {
    case HBMARK_F64:
      return 0x1p-53;
    case HBMARK_F32:
      return 0x1p-24;
    case HBMARK_TF32:
    case HBMARK_F16:
      return 0x1p-11;
    case HBMARK_BF16:
      return 0x1p-8;
    case HBMARK_S8:
    case HBMARK_U8:
    case HBMARK_S32:
      return 0;
    default:
      no_such_type(element_type);
  }
}

IntegerRange integer_range(std::uint32_t element_type) {
  if (element_type == HBMARK_S8) return {-127, 127};
  if (element_type == HBMARK_U8) return {0, 126};
  return {0, 0};
}

}  // namespace hbmark
