#include "bench/kernels/random.h"

#include <Eigen/Core>
#include <cmath>
#include <cstring>

#include "backends/abi/kernel.h"
#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark {
namespace random {

Stream::Stream(std::uint64_t seed, std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325ULL;  // FNV-1a, 64 bits
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3ULL;
  key_ = mix(seed + 0x9e3779b97f4a7c15ULL) ^ mix(hash);
}

std::uint64_t Stream::below(std::uint64_t i, std::uint64_t bound) const {
  // High half of the 128-bit product at(i) * bound, from 32-bit halves.
  const std::uint64_t x = at(i), low = x & 0xffffffffU, high = x >> 32;
  const std::uint64_t bound_low = bound & 0xffffffffU, bound_high = bound >> 32;
  const std::uint64_t middle = high * bound_low + ((low * bound_low) >> 32);
  const std::uint64_t other = low * bound_high + (middle & 0xffffffffU);
  return high * bound_high + (middle >> 32) + (other >> 32);
}

std::vector<double> signs(std::uint64_t seed, std::string_view name, std::size_t count) {
  const Stream stream(seed, name);
  std::vector<double> out(count);
  for (std::size_t i = 0; i < count; ++i) out[i] = (stream.at(i / 64) >> (i % 64) & 1U) != 0 ? 1.0 : -1.0;
  return out;
}

}  // namespace random

namespace {

// An odd multiple of 2^-bits in (-1, 1), so never zero, from the low `bits` bits; exact in a significand of `bits` bits.
template <int bits>
double odd_fraction(std::uint64_t word) {
  constexpr std::uint64_t kMask = (std::uint64_t{1} << bits) - 1;
  const auto odd = static_cast<std::int64_t>(2 * (word & kMask) + 1) - (std::int64_t{1} << bits);
  return static_cast<double>(odd) * (1.0 / static_cast<double>(std::uint64_t{1} << bits));
}

// `per_word` elements from each 64-bit number; make(piece) turns the low 64 / per_word bits into an element.
template <class T, int per_word, class Make>
void fill(std::vector<std::byte>& bytes, const random::Stream& stream, Make make) {
  const std::size_t count = bytes.size() / sizeof(T);
  T block[per_word];
  for (std::size_t i = 0; i < count; i += per_word) {
    const std::uint64_t word = stream.at(i / per_word);
    for (int j = 0; j < per_word; ++j) block[j] = make(word >> (j * (64 / per_word)));
    std::memcpy(bytes.data() + i * sizeof(T), block, std::min<std::size_t>(per_word, count - i) * sizeof(T));
  }
}

}  // namespace

void fill_random(HostArray& array, std::uint64_t seed) {
  const random::Stream stream(seed, array.spec.name);
  array.bytes.resize(array.spec.elements * element_bytes(array.spec.type));
  auto& bytes = array.bytes;
  switch (array.spec.type) {
    case HBMARK_F64:
      fill<double, 1>(bytes, stream, [](std::uint64_t w) { return odd_fraction<53>(w >> 11); });
      break;
    case HBMARK_F32:
    case HBMARK_TF32:
      fill<float, 2>(bytes, stream, [](std::uint64_t w) { return static_cast<float>(odd_fraction<24>(w >> 8)); });
      break;
    case HBMARK_F16:
      fill<Eigen::half, 4>(bytes, stream,
                           [](std::uint64_t w) { return Eigen::half(static_cast<float>(odd_fraction<11>(w))); });
      break;
    case HBMARK_BF16:
      fill<Eigen::bfloat16, 4>(bytes, stream,
                               [](std::uint64_t w) { return Eigen::bfloat16(static_cast<float>(odd_fraction<8>(w))); });
      break;
    case HBMARK_S32:  // no kernel has it as an input; any 32 bits are a number
      fill<std::int32_t, 2>(bytes, stream, [](std::uint64_t w) { return static_cast<std::int32_t>(w & 0xffffffffU); });
      break;
    default: {  // s8, u8: 32 bits a number, so that the range's bias is below 2^-24
      const auto range = integer_range(array.spec.type);
      const auto span = static_cast<std::uint64_t>(range.high - range.low + 1);
      fill<std::uint8_t, 2>(bytes, stream, [&](std::uint64_t w) {
        return static_cast<std::uint8_t>(range.low + static_cast<int>(((w & 0xffffffffU) * span) >> 32));
      });
      break;
    }
  }
}

}  // namespace hbmark
