// Whole numbers of JSON from another process. nlohmann-json converts any number without a look: of one beyond the target's
// range that is undefined behaviour, of a fraction a silent loss.
//
// Pure. Throws json::exception, as the other readers of that library do, to be caught at the same border.
#pragma once

#include <fmt/format.h>

#include <concepts>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

namespace hbmark {

template <std::integral T>
T to_whole(const nlohmann::json& value, const char* name) {
  const bool fits = value.is_number_unsigned()  ? std::in_range<T>(value.get<std::uint64_t>())
                    : value.is_number_integer() ? std::in_range<T>(value.get<std::int64_t>())
                                                : false;
  if (!fits)
    throw nlohmann::json::other_error::create(501, fmt::format("'{}' is not a whole number of its range", name), nullptr);
  return value.get<T>();
}

template <std::integral T>
void read_whole(const nlohmann::json& object, const char* name, T& target) {
  target = to_whole<T>(object.at(name), name);
}

template <std::integral T>
void read_whole(const nlohmann::json& object, const char* name, std::vector<T>& target) {
  target.clear();
  for (const auto& value : object.at(name).get_ref<const nlohmann::json::array_t&>()) {
    target.push_back(to_whole<T>(value, name));
  }
}

}  // namespace hbmark
