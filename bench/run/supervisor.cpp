#include "bench/run/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <vector>

#include "bench/run/cache_flusher.h"
#include "bench/run/job.h"
#include "bench/run/replica_results.h"

namespace hbmark {

namespace {

constexpr int kMostFailedStarts = 2;
constexpr int kTickMs = 200;         // how often a silent worker is looked at
constexpr double kGraceS = 2;        // for a call that honours cancel, before SIGKILL
constexpr double kLeastStartS = 30;  // loading plugins and a team of hundreds of threads, on a loaded machine
constexpr std::size_t kKeptLogBytes = 4096;
constexpr int kExitInterrupted = 130;  // a worker's, when it was told to end

// The limit of this shell that ends a process with this signal; empty when it has none that does.
std::string limit_hint(int signal) {
  const auto limited = [](auto resource) -> std::optional<rlim_t> {
    rlimit limit{};
    if (getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return std::nullopt;
    return limit.rlim_cur;
  };
  if (signal == SIGXCPU || signal == SIGKILL) {
    if (const auto cpu_s = limited(RLIMIT_CPU))
      return fmt::format("; a process may use {} s of CPU time in this shell: raise it (ulimit -t unlimited)", *cpu_s);
  }
  if (signal == SIGXFSZ) {
    if (const auto size_bytes = limited(RLIMIT_FSIZE))
      return fmt::format("; a file may have {} KiB in this shell: raise it (ulimit -f unlimited)", *size_bytes >> 10);
  }
  if (signal == SIGSEGV || signal == SIGABRT || signal == SIGBUS) {
    if (const auto size_bytes = limited(RLIMIT_AS)) {
      return fmt::format(
          "; the memory of a process is limited to {} KiB, and many libraries crash when they get none: raise it (ulimit -v "
          "unlimited)",
          *size_bytes >> 10);
    }
  }
  return {};
}

// Libraries that run out of stack crash like any others. The worker raised its limit as far as it might.
std::string stack_hint() {
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) != 0 || stack.rlim_max >= kUsualStackBytes) return {};
  return fmt::format("; the stack is limited to {} KiB, which is too little for many libraries: raise it (ulimit -s {})",
                     stack.rlim_max >> 10, kUsualStackBytes >> 10);
}

}  // namespace

bool Supervisor::Life::all_done() const {
  return std::all_of(voices.begin(), voices.end(), [](const Voice& voice) { return voice.done; });
}

std::optional<std::size_t> Supervisor::Life::liar() const {
  const auto found = std::find_if(voices.begin(), voices.end(), [](const Voice& voice) { return !voice.nonsense.empty(); });
  if (found == voices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - voices.begin());
}

// One that has told its result waits for the others' with what it said since: it is not gone before that is heard.
std::optional<std::size_t> Supervisor::Life::gone() const {
  const auto found = std::find_if(voices.begin(), voices.end(),
                                  [](const Voice& voice) { return voice.closed && !voice.done && !voice.told; });
  if (found == voices.end()) return std::nullopt;
  return static_cast<std::size_t>(found - voices.begin());
}

Status Supervisor::run(std::deque<PlannedCase>& pending) {
  int failed_starts = 0;
  while (!pending.empty() && interrupts_.signal() == 0) {
    auto life = start(pending);
    if (!life) return tl::make_unexpected(life.error());
    last_words_.clear();
    if (auto heard = listen(*life, pending); !heard) return heard;
    failed_starts = life->talked ? 0 : failed_starts + 1;
    if (failed_starts >= kMostFailedStarts && interrupts_.signal() == 0) {
      return environment_error("cannot carry out the run: workers end before their first case", last_words_,
                               "`hbmark doctor` looks at each plugin; --resume goes on with the run once this is mended");
    }
  }
  return {};
}

// A worker alone, or one for each part of the placement.
Result<Supervisor::Life> Supervisor::start(const std::deque<PlannedCase>& pending) const {
  const topology::Placement& whole = request_.placements.at(pending.front().placement);
  const std::vector<topology::Placement> alone = {whole};
  const std::vector<topology::Placement>& parts = whole.parts.empty() ? alone : whole.parts;
  Life life{{}, {}, false, {}, Clock::now(), Clock::now()};
  Fd block;
  if (!whole.parts.empty()) {
    auto made = ReplicaTeam::make_block(static_cast<int>(parts.size()));
    if (!made) return tl::make_unexpected(made.error());
    block = std::move(*made);
    auto seen = ReplicaTeam::join(block.get(), -1, static_cast<int>(parts.size()), {});
    if (!seen) return tl::make_unexpected(seen.error());
    life.team.emplace(std::move(*seen));
  }
  WorkerJob job;
  job.plan = request_.plan;
  job.plan.cases.assign(pending.begin(), pending.end());
  if (request_.node != nullptr && request_.node->memory_limit_bytes)
    job.memory_room_bytes = request_.node->memory_available_bytes;
  if (request_.plan.cold_cache && request_.node != nullptr) job.sweep_bytes = sweep_bytes_for(*request_.node);
  job.replica_block = block.get();
  job.program = request_.worker_program;
  for (const topology::Placement& part : parts) {
    job.thread_pus = part.thread_pus;
    job.omp_places = part.omp_places;
    job.memory = part.memory;
    job.replica = static_cast<int>(life.voices.size());
    job.replicas_on_nodes = static_cast<int>(std::count_if(
        parts.begin(), parts.end(), [&](const topology::Placement& one) { return one.memory.nodes == part.memory.nodes; }));
    const WorkerSetUp set_up{part.environment, topology::ProcessBinding(part.memory), request_.plan.pages == "4k",
                             block.get()};
    auto process = WorkerProcess::start(request_.worker_program, job_to_json(job), set_up);
    if (!process) return tl::make_unexpected(process.error());
    life.voices.push_back({std::move(*process)});
  }
  return life;
}

double Supervisor::patience_s(const Life& life) const {
  if (!life.current) return std::max(request_.plan.timeout_s, kLeastStartS);
  return request_.plan.timeout_s + life.current->budget_s;
}

void Supervisor::wait(const Life& life) const {
  std::vector<pollfd> waited = {pollfd{interrupts_.fd(), POLLIN, 0}};
  for (const Voice& voice : life.voices) {
    if (!voice.closed) waited.push_back({voice.process.events(), POLLIN, 0});
  }
  if (poll(waited.data(), waited.size(), kTickMs) == 0) recorder_.tick();
}

Status Supervisor::listen(Life& life, std::deque<PlannedCase>& pending) {
  for (;;) {
    wait(life);
    if (interrupts_.signal() != 0) {
      end_all(life);
      return {};
    }
    // First the endings, then what was said before them: nothing said is lost.
    std::vector<bool> ended;
    for (Voice& voice : life.voices) ended.push_back(voice.process.ended());
    if (auto heard = hear_all(life, pending); !heard) return heard;
    for (std::size_t i = 0; i < life.voices.size(); ++i) {
      life.voices[i].closed = life.voices[i].closed || ended[i];
      life.voices[i].process.bound_printed();
    }
    if (const auto liar = life.liar()) return bury(life, pending, *liar, false);
    if (life.all_done()) return bury_done(life);
    if (const auto gone = life.gone()) return bury(life, pending, *gone, false);
    if (std::chrono::duration<double>(Clock::now() - life.last_sign).count() > patience_s(life)) {
      const auto behind = life.team ? life.team->last_behind() : std::nullopt;
      return bury(life, pending, static_cast<std::size_t>(behind.value_or(0)), true);
    }
  }
}

// Reads what there is and acts on every whole line, each worker's up to its result: the next case begins when all have
// told theirs.
Status Supervisor::hear_all(Life& life, std::deque<PlannedCase>& pending) {
  for (Voice& voice : life.voices) read_lines(voice);
  for (bool again = true; again;) {
    for (std::size_t who = 0; who < life.voices.size(); ++who) {
      if (auto obeyed = obey_lines(life, who, pending); !obeyed) return obeyed;
    }
    again = std::all_of(life.voices.begin(), life.voices.end(), [](const Voice& voice) { return voice.told.has_value(); });
    if (!again) continue;
    if (auto ended = end_case(life, pending); !ended) return ended;
  }
  for (Voice& voice : life.voices) {
    if (voice.lines.overlong()) {
      voice.nonsense = fmt::format("the worker sent a line of more than {} bytes", LineReader::kMaxLineBytes);
    }
    voice.cut_off = voice.closed && !voice.lines.rest().empty();
  }
  return {};
}

void Supervisor::read_lines(Voice& voice) const {
  std::vector<char> piece(65536);  // not on the stack, of which some users allow little
  // A line without an end is refused before it has filled our memory.
  while (!voice.closed && voice.lines.rest().size() <= 2 * LineReader::kMaxLineBytes) {
    const ssize_t got = read(voice.process.events(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) voice.closed = true;
    if (got <= 0) break;
    voice.lines.append({piece.data(), static_cast<std::size_t>(got)});
  }
}

Status Supervisor::obey_lines(Life& life, std::size_t who, std::deque<PlannedCase>& pending) {
  Voice& voice = life.voices[who];
  while (!voice.told && !voice.done && voice.nonsense.empty()) {
    const auto line = voice.lines.next();
    if (!line) break;
    auto event = event_from_line(*line);
    if (!event) {
      voice.nonsense = fmt::format("{} ({})", event.error().what, event.error().why);
      break;
    }
    life.last_sign = Clock::now();
    if (auto obeyed = obey(life, who, pending, *event); !obeyed) return obeyed;
  }
  return {};
}

Status Supervisor::obey(Life& life, std::size_t who, std::deque<PlannedCase>& pending, Event& event) {
  Voice& voice = life.voices[who];
  const bool of_current = voice.in_case && life.current && event.case_index == life.current->index;
  switch (event.kind) {
    case EventKind::kReady:
      return {};
    case EventKind::kWarning:
      if (who == 0) recorder_.warn(event.text);  // the others have the same library
      return {};
    case EventKind::kDone:
      if (life.current || !pending.empty()) voice.nonsense = "the worker says that it is done, with cases left";
      voice.done = true;
      return {};
    case EventKind::kCase:
      begin_case(life, voice, pending, event.case_index);
      return {};
    case EventKind::kPhase:
    case EventKind::kProgress:
      if (!of_current) {
        voice.nonsense = fmt::format("the worker told of case {} out of turn", event.case_index);
        return {};
      }
      if (event.kind == EventKind::kPhase) voice.phase = event.text;
      if (who == 0) recorder_.progress(*life.current, voice.phase, event.kind == EventKind::kProgress ? event.fraction : 0);
      return {};
    case EventKind::kResult:
      take_result(life, voice, event);
      return {};
  }
  return {};
}

void Supervisor::begin_case(Life& life, Voice& voice, const std::deque<PlannedCase>& pending, std::int64_t index) {
  if (voice.in_case || pending.empty() || pending.front().index != index) {
    voice.nonsense = fmt::format("the worker began case {} out of turn", index);
    return;
  }
  voice.in_case = true;
  voice.phase = "start";
  if (life.current) return;  // begun by another replica
  life.talked = true;
  life.current = pending.front();
  life.case_start = Clock::now();
  recorder_.started(*life.current);
}

void Supervisor::take_result(const Life& life, Voice& voice, Event& event) const {
  if (!voice.in_case || event.case_index != life.current->index || event.result.problem != life.current->problem) {
    voice.nonsense = fmt::format("the worker gave a result of case {} out of turn", event.case_index);
    return;
  }
  voice.in_case = false;
  voice.told = std::move(event);
}

Status Supervisor::end_case(Life& life, std::deque<PlannedCase>& pending) {
  const PlannedCase planned = *life.current;
  std::vector<Event> told;
  for (Voice& voice : life.voices) {
    told.push_back(std::move(*voice.told));
    voice.told.reset();
  }
  life.current.reset();
  pending.pop_front();
  Event whole = merge_replicas(std::move(told));
  return recorder_.finish(planned, std::move(whole.result), whole.samples, whole.facts);
}

// All are asked at once, and wait for their end together.
void Supervisor::end_all(Life& life) {
  for (const Voice& voice : life.voices) voice.process.ask_to_end();
  const auto deadline = Clock::now() + std::chrono::duration<double>(kGraceS);
  for (Voice& voice : life.voices) {
    voice.process.exits_within(std::chrono::duration<double>(deadline - Clock::now()).count());
    voice.process.end(0);
  }
}

// Those that said that they are done may still end badly.
Status Supervisor::bury_done(Life& life) {
  for (Voice& voice : life.voices) {
    voice.process.exits_within(kGraceS);
    const WorkerEnding ending = voice.process.end(0);
    if (!ending.by_signal && ending.code == 0) continue;
    recorder_.warn(
        fmt::format("a worker ended with {} after its last case was done: a library goes down badly", ending.describe()));
  }
  life.talked = true;
  return {};
}

// Ends all and gives the case they were in, if any, its outcome: that of the one at fault.
Status Supervisor::bury(Life& life, std::deque<PlannedCase>& pending, std::size_t at_fault, bool timed_out) {
  Voice& voice = life.voices[at_fault];
  const std::string printed_before = voice.process.printed(kKeptLogBytes);
  if (!timed_out && voice.nonsense.empty() && !voice.process.exits_within(kGraceS)) {
    voice.nonsense = "the worker closed its line to hbmark and went on";
  }
  const WorkerEnding ending = voice.process.end(timed_out ? kGraceS : 0);
  for (std::size_t i = 0; i < life.voices.size(); ++i) {
    if (i != at_fault) life.voices[i].process.end(0);
  }
  if (life.current) return blame(life, pending, at_fault, ending, timed_out);
  last_words_ = fmt::format("it ended with {}", ending.describe());
  if (timed_out) last_words_ = "it gave no sign of life";
  if (!voice.nonsense.empty()) last_words_ = voice.nonsense;
  last_words_ = replica_prefix(at_fault, life.voices.size()) + last_words_;
  if (!printed_before.empty()) last_words_ += fmt::format("; it printed: {}", printed_before);
  if (life.talked) recorder_.warn(fmt::format("a worker ended between two cases ({}); a new one goes on", last_words_));
  return {};
}

Status Supervisor::blame(Life& life, std::deque<PlannedCase>& pending, std::size_t at_fault, const WorkerEnding& ending,
                         bool timed_out) {
  const PlannedCase planned = *life.current;
  const Voice& voice = life.voices[at_fault];
  ResultRecord result;
  if (timed_out) {
    result.outcome = Outcome::kTimeout;
    result.reason = fmt::format(
        "no sign of life for {:.3g} s during {} (--timeout {:.3g} s beyond a budget of {:.3g} s); "
        "if the machine is only slow, raise --timeout",
        patience_s(life), voice.phase, request_.plan.timeout_s, planned.budget_s);
  } else if (!voice.nonsense.empty()) {
    result.reason = fmt::format("{} during {}; what it said of this case is not trusted", voice.nonsense, voice.phase);
  } else if (ending.by_signal) {
    result.outcome = Outcome::kCrashed;
    result.reason = fmt::format("the worker was ended by {} during {}", ending.describe(), voice.phase);
    const std::string limit = limit_hint(ending.code);
    result.reason += limit;
    if (ending.code == SIGKILL && limit.empty()) result.reason += "; if nobody killed it, memory ran out (see dmesg)";
    if (ending.code == SIGSEGV) result.reason += stack_hint();
    if (ending.code == SIGILL) result.reason += "; the library was built for a newer CPU than this";
  } else if (ending.code == kExitInterrupted) {
    result.outcome = Outcome::kCrashed;
    result.reason = "somebody told the worker alone to end (SIGTERM or SIGINT): run the case again with --problem";
  } else {
    result.reason = fmt::format("the plugin ended the worker with {} during {}", ending.describe(), voice.phase);
    if (voice.cut_off) result.reason += ", in the middle of a line to hbmark";
  }
  if (result.outcome == Outcome::kNotRun) result.outcome = Outcome::kFailed;
  result.reason = replica_prefix(at_fault, life.voices.size()) + result.reason;
  result.log = voice.process.printed(kKeptLogBytes);
  if (!result.log.empty()) result.flags.emplace_back("printed");
  result.wall_s = std::chrono::duration<double>(Clock::now() - life.case_start).count();
  life.current.reset();
  pending.pop_front();
  return recorder_.finish(planned, std::move(result), {}, {});
}

}  // namespace hbmark
