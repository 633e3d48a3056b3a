// Takes the cases of one configuration through as many workers as it needs: one (of replicas one each), and new ones after
// each that died, hung or talked nonsense. The case at fault gets its outcome; the next workers go on behind it.
//
// One thread. Returns when every case has ended, at an interruption (the cases not ended stay in `pending`), or at an error:
// the store refuses, or two workers in a row never came as far as a case.
#pragma once

#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <vector>

#include "bench/run/interrupt.h"
#include "bench/run/plan.h"
#include "bench/run/process.h"
#include "bench/run/protocol.h"
#include "bench/run/recorder.h"
#include "bench/run/replica_team.h"
#include "bench/run/run.h"

namespace hbmark {

class Supervisor {
 public:
  Supervisor(const RunRequest& request, const InterruptWatch& interrupts, Recorder& recorder)
      : request_(request), interrupts_(interrupts), recorder_(recorder) {}

  Status run(std::deque<PlannedCase>& pending);

 private:
  using Clock = std::chrono::steady_clock;

  // One worker, as far as it is known from its events.
  struct Voice {
    WorkerProcess process;
    LineReader lines = {};
    bool in_case = false;
    bool done = false;
    bool closed = false;   // its end of the pipe
    bool cut_off = false;  // in the middle of a line
    std::string phase = "start";
    std::optional<Event> told = {};  // of the current case; what it says next is for the one behind
    std::string nonsense = {};       // why its words cannot be trusted
  };
  // Those that run a row of cases, replica 0 first.
  struct Life {
    std::vector<Voice> voices;
    std::optional<ReplicaTeam> team;  // looked on, to tell who is behind
    bool talked = false;              // of a case
    std::optional<PlannedCase> current;
    Clock::time_point last_sign;
    Clock::time_point case_start;
    bool all_done() const;
    std::optional<std::size_t> liar() const;  // the first that talked nonsense
    std::optional<std::size_t> gone() const;  // the first that ended, or closed its line, too early
  };

  Result<Life> start(const std::deque<PlannedCase>& pending) const;
  Status listen(Life& life, std::deque<PlannedCase>& pending);
  void wait(const Life& life) const;
  Status hear_all(Life& life, std::deque<PlannedCase>& pending);
  void read_lines(Voice& voice) const;
  Status obey_lines(Life& life, std::size_t who, std::deque<PlannedCase>& pending);
  Status obey(Life& life, std::size_t who, std::deque<PlannedCase>& pending, Event& event);
  void begin_case(Life& life, Voice& voice, const std::deque<PlannedCase>& pending, std::int64_t index);
  void take_result(const Life& life, Voice& voice, Event& event) const;
  Status end_case(Life& life, std::deque<PlannedCase>& pending);
  double patience_s(const Life& life) const;
  static void end_all(Life& life);
  Status bury(Life& life, std::deque<PlannedCase>& pending, std::size_t at_fault, bool timed_out);
  Status bury_done(Life& life);
  Status blame(Life& life, std::deque<PlannedCase>& pending, std::size_t at_fault, const WorkerEnding& ending,
               bool timed_out);

  const RunRequest& request_;
  const InterruptWatch& interrupts_;
  Recorder& recorder_;
  std::string last_words_;  // of a worker that never came as far as a case
};

}  // namespace hbmark
