// Counter-based random numbers: element i of a named stream is a function of (seed, name, i) alone, so that data are the
// same on every machine and at whatever order or number of threads they are made.
//
// Pure, thread-safe. The mixer is SplitMix64's (Steele, Lea, Flood: Fast splittable pseudorandom number generators, OOPSLA
// 2014), which passes BigCrush as a counter generator.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

namespace hbmark::random {

constexpr std::uint64_t mix(std::uint64_t z) {
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

class Stream {
 public:
  Stream(std::uint64_t seed, std::string_view name);
  std::uint64_t at(std::uint64_t i) const { return mix(key_ + (i + 1) * 0x9e3779b97f4a7c15ULL); }
  // Uniform in [0, bound), bound > 0, with a bias below bound / 2^64.
  std::uint64_t below(std::uint64_t i, std::uint64_t bound) const;

 private:
  std::uint64_t key_;
};

// +1.0 or -1.0, `count` of them.
std::vector<double> signs(std::uint64_t seed, std::string_view name, std::size_t count);

}  // namespace hbmark::random
