// The bytes of an ABI problem struct. Pure.
#pragma once

#include <cstddef>
#include <cstring>
#include <type_traits>
#include <vector>

namespace hbmark {

template <class T>
std::vector<std::byte> abi_bytes(const T& problem) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<std::byte> bytes(sizeof(T));
  std::memcpy(bytes.data(), &problem, sizeof(T));
  return bytes;
}

}  // namespace hbmark
