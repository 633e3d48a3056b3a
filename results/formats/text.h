// What the formats share: text made safe, figures derived from others. Pure, thread-safe. Internal to results/formats.
#pragma once

#include <optional>
#include <string>

#include "results/records.h"

namespace hbmark::text_formats {

// `text` with every sequence that is not UTF-8 replaced by U+FFFD.
std::string valid_utf8(const std::string& text);

// `amount` of one call over the median call; absent when either is, or when the median is not a positive time.
std::optional<double> rate_per_s(const ResultRecord& result, std::optional<double> amount);

// The time of one of the loads of a chase, in seconds.
std::optional<double> s_per_load(const ResultRecord& result);

}  // namespace hbmark::text_formats
