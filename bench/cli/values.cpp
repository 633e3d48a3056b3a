#include "bench/cli/values.h"

#include <fmt/core.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include "bench/cli/text.h"
#include "bench/run/replica_team.h"
#include "topology/memory_policy.h"

namespace hbmark::cli {
namespace {

constexpr double kMinSeconds = 1e-2;
constexpr double kMaxSeconds = 604800;  // a week: beyond it is a slip of the hand; the planner takes no more
constexpr double kMinPrecision = 1e-4;  // clocks and machines give no better
constexpr double kMaxPrecision = 1;
constexpr std::size_t kMaxLabel = 200;

std::string_view trimmed(std::string_view text) {
  const std::size_t first = text.find_first_not_of(' ');
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// A finite number and the text behind it.
std::optional<std::pair<double, std::string_view>> number_and_rest(std::string_view text) {
  text = trimmed(text);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || !std::isfinite(value)) return std::nullopt;
  return std::pair(value, trimmed(text.substr(static_cast<std::size_t>(end - text.data()))));
}

tl::unexpected<Error> bad_value(std::string_view option, std::string_view text, std::string why, std::string next) {
  return usage_error(fmt::format("{} '{}'", option, printable(text)), std::move(why), std::move(next));
}

template <class T>
std::optional<T> whole_number(std::string_view text) {
  T value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

// The parts between commas, blanks aside; an empty one stays, to be refused.
std::vector<std::string_view> list_of(std::string_view text) {
  std::vector<std::string_view> parts;
  for (std::size_t comma = text.find(','); comma != std::string_view::npos; comma = text.find(',')) {
    parts.push_back(trimmed(text.substr(0, comma)));
    text.remove_prefix(comma + 1);
  }
  parts.push_back(trimmed(text));
  return parts;
}

}  // namespace

Result<double> parse_share(std::string_view option, std::string_view text) {
  const std::string next =
      fmt::format("write a percentage or a fraction between 0.01% and 100%: {0} 2% or {0} 0.02", option);
  const auto parsed = number_and_rest(text);
  if (!parsed || (!parsed->second.empty() && parsed->second != "%")) {
    return bad_value(option, text, "it is not a number", next);
  }
  const double value = parsed->second == "%" ? parsed->first / 100 : parsed->first;
  if (value > kMaxPrecision && parsed->second.empty()) {
    return bad_value(option, text, fmt::format("as a fraction it means {:g} %", value * 100), next);
  }
  if (value < kMinPrecision || value > kMaxPrecision) return bad_value(option, text, "it is out of range", next);
  return value;
}

Result<double> parse_precision(std::string_view text) { return parse_share("--precision", text); }

Result<Threshold> parse_threshold(std::string_view text) {
  const std::size_t colon = text.find(':');
  const std::string_view word = trimmed(text.substr(0, colon));
  const bool slower = word == "slower";
  if (!slower && word != "faster") {
    return bad_value("--fail-on", text, "a comparison fails on slower or on faster",
                     "say which and by how much: --fail-on slower:5%");
  }
  if (colon == std::string_view::npos) {
    return bad_value("--fail-on", text, "it does not say by how much", fmt::format("say it: --fail-on {}:5%", word));
  }
  auto share = parse_share(fmt::format("--fail-on {}:", word), text.substr(colon + 1));
  if (!share) return tl::make_unexpected(share.error());
  return Threshold{slower ? stats::Verdict::kSlower : stats::Verdict::kFaster, *share};
}

Result<double> parse_seconds(std::string_view option, std::string_view text) {
  const std::string next = fmt::format("write seconds between {} and {}: {} 3, or with a unit: 500ms, 3s, 2min", kMinSeconds,
                                       kMaxSeconds, option);
  const auto parsed = number_and_rest(text);
  if (!parsed) return bad_value(option, text, "it is not a number", next);
  static constexpr std::pair<std::string_view, double> kUnits[] = {
      {"", 1}, {"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}};
  const auto* unit =
      std::find_if(std::begin(kUnits), std::end(kUnits), [&](const auto& known) { return known.first == parsed->second; });
  if (unit == std::end(kUnits)) {
    return bad_value(option, text, fmt::format("'{}' is no unit of time", printable(parsed->second)), next);
  }
  const double seconds = parsed->first * unit->second;
  if (!(seconds >= kMinSeconds && seconds <= kMaxSeconds)) return bad_value(option, text, "it is out of range", next);
  return seconds;
}

Result<int> parse_threads(std::string_view text) {
  const std::string next = "give how many threads to pin, at least 1; leave --threads out for one a core";
  const auto value = whole_number<int>(trimmed(text));
  if (!value) return bad_value("--threads", text, "it is not a whole number in range", next);
  if (*value < 1) return bad_value("--threads", text, "nothing runs on so few threads", next);
  return *value;
}

Result<int> parse_launches(std::string_view text) {
  constexpr int kMostLaunches = 1000;
  const std::string next =
      fmt::format("give how many processes measure each case, from 1 to {}: --launches 8", kMostLaunches);
  const auto value = whole_number<int>(trimmed(text));
  if (!value) return bad_value("--launches", text, "it is not a whole number in range", next);
  if (*value < 1 || *value > kMostLaunches) return bad_value("--launches", text, "it is out of range", next);
  return *value;
}

Result<int> parse_replicas(std::string_view text) {
  const std::string next =
      fmt::format("give into how many parts the node is divided, from 1 to {}: --replicas 4", kMostReplicas);
  const auto value = whole_number<int>(trimmed(text));
  if (!value) return bad_value("--replicas", text, "it is not a whole number in range", next);
  if (*value < 1 || *value > kMostReplicas) return bad_value("--replicas", text, "it is out of range", next);
  return *value;
}

Result<std::vector<int>> parse_threads_per_core(std::string_view text) {
  const std::string next = "give how many threads a core runs, or several numbers: --threads-per-core 1,2,4";
  std::vector<int> all;
  for (const std::string_view part : list_of(text)) {
    const auto value = whole_number<int>(part);
    if (!value || *value < 1) return bad_value("--threads-per-core", text, "it is not a list of whole numbers from 1", next);
    if (std::find(all.begin(), all.end(), *value) != all.end())
      return bad_value("--threads-per-core", text, fmt::format("{} comes twice", *value), next);
    all.push_back(*value);
  }
  return all;
}

Result<std::vector<std::string>> parse_memories(std::string_view text) {
  std::vector<std::string> all;
  for (const std::string_view part : list_of(text)) {
    auto word = topology::memory_word(printable(part));
    if (!word) return tl::make_unexpected(word.error());
    if (std::find(all.begin(), all.end(), *word) != all.end())
      return bad_value("--memory", text, fmt::format("'{}' comes twice (mcdram and hbm are fast)", *word), "name each once");
    all.push_back(std::move(*word));
  }
  return all;
}

Result<std::string> parse_word(std::string_view option, std::string_view text, const std::vector<std::string>& known) {
  const std::string word(trimmed(text));
  if (std::find(known.begin(), known.end(), word) != known.end()) return word;
  const std::string near = nearest(word, known);
  return bad_value(
      option, text, "it is none of its words",
      fmt::format("use {}{}", fmt::join(known, ", "), near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

Result<std::uint64_t> parse_seed(std::string_view text) {
  const auto value = whole_number<std::uint64_t>(trimmed(text));
  if (!value)
    return bad_value("--seed", text, "it is not a whole number from 0 to 2^64 - 1", "give such a number: --seed 1");
  return *value;
}

Status check_label(std::string_view option, std::string_view text) {
  if (text.size() > kMaxLabel) {
    return bad_value(option, elide_middle(text, 40, Style{}), fmt::format("it is longer than {} bytes", kMaxLabel),
                     "give a shorter name");
  }
  if (printable(text) != text) {
    return bad_value(option, text, "it holds control characters", "give a name of printable characters");
  }
  if (text == "last") return bad_value(option, text, "'last' means the newest run", "give another name");
  return {};
}

Status check_label(std::string_view text) { return check_label("--label", text); }

std::string nearest(std::string_view word, const std::vector<std::string>& known) {
  std::string best;
  std::size_t best_distance = std::max<std::size_t>(2, word.size() / 3) + 1;
  for (const std::string& candidate : known) {
    // Levenshtein distance, one row at a time.
    std::vector<std::size_t> row(candidate.size() + 1);
    std::iota(row.begin(), row.end(), std::size_t{0});
    for (std::size_t i = 1; i <= word.size(); ++i) {
      std::size_t diagonal = std::exchange(row[0], i);
      for (std::size_t j = 1; j <= candidate.size(); ++j) {
        const std::size_t replace = diagonal + (word[i - 1] == candidate[j - 1] ? 0 : 1);
        diagonal = std::exchange(row[j], std::min({replace, row[j] + 1, row[j - 1] + 1}));
      }
    }
    if (row.back() < best_distance && row.back() < word.size()) {
      best_distance = row.back();
      best = candidate;
    }
  }
  return best;
}

}  // namespace hbmark::cli
