// Takes the cases of one configuration through as many workers as it needs: one, and one more after each that died, hung or
// talked nonsense. The case at fault gets its outcome; the next worker goes on behind it.
//
// One thread. Returns when every case has ended, at an interruption (the cases not ended stay in `pending`), or at an error:
// the store refuses, or two workers in a row never came as far as a case.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>

#include "bench/run/interrupt.h"
#include "bench/run/plan.h"
#include "bench/run/process.h"
#include "bench/run/protocol.h"
#include "bench/run/recorder.h"
#include "bench/run/run.h"

namespace hbmark {

class Supervisor {
 public:
  Supervisor(const RunRequest& request, const InterruptWatch& interrupts, Recorder& recorder)
      : request_(request), interrupts_(interrupts), recorder_(recorder) {}

  Status run(std::deque<PlannedCase>& pending);

 private:
  using Clock = std::chrono::steady_clock;

  // One worker's life, as far as it is known from its events.
  struct Life {
    WorkerProcess process;
    LineReader lines;
    bool talked = false;  // of a case
    bool done = false;
    bool closed = false;   // its end of the pipe
    bool cut_off = false;  // in the middle of a line
    std::optional<PlannedCase> current;
    std::string phase = "start";
    Clock::time_point last_sign;
    Clock::time_point case_start;
    std::string nonsense;  // why its words cannot be trusted
  };

  Result<WorkerProcess> start(const std::deque<PlannedCase>& pending) const;
  Status listen(Life& life, std::deque<PlannedCase>& pending);
  Status hear(Life& life, std::deque<PlannedCase>& pending);
  Status obey(Life& life, std::deque<PlannedCase>& pending, Event& event);
  Status begin_case(Life& life, std::deque<PlannedCase>& pending, std::int64_t index);
  Status end_case(Life& life, std::deque<PlannedCase>& pending, Event& event);
  double patience_s(const Life& life) const;
  Status bury(Life& life, std::deque<PlannedCase>& pending, bool timed_out);
  Status blame(Life& life, std::deque<PlannedCase>& pending, const WorkerEnding& ending, bool timed_out);

  const RunRequest& request_;
  const InterruptWatch& interrupts_;
  Recorder& recorder_;
  std::string last_words_;  // of a worker that never came as far as a case
};

}  // namespace hbmark
