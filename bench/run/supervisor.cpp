#include "bench/run/supervisor.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <vector>

#include "bench/run/cache_flusher.h"
#include "bench/run/job.h"

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

Status Supervisor::run(std::deque<PlannedCase>& pending) {
  int failed_starts = 0;
  while (!pending.empty() && interrupts_.signal() == 0) {
    auto process = start(pending);
    if (!process) return tl::make_unexpected(process.error());
    Life life{std::move(*process), {}, false, false, false, false, {}, "start", Clock::now(), Clock::now(), {}};
    last_words_.clear();
    if (auto heard = listen(life, pending); !heard) return heard;
    failed_starts = life.talked ? 0 : failed_starts + 1;
    if (failed_starts >= kMostFailedStarts && interrupts_.signal() == 0) {
      return environment_error("cannot carry out the run: workers end before their first case", last_words_,
                               "`hbmark doctor` looks at each plugin; --resume goes on with the run once this is mended");
    }
  }
  return {};
}

Result<WorkerProcess> Supervisor::start(const std::deque<PlannedCase>& pending) const {
  const topology::Placement& placement = request_.placements.at(pending.front().placement);
  WorkerJob job;
  job.plan = request_.plan;
  job.plan.cases.assign(pending.begin(), pending.end());
  job.thread_pus = placement.thread_pus;
  job.omp_places = placement.omp_places;
  job.memory = placement.memory;
  if (request_.node != nullptr && request_.node->memory_limit_bytes)
    job.memory_room_bytes = request_.node->memory_available_bytes;
  if (request_.plan.cold_cache && request_.node != nullptr) job.sweep_bytes = sweep_bytes_for(*request_.node);
  job.program = request_.worker_program;
  const WorkerSetUp set_up{placement.environment, topology::ProcessBinding(placement.memory), request_.plan.pages == "4k"};
  return WorkerProcess::start(request_.worker_program, job_to_json(job), set_up);
}

double Supervisor::patience_s(const Life& life) const {
  if (!life.current) return std::max(request_.plan.timeout_s, kLeastStartS);
  return request_.plan.timeout_s + life.current->budget_s;
}

Status Supervisor::listen(Life& life, std::deque<PlannedCase>& pending) {
  for (;;) {
    std::array<pollfd, 2> waited = {pollfd{life.process.events(), POLLIN, 0}, pollfd{interrupts_.fd(), POLLIN, 0}};
    if (poll(waited.data(), waited.size(), kTickMs) == 0) recorder_.tick();
    if (interrupts_.signal() != 0) {
      life.process.end(kGraceS);
      return {};
    }
    // First the ending, then what was said before it: nothing said is lost.
    const bool ended = life.process.ended();
    if (auto heard = hear(life, pending); !heard) return heard;
    life.process.bound_printed();
    if (ended || life.closed || life.done || !life.nonsense.empty()) return bury(life, pending, false);
    if (std::chrono::duration<double>(Clock::now() - life.last_sign).count() > patience_s(life))
      return bury(life, pending, true);
  }
}

// Reads what there is and acts on every whole line.
Status Supervisor::hear(Life& life, std::deque<PlannedCase>& pending) {
  std::vector<char> piece(65536);  // not on the stack, of which some users allow little
  for (;;) {
    const ssize_t got = read(life.process.events(), piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got == 0) life.closed = true;
    if (got <= 0) break;
    life.lines.append({piece.data(), static_cast<std::size_t>(got)});
    while (auto line = life.lines.next()) {
      auto event = event_from_line(*line);
      if (!event) {
        life.nonsense = fmt::format("{} ({})", event.error().what, event.error().why);
        return {};
      }
      life.last_sign = Clock::now();
      if (auto obeyed = obey(life, pending, *event); !obeyed) return obeyed;
      if (!life.nonsense.empty() || life.done) return {};
    }
    if (life.lines.overlong()) {
      life.nonsense = fmt::format("the worker sent a line of more than {} bytes", LineReader::kMaxLineBytes);
      return {};
    }
  }
  life.cut_off = life.closed && !life.lines.rest().empty();
  return {};
}

Status Supervisor::obey(Life& life, std::deque<PlannedCase>& pending, Event& event) {
  const bool of_current = life.current && event.case_index == life.current->index;
  switch (event.kind) {
    case EventKind::kReady:
      return {};
    case EventKind::kWarning:
      recorder_.warn(event.text);
      return {};
    case EventKind::kDone:
      if (life.current || !pending.empty()) life.nonsense = "the worker says that it is done, with cases left";
      life.done = true;
      return {};
    case EventKind::kCase:
      return begin_case(life, pending, event.case_index);
    case EventKind::kPhase:
    case EventKind::kProgress:
      if (!of_current) {
        life.nonsense = fmt::format("the worker told of case {} out of turn", event.case_index);
        return {};
      }
      if (event.kind == EventKind::kPhase) life.phase = event.text;
      recorder_.progress(*life.current, life.phase, event.kind == EventKind::kProgress ? event.fraction : 0);
      return {};
    case EventKind::kResult:
      return end_case(life, pending, event);
  }
  return {};
}

Status Supervisor::begin_case(Life& life, std::deque<PlannedCase>& pending, std::int64_t index) {
  if (life.current || pending.empty() || pending.front().index != index) {
    life.nonsense = fmt::format("the worker began case {} out of turn", index);
    return {};
  }
  life.talked = true;
  life.current = pending.front();
  life.phase = "start";
  life.case_start = Clock::now();
  recorder_.started(*life.current);
  return {};
}

Status Supervisor::end_case(Life& life, std::deque<PlannedCase>& pending, Event& event) {
  if (!life.current || event.case_index != life.current->index || event.result.problem != life.current->problem) {
    life.nonsense = fmt::format("the worker gave a result of case {} out of turn", event.case_index);
    return {};
  }
  const PlannedCase planned = *life.current;
  life.current.reset();
  pending.pop_front();
  return recorder_.finish(planned, std::move(event.result), event.samples, event.facts);
}

// Ends the process and gives the case it was in, if any, its outcome.
Status Supervisor::bury(Life& life, std::deque<PlannedCase>& pending, bool timed_out) {
  const std::string printed_before = life.done ? std::string() : life.process.printed(kKeptLogBytes);
  const bool can_end = !timed_out && life.nonsense.empty();
  if (can_end && !life.process.exits_within(kGraceS) && !life.done) {
    life.nonsense = "the worker closed its line to hbmark and went on";
  }
  const WorkerEnding ending = life.process.end(timed_out ? kGraceS : 0);
  if (life.current) return blame(life, pending, ending, timed_out);
  if (life.done) {
    if (ending.by_signal || ending.code != 0) {
      recorder_.warn(
          fmt::format("a worker ended with {} after its last case was done: a library goes down badly", ending.describe()));
    }
    life.talked = true;
    return {};
  }
  last_words_ = fmt::format("it ended with {}", ending.describe());
  if (timed_out) last_words_ = "it gave no sign of life";
  if (!life.nonsense.empty()) last_words_ = life.nonsense;
  if (!printed_before.empty()) last_words_ += fmt::format("; it printed: {}", printed_before);
  if (life.talked) recorder_.warn(fmt::format("a worker ended between two cases ({}); a new one goes on", last_words_));
  return {};
}

Status Supervisor::blame(Life& life, std::deque<PlannedCase>& pending, const WorkerEnding& ending, bool timed_out) {
  const PlannedCase planned = *life.current;
  ResultRecord result;
  if (timed_out) {
    result.outcome = Outcome::kTimeout;
    result.reason = fmt::format(
        "no sign of life for {:.3g} s during {} (--timeout {:.3g} s beyond a budget of {:.3g} s); "
        "if the machine is only slow, raise --timeout",
        patience_s(life), life.phase, request_.plan.timeout_s, planned.budget_s);
  } else if (!life.nonsense.empty()) {
    result.reason = fmt::format("{} during {}; what it said of this case is not trusted", life.nonsense, life.phase);
  } else if (ending.by_signal) {
    result.outcome = Outcome::kCrashed;
    result.reason = fmt::format("the worker was ended by {} during {}", ending.describe(), life.phase);
    const std::string limit = limit_hint(ending.code);
    result.reason += limit;
    if (ending.code == SIGKILL && limit.empty()) result.reason += "; if nobody killed it, memory ran out (see dmesg)";
    if (ending.code == SIGSEGV) result.reason += stack_hint();
    if (ending.code == SIGILL) result.reason += "; the library was built for a newer CPU than this";
  } else if (ending.code == kExitInterrupted) {
    result.outcome = Outcome::kCrashed;
    result.reason = "somebody told the worker alone to end (SIGTERM or SIGINT): run the case again with --problem";
  } else {
    result.reason = fmt::format("the plugin ended the worker with {} during {}", ending.describe(), life.phase);
    if (life.cut_off) result.reason += ", in the middle of a line to hbmark";
  }
  if (result.outcome == Outcome::kNotRun) result.outcome = Outcome::kFailed;
  result.log = life.process.printed(kKeptLogBytes);
  if (!result.log.empty()) result.flags.emplace_back("printed");
  result.wall_s = std::chrono::duration<double>(Clock::now() - life.case_start).count();
  life.current.reset();
  pending.pop_front();
  return recorder_.finish(planned, std::move(result), {}, {});
}

}  // namespace hbmark
