#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <ctime>
#include <limits>
#include <nlohmann/json.hpp>

#include "results/formats/gbench.h"
#include "results/formats/json_reader.h"
#include "results/formats/text.h"

namespace hbmark {
namespace {

using nlohmann::json;

constexpr const char* kNext =
    "give what a Google Benchmark program writes with --benchmark_out=FILE --benchmark_out_format=json";
constexpr std::array<std::string_view, 14> kOwnMembers = {
    "name",          "run_name",  "run_type",  "repetitions",  "repetition_index",          "threads",
    "iterations",    "real_time", "time_unit", "family_index", "per_family_instance_index", "error_occurred",
    "error_message", "skipped"};

std::string text_of(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

std::int64_t whole_of(const json& object, const char* member, std::int64_t otherwise) {
  const auto found = object.find(member);
  return found != object.end() && found->is_number_integer() ? found->get<std::int64_t>() : otherwise;
}

bool is_true(const json& object, const char* member) {
  const auto found = object.find(member);
  return found != object.end() && found->is_boolean() && found->get<bool>();
}

std::string plain(const json& value) {
  return value.is_string() ? value.get<std::string>() : value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<double> seconds_of_unit(const std::string& unit) {
  if (unit == "ns") return 1e-9;
  if (unit == "us") return 1e-6;
  if (unit == "ms") return 1e-3;
  if (unit == "s") return 1.0;
  return std::nullopt;
}

// Before 1.5 there was no run_type: aggregates were told by their names' ends.
bool is_aggregate(const json& entry) {
  const std::string type = text_of(entry, "run_type");
  if (!type.empty()) return type == "aggregate";
  const std::string name = text_of(entry, "name");
  for (const char* end : {"_mean", "_median", "_stddev", "_cv", "_BigO", "_RMS"}) {
    if (name.ends_with(end)) return true;
  }
  return false;
}

// Takes so many digits, or one character, from the front of a text.
bool take(std::string_view& text, std::size_t digits, int& into) {
  if (text.size() < digits) return false;
  const std::string_view number = text.substr(0, digits);
  if (!std::all_of(number.begin(), number.end(), [](char c) { return c >= '0' && c <= '9'; })) return false;
  std::from_chars(number.data(), number.data() + digits, into);
  text.remove_prefix(digits);
  return true;
}
bool take(std::string_view& text, char wanted) {
  if (text.empty() || text.front() != wanted) return false;
  text.remove_prefix(1);
  return true;
}

// "2026-11-30T20:41:11+01:00" in UTC; empty for another form (older versions print local time without an offset); nullopt
// where it has the form and is no date.
std::optional<std::string> utc_date(const std::string& text) {
  if (text.size() < 11 || text[4] != '-' || text[10] != 'T') return "";
  std::tm given{};
  std::string_view rest = text;
  if (!take(rest, 4, given.tm_year) || !take(rest, '-') || !take(rest, 2, given.tm_mon) || !take(rest, '-') ||
      !take(rest, 2, given.tm_mday) || !take(rest, 'T') || !take(rest, 2, given.tm_hour) || !take(rest, ':') ||
      !take(rest, 2, given.tm_min) || !take(rest, ':') || !take(rest, 2, given.tm_sec) || rest.empty()) {
    return std::nullopt;
  }
  const char sign = rest.front();
  rest.remove_prefix(1);
  int hours = 0;
  int minutes = 0;
  if (sign != 'Z' && ((sign != '+' && sign != '-') || !take(rest, 2, hours) || !take(rest, ':') || !take(rest, 2, minutes)))
    return std::nullopt;
  if (!rest.empty() || hours > 14 || minutes > 59 || given.tm_year < 1970) return std::nullopt;
  given.tm_year -= 1900;
  given.tm_mon -= 1;
  std::tm carried = given;
  const std::time_t local = timegm(&carried);  // makes the 31st of June the 1st of July
  if (carried.tm_mon != given.tm_mon || carried.tm_mday != given.tm_mday || carried.tm_hour != given.tm_hour ||
      carried.tm_min != given.tm_min || carried.tm_sec != given.tm_sec) {
    return std::nullopt;
  }
  const std::time_t at = local - (sign == '-' ? -1 : 1) * (hours * 3600 + minutes * 60);
  std::tm utc{};
  if (gmtime_r(&at, &utc) == nullptr) return std::nullopt;
  std::array<char, 32> out{};
  std::strftime(out.data(), out.size(), "%Y-%m-%dT%H:%M:%SZ", &utc);
  return std::string(out.data());
}

// A count of the file, 1 where it has none (or null); nullopt where it is no whole number from 1 to `most`.
std::optional<std::int64_t> count_of(const json& object, const char* member, std::int64_t most) {
  const auto found = object.find(member);
  if (found == object.end() || found->is_null()) return 1;
  std::int64_t count = 0;
  std::string complaint;
  text_formats::JsonReader(object, "", complaint).read(member, count);
  if (!complaint.empty() || count < 1 || count > most) return std::nullopt;
  return count;
}

std::string no_count(const std::string& name, const json& object, const char* member) {
  return fmt::format("{} of '{}' is {}, a whole number from 1 on was expected", member, name,
                     plain(object[member]).substr(0, 60));
}

// "" or what is wrong with it.
std::string read_context(const json& context, GbenchFile& file) {
  for (const auto& [name, value] : context.items()) file.context[name] = plain(value);
  file.host_name = text_of(context, "host_name");
  const auto date = utc_date(text_of(context, "date"));
  if (!date) {
    return fmt::format("context: date is '{}', and there is no such time (2026-11-30T20:41:11+01:00 is one)",
                       text_of(context, "date").substr(0, 60));
  }
  if (!date->empty()) file.date = *date;
  if (const auto cpus = whole_of(context, "num_cpus", 0); cpus > 0) file.cpus = cpus;
  const auto caches = context.find("caches");
  if (caches == context.end() || !caches->is_array()) return "";
  for (const json& cache : *caches) {
    if (!cache.is_object()) continue;
    std::string type = text_of(cache, "type");
    for (char& c : type) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    file.caches.push_back({static_cast<int>(whole_of(cache, "level", 0)), {type, whole_of(cache, "size", 0)}});
  }
  return "";
}

// What a record has no place for is kept as text.
std::string note_of(const json& entry) {
  std::string note;
  for (const auto& [member, value] : entry.items()) {
    if (std::find(kOwnMembers.begin(), kOwnMembers.end(), member) != kOwnMembers.end()) continue;
    note += fmt::format("{}{} {}", note.empty() ? "" : ", ", member, plain(value));
  }
  return note;
}

GbenchCase& case_named(const std::string& name, std::int64_t threads, GbenchFile& file) {
  for (GbenchCase& each : file.cases) {
    if (each.name == name && each.threads == threads) return each;
  }
  GbenchCase fresh;
  fresh.name = name;
  fresh.threads = threads;
  return file.cases.emplace_back(std::move(fresh));
}

// "" or what is wrong with it.
std::string read_entry(const json& entry, GbenchFile& file) {
  if (!entry.is_object()) return "it is no object";
  if (is_aggregate(entry)) {
    ++file.aggregates;
    return "";
  }
  const std::string run_name = text_of(entry, "run_name");
  const std::string name = run_name.empty() ? text_of(entry, "name") : run_name;
  if (name.empty()) return "it has no name";
  const bool failed = is_true(entry, "error_occurred");
  const bool skipped = is_true(entry, "skipped") || !text_of(entry, "skip_message").empty();
  double time_s = 0;
  if (!failed && !skipped) {
    const auto time = entry.find("real_time");
    const auto unit = seconds_of_unit(text_of(entry, "time_unit"));
    if (time == entry.end() || !time->is_number()) return fmt::format("'{}' has no number real_time", name);
    if (!unit) return fmt::format("'{}' has no time_unit of ns, us, ms or s", name);
    time_s = time->get<double>() * *unit;
    if (!std::isfinite(time_s) || !(time_s > 0)) return fmt::format("real_time of '{}' is no positive time", name);
  }
  constexpr std::int64_t kMostThreads = std::int64_t{1} << 20;  // the largest nodes have some thousands
  const auto threads = count_of(entry, "threads", kMostThreads);
  if (!threads) return no_count(name, entry, "threads");
  // What failed or was skipped did none.
  const auto iterations = failed || skipped ? std::optional<std::int64_t>(1)
                                            : count_of(entry, "iterations", std::numeric_limits<std::int64_t>::max());
  if (!iterations) return no_count(name, entry, "iterations");
  GbenchCase& each = case_named(text_formats::valid_utf8(name), *threads, file);
  if (each.times_s.empty()) each.iterations = *iterations;
  if (failed || skipped) {
    each.outcome = failed ? Outcome::kFailed : Outcome::kSkipped;
    const std::string message = text_of(entry, failed ? "error_message" : "skip_message");
    const std::string other = text_of(entry, "error_message");
    each.reason = !message.empty() ? message : !other.empty() ? other : "the program gave no message";
  } else {
    each.times_s.push_back(time_s);
  }
  if (std::string note = note_of(entry); !note.empty()) each.notes.push_back(std::move(note));
  return "";
}

// "[json.exception.parse_error.101] parse error at line 3, column 1: syntax error ..." without what only its authors need.
std::string not_json(std::string_view said) {
  constexpr std::string_view kBefore = "parse error at ";
  const auto at = said.find(kBefore);
  return fmt::format("it is not JSON, or was cut short: {}",
                     at == std::string_view::npos ? said : said.substr(at + kBefore.size()));
}

}  // namespace

Result<GbenchFile> read_gbench(std::string_view text, const std::string& file_name) {
  const std::string what = "cannot import " + file_name;
  json root;
  try {
    root = json::parse(text);
  } catch (const json::exception& error) {
    return usage_error(what, text.empty() ? "it is empty" : not_json(error.what()), kNext);
  }
  if (!root.is_object()) return usage_error(what, "it is JSON, but no object", kNext);
  const auto entries = root.find("benchmarks");
  const auto context = root.find("context");
  if (entries == root.end() || !entries->is_array() || context == root.end() || !context->is_object()) {
    return usage_error(what, "it has no \"context\" and \"benchmarks\", so it is not Google Benchmark's", kNext);
  }
  GbenchFile file;
  if (std::string wrong = read_context(*context, file); !wrong.empty()) return usage_error(what, wrong, kNext);
  for (std::size_t i = 0; i < entries->size(); ++i) {
    if (std::string wrong = read_entry((*entries)[i], file); !wrong.empty()) {
      return usage_error(what, fmt::format("benchmarks[{}]: {}", i, wrong), kNext);
    }
  }
  if (file.cases.empty()) {
    return usage_error(what,
                       file.aggregates > 0 ? "it holds aggregates only, and no single repetition" : "it holds no benchmark",
                       file.aggregates > 0 ? "write it again without --benchmark_report_aggregates_only" : kNext);
  }
  return file;
}

}  // namespace hbmark
