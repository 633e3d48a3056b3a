// What a worker tells its parent: JSON Lines of schema hbmark.worker/1, one event a line.
//
// The parent trusts nothing: a line that is not an event, is too long or is cut off is an error, never a result.
// Pure but for LineReader's own state; no thread touches one reader at the same time as another.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "results/base/result.h"
#include "results/records.h"

namespace hbmark {

enum class EventKind {
  kReady,     // pinned, plugins loaded: thread_pus
  kCase,      // the case begins
  kPhase,     // of the case: text
  kProgress,  // of the phase: fraction
  kResult,    // the case ended, and all of it is released: result, samples, facts
  kWarning,   // for the user: text
  kDone,      // every case has been tried; the worker exits with 0
};

// What the parent needs beside the record to compare with the ceilings.
struct CaseFacts {
  std::uint32_t algorithm_class = 0;
  std::uint64_t working_set_bytes = 0;  // operands and workspace, as allocated

  bool operator==(const CaseFacts&) const = default;
};

struct Event {
  EventKind kind = EventKind::kReady;
  std::int64_t case_index = -1;  // of kCase, kPhase, kProgress, kResult
  std::string text;
  double fraction = 0;
  std::vector<int> thread_pus;
  ResultRecord result;  // ids, backend, device and the like are the parent's to fill
  std::vector<double> samples;
  CaseFacts facts;
};

std::string event_to_line(const Event& event);         // ends in a newline, holds no other
Result<Event> event_from_line(std::string_view line);  // without the newline; the error's `why` quotes what stood there

// Cuts a byte stream into lines.
class LineReader {
 public:
  void append(std::string_view bytes);
  std::optional<std::string> next();                    // without the newline
  const std::string& rest() const { return pending_; }  // begun and not ended
  bool overlong() const { return pending_.size() > kMaxLineBytes; }

  // 10,240 samples and a log are under 512 KiB.
  static constexpr std::size_t kMaxLineBytes = std::size_t{8} << 20;

 private:
  std::string pending_;
  std::size_t searched_ = 0;
};

}  // namespace hbmark
