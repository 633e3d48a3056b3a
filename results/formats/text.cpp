#include "results/formats/text.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace hbmark::text_formats {

std::string valid_utf8(const std::string& text) {
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x80; })) return text;
  // The JSON writer knows UTF-8 (and where to resume after a fault); reading its output back is exact.
  const std::string quoted = nlohmann::json(text).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return nlohmann::json::parse(quoted).get<std::string>();
}

std::optional<double> rate_per_s(const ResultRecord& result, std::optional<double> amount) {
  if (!amount || !result.time || !(result.time->median > 0)) return std::nullopt;
  return *amount / result.time->median;
}

std::optional<double> s_per_load(const ResultRecord& result) {
  if (!result.loads || !(*result.loads > 0) || !result.time) return std::nullopt;
  return result.time->median / *result.loads;
}

}  // namespace hbmark::text_formats
