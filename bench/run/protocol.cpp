#include "bench/run/protocol.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>

#include "bench/run/whole_number.h"
#include "results/formats/format.h"

namespace hbmark {

namespace {

using nlohmann::json;

constexpr const char* kSchema = "hbmark.worker/1";
constexpr std::array<std::string_view, 7> kKindNames = {"ready", "case", "phase", "progress", "result", "warning", "done"};

std::optional<EventKind> kind_from_name(std::string_view name) {
  for (std::size_t i = 0; i < kKindNames.size(); ++i) {
    if (kKindNames[i] == name) return static_cast<EventKind>(i);
  }
  return std::nullopt;
}

bool has_case(EventKind kind) {
  return kind == EventKind::kCase || kind == EventKind::kPhase || kind == EventKind::kProgress || kind == EventKind::kResult;
}

tl::unexpected<Error> not_an_event(std::string_view line, std::string why) {
  constexpr std::size_t kShown = 120;
  // dump() of a string escapes what a terminal would obey.
  std::string shown = json(std::string(line.substr(0, kShown))).dump(-1, ' ', true, json::error_handler_t::replace);
  if (line.size() > kShown) shown += "...";
  return fail(ErrorKind::kInternal, "the worker sent a line that is not of its protocol", fmt::format("{}: {}", shown, why),
              "a library that writes to descriptors it does not own does this");
}

Result<Event> result_event(const json& document, Event event, std::string_view line) {
  auto record = result_from_json(document.at("result"));
  if (!record) return not_an_event(line, record.error().why);
  event.result = std::move(*record);
  read_whole(document, "algorithm_class", event.facts.algorithm_class);
  read_whole(document, "working_set_bytes", event.facts.working_set_bytes);
  document.at("samples").get_to(event.samples);
  for (const double time_s : event.samples) {
    if (!std::isfinite(time_s) || time_s <= 0) return not_an_event(line, "a sample is not a positive time");
  }
  if ((event.result.outcome == Outcome::kOk) != event.result.time.has_value()) {
    return not_an_event(line, "a result is ok exactly when it has a time");
  }
  return event;
}

}  // namespace

std::string event_to_line(const Event& event) {
  json document = {{"schema", kSchema}, {"event", kKindNames[static_cast<std::size_t>(event.kind)]}};
  if (has_case(event.kind)) document["case"] = event.case_index;
  if (event.kind == EventKind::kReady) document["thread_pus"] = event.thread_pus;
  if (event.kind == EventKind::kPhase || event.kind == EventKind::kWarning) {
    document["text"] = event.text;
  }
  if (event.kind == EventKind::kProgress) document["fraction"] = event.fraction;
  if (event.kind == EventKind::kResult) {
    document["result"] = result_to_json(event.result);
    document["algorithm_class"] = event.facts.algorithm_class;
    document["working_set_bytes"] = event.facts.working_set_bytes;
    document["samples"] = event.samples;
  }
  return document.dump(-1, ' ', false, json::error_handler_t::replace) + '\n';
}

Result<Event> event_from_line(std::string_view line) {
  try {
    const json document = json::parse(line);
    if (!document.is_object() || document.value("schema", "") != kSchema) return not_an_event(line, "its schema is another");
    const auto kind = kind_from_name(document.at("event").get<std::string>());
    if (!kind) return not_an_event(line, "its event is unknown");
    Event event;
    event.kind = *kind;
    if (has_case(*kind)) read_whole(document, "case", event.case_index);
    if (*kind == EventKind::kReady) read_whole(document, "thread_pus", event.thread_pus);
    if (*kind == EventKind::kPhase || *kind == EventKind::kWarning) {
      document.at("text").get_to(event.text);
    }
    if (*kind == EventKind::kProgress) document.at("fraction").get_to(event.fraction);
    if (*kind == EventKind::kResult) return result_event(document, std::move(event), line);
    return event;
  } catch (const json::exception& error) {
    return not_an_event(line, error.what());
  }
}

void LineReader::append(std::string_view bytes) { pending_.append(bytes); }

std::optional<std::string> LineReader::next() {
  const std::size_t end = pending_.find('\n', searched_);
  if (end == std::string::npos) {
    searched_ = pending_.size();
    return std::nullopt;
  }
  std::string line = pending_.substr(0, end);
  pending_.erase(0, end + 1);
  searched_ = 0;
  return line;
}

}  // namespace hbmark
