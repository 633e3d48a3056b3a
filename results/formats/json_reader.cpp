#include "results/formats/json_reader.h"

#include <fmt/format.h>

#include <charconv>
#include <limits>
#include <system_error>

namespace hbmark::text_formats {
namespace {

using nlohmann::json;

std::optional<double> to_number(const json& value) {
  if (value.is_number()) return value.get<double>();
  if (value == "NaN") return std::numeric_limits<double>::quiet_NaN();
  if (value == "Infinity") return std::numeric_limits<double>::infinity();
  if (value == "-Infinity") return -std::numeric_limits<double>::infinity();
  return std::nullopt;
}

// A whole number of T's range; 3.0 is whole (some writers know no integers).
template <class T>
std::optional<T> to_whole(const json& value) {
  if (value.is_number_unsigned()) {
    const auto whole = value.get<std::uint64_t>();
    if (whole <= static_cast<std::uint64_t>(std::numeric_limits<T>::max())) return static_cast<T>(whole);
  } else if (value.is_number_integer()) {
    const auto whole = value.get<std::int64_t>();
    if (whole >= std::numeric_limits<T>::min() && whole <= std::numeric_limits<T>::max()) return static_cast<T>(whole);
  } else if (value.is_number_float()) {
    constexpr double kExact = 9007199254740992.0;  // 2^53: above, a double no longer tells whole numbers apart
    const double number = value.get<double>();
    if (number >= -kExact && number <= kExact) {
      const auto whole = static_cast<std::int64_t>(number);
      if (static_cast<double>(whole) == number && whole >= std::numeric_limits<T>::min() &&
          whole <= std::numeric_limits<T>::max()) {
        return static_cast<T>(whole);
      }
    }
  }
  return std::nullopt;
}

}  // namespace

const json* JsonReader::member(const char* name) const {
  const auto found = object_.find(name);
  return found == object_.end() || found->is_null() ? nullptr : &*found;
}

void JsonReader::complain(const char* name, const json& found, const char* expected) {
  if (!complaint_.empty()) return;
  const std::string shown = found.dump(-1, ' ', false, json::error_handler_t::replace).substr(0, 60);
  complaint_ = fmt::format("`{}{}` is {}, {} was expected", path_, name, shown, expected);
}

void JsonReader::read(const char* name, std::string& target) {
  const json* value = member(name);
  if (value == nullptr) return;
  if (!value->is_string()) return complain(name, *value, "a string or null");
  target = value->get<std::string>();
}

void JsonReader::require(const char* name, std::string& target) {
  const json* value = member(name);
  if (value == nullptr || !value->is_string()) return complain(name, value != nullptr ? *value : json(nullptr), "a string");
  target = value->get<std::string>();
}

void JsonReader::read(const char* name, double& target) {
  const json* value = member(name);
  if (value == nullptr) return;
  const auto number = to_number(*value);
  if (!number) return complain(name, *value, "a number, \"NaN\" or \"Infinity\"");
  target = *number;
}

void JsonReader::read(const char* name, std::optional<double>& target) {
  if (member(name) != nullptr) read(name, target.emplace());
}

void JsonReader::read(const char* name, std::int64_t& target) {
  const json* value = member(name);
  if (value == nullptr) return;
  const auto whole = to_whole<std::int64_t>(*value);
  if (!whole) return complain(name, *value, "a whole number below 2^63");
  target = *whole;
}

void JsonReader::read(const char* name, std::vector<int>& target) {
  const json* value = member(name);
  if (value == nullptr) return;
  if (!value->is_array()) return complain(name, *value, "a list of whole numbers or null");
  for (const json& element : *value) {
    const auto whole = to_whole<int>(element);
    if (!whole) return complain(name, element, "a list of whole numbers below 2^31");
    target.push_back(*whole);
  }
}

void JsonReader::read(const char* name, std::vector<std::string>& target) {
  const json* value = member(name);
  if (value == nullptr) return;
  if (!value->is_array()) return complain(name, *value, "a list of strings");
  for (const json& element : *value) {
    if (!element.is_string()) return complain(name, element, "a list of strings");
    target.push_back(element.get<std::string>());
  }
}

void JsonReader::read(const char* name, std::map<int, double>& target) {
  const json* value = object(name);
  if (value == nullptr) return;
  for (const auto& [key, element] : value->items()) {
    int index = 0;
    const auto [end, error] = std::from_chars(key.data(), key.data() + key.size(), index);
    if (error != std::errc() || end != key.data() + key.size()) return complain(name, key, "a NUMA node's number as name");
    const auto number = to_number(element);
    if (!number) return complain(name, element, "a share between 0 and 1 for each NUMA node");
    target[index] = *number;
  }
}

const json* JsonReader::object(const char* name) {
  const json* value = member(name);
  if (value == nullptr || value->is_object()) return value;
  complain(name, *value, "an object or null");
  return nullptr;
}

}  // namespace hbmark::text_formats
