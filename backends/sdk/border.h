// The border itself: exceptions and failures become a code and a status, structs of other sizes are read and written safely.
//
// Plugin authors rarely need this header; backends/sdk/tables.h does. Thread-safe, allocates nothing but what the body does.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <new>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>

#include "backends/abi/status.h"
#include "backends/sdk/failure.h"

namespace hbmark::sdk {

inline hbmark_status make_status() {
  hbmark_status status{};
  status.struct_size = sizeof status;
  return status;
}

// Cut to fit and NUL-terminated, never in the middle of a UTF-8 sequence; the rest is zero.
void copy_text(char* target, std::size_t capacity, std::string_view text);

template <std::size_t kCapacity>
void copy_text(char (&target)[kCapacity], std::string_view text) {
  copy_text(target, kCapacity, text);
}

// Fills `status` as far as its struct_size allows and returns `code`. Never throws: it is what runs when memory is out.
std::int32_t report(hbmark_status* status, std::int32_t code, std::int64_t vendor_code, std::string_view message) noexcept;

// Runs `body` (returning Status) and reports how it ended. Every exception ends here.
template <class Body>
std::int32_t at_border(hbmark_status* status, Body&& body) noexcept {
  try {
    Status result = std::forward<Body>(body)();
    if (result) return report(status, HBMARK_OK, 0, "");
    return report(status, result.error().code, result.error().vendor_code, result.error().message);
  } catch (const std::bad_alloc&) {
    return report(status, HBMARK_OUT_OF_MEMORY, 0, "an allocation inside the backend was refused");
  } catch (const std::exception& e) {
    return report(status, HBMARK_FAILED, 0, e.what());
  } catch (...) {
    return report(status, HBMARK_FAILED, 0, "the backend threw something that is no std::exception");
  }
}

// A struct from a host that may be older (members it does not know are zero, which means "default") or newer. A newer host's
// extra members must be zero too, or it is asking for something this plugin has never heard of.
template <class T>
Expected<T> copy_in(const void* source, const char* what) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (source == nullptr) return invalid(std::string("no ") + what + " was given");
  std::uint32_t given = 0;
  std::memcpy(&given, source, sizeof given);
  if (given < sizeof given) return invalid(std::string("the ") + what + " has no struct_size");
  T result{};
  std::memcpy(&result, source, std::min<std::size_t>(given, sizeof result));
  result.struct_size = sizeof result;
  const auto* bytes = static_cast<const unsigned char*>(source);
  for (std::size_t i = sizeof result; i < given; ++i) {
    if (bytes[i] != 0) return unsupported(std::string("the ") + what + " uses members newer than this backend");
  }
  return result;
}

// Into a host's struct, which says by struct_size how much it can take.
template <class T>
Status copy_out(T* target, const T& value) {
  static_assert(std::is_trivially_copyable_v<T> && offsetof(T, struct_size) == 0);
  if (target == nullptr) return invalid("there is no struct to fill");
  constexpr std::size_t kFirst = sizeof(std::uint32_t);
  const std::size_t room = std::min<std::size_t>(target->struct_size, sizeof value);
  if (room < kFirst) return invalid("a struct to fill has no struct_size");
  std::memcpy(reinterpret_cast<char*>(target) + kFirst, reinterpret_cast<const char*>(&value) + kFirst, room - kFirst);
  return {};
}

// Into a host's array: its elements lie struct_size bytes apart, as the host's own compiler laid them out.
template <class T, class List>
Status copy_list_out(T* targets, std::uint32_t capacity, std::uint32_t* count, const List& values) {
  if (count == nullptr) return invalid("there is nowhere to put the count");
  *count = static_cast<std::uint32_t>(values.size());
  const std::uint32_t wanted = std::min(capacity, *count);
  if (wanted == 0) return {};
  if (targets == nullptr) return invalid("a list with a capacity has no address");
  const std::size_t stride = targets->struct_size;
  for (std::uint32_t i = 0; i < wanted; ++i) {
    HBMARK_SDK_TRY(copy_out(reinterpret_cast<T*>(reinterpret_cast<char*>(targets) + stride * i), T(values[i])));
  }
  return {};
}

}  // namespace hbmark::sdk
