// Reading tables and structs of the plugin contract that may be older (shorter) or newer (longer) than ours.
//
// Growth is append-only, so the bytes both sides know are the first min(struct_size, sizeof) ones. Copies are taken rather
// than members looked at in place: a reader then cannot forget to compare the offset of a member with struct_size. A member
// that the other side does not have is null (0), which the contract means to be "unsupported". Pure, thread-safe.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <type_traits>

#include "backends/abi/backend.h"

namespace hbmark {

// What `table` holds of T, the rest null. struct_size of the copy is the number of bytes that were there.
template <class T>
T completed(const T* table) {
  static_assert(std::is_trivially_copyable_v<T> && std::is_same_v<decltype(T::struct_size), std::uint32_t>);
  T copy{};
  const std::size_t known = std::min<std::size_t>(table->struct_size, sizeof(T));
  std::memcpy(static_cast<void*>(&copy), static_cast<const void*>(table), known);
  copy.struct_size = static_cast<std::uint32_t>(known);
  return copy;
}

// The table behind a capability id, completed; nullopt: this backend does not have it. `backend` as the loader gives it.
template <class T>
std::optional<T> find_capability(const hbmark_backend& backend, const char* id) {
  const auto* table = static_cast<const T*>(backend.capability(id));
  if (table == nullptr || table->struct_size < 2 * sizeof(std::uint32_t)) return std::nullopt;
  return completed(table);
}

}  // namespace hbmark
