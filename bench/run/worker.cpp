// The worker process: pins, proves, runs its cases one after another and tells of them on a private copy of its stdout.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include "bench/run/case_runner.h"
#include "bench/run/host_services.h"
#include "bench/run/job.h"
#include "bench/run/process.h"
#include "bench/run/protocol.h"
#include "bench/run/replica_team.h"
#include "bench/run/run.h"
#include "topology/energy.h"

namespace hbmark {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kExitOk = 0;
constexpr int kExitUsage = 2;
constexpr int kExitEnvironment = 3;
constexpr int kExitInterrupted = 130;
constexpr std::size_t kKeptLogBytes = 4096;
constexpr auto kBetweenProgress = std::chrono::milliseconds(100);

extern "C" void on_sigterm(int) { request_cancel(); }

void handle_signals() {
  struct sigaction action {};
  action.sa_handler = on_sigterm;
  sigemptyset(&action.sa_mask);
  action.sa_flags = SA_RESTART;
  sigaction(SIGTERM, &action, nullptr);
  sigaction(SIGINT, &action, nullptr);
  action.sa_handler = SIG_IGN;  // a parent that is gone shows in write's error
  sigaction(SIGPIPE, &action, nullptr);
}

// The line to the parent. Anything a library prints goes elsewhere (see capture_output).
class Talk {
 public:
  explicit Talk(int fd) : fd_(fd) {}

  void say(const Event& event) const {
    const std::string line = event_to_line(event);
    std::string_view left(line);
    while (!left.empty()) {
      const ssize_t written = write(fd_, left.data(), left.size());
      if (written < 0 && errno == EINTR) continue;
      if (written <= 0) _exit(kExitEnvironment);  // nobody listens any more: there is nothing to work for
      left.remove_prefix(static_cast<std::size_t>(written));
    }
  }
  void say(EventKind kind, std::int64_t case_index, std::string text = {}) const {
    Event event;
    event.kind = kind;
    event.case_index = case_index;
    event.text = std::move(text);
    say(event);
  }
  void progress(std::int64_t case_index, double fraction) {
    if (Clock::now() - last_progress_ < kBetweenProgress) return;
    last_progress_ = Clock::now();
    Event event;
    event.kind = EventKind::kProgress;
    event.case_index = case_index;
    event.fraction = fraction;
    say(event);
  }

 private:
  int fd_;
  Clock::time_point last_progress_{};
};

// Keeps stdout for us, and makes both standard outputs one file that can be looked into and emptied: the parent's, handed
// over as stderr, else (by hand, or through a launcher) one of our own. Returns the private descriptor, -1 on failure.
int capture_output() {
  const int events = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 10);
  if (events < 0) return -1;
  struct stat facts {};
  const int flags = fcntl(STDERR_FILENO, F_GETFL);
  const bool handed_over =
      fstat(STDERR_FILENO, &facts) == 0 && S_ISREG(facts.st_mode) && facts.st_nlink == 0 && (flags & O_APPEND) != 0;
  if (!handed_over) {
    const int own = memfd_create("hbmark-output", MFD_CLOEXEC);
    if (own < 0 || fcntl(own, F_SETFL, O_APPEND) != 0 || dup2(own, STDERR_FILENO) < 0) return -1;
    close(own);
  }
  if (dup2(STDERR_FILENO, STDOUT_FILENO) < 0) return -1;
  // What was printed before a crash must not die in a buffer.
  if (std::setvbuf(stdout, nullptr, _IOLBF, BUFSIZ) != 0) return -1;
  return events;
}

// Takes what was printed since the last call, and empties the file.
std::string take_printed() {
  std::fflush(nullptr);
  std::string tail = file_tail(STDERR_FILENO, kKeptLogBytes);
  // A file that cannot be emptied is not ours to empty: then nothing was captured either.
  if (!tail.empty() && ftruncate(STDERR_FILENO, 0) != 0) return {};
  return tail;
}

void run_case(CaseRunner& runner, const PlannedCase& planned, const Talk& talk) {
  take_printed();
  take_plugin_log();
  talk.say(EventKind::kCase, planned.index);
  Event event = runner.run(planned);
  if (cancel_requested()) return;
  const std::string printed = take_printed();
  if (!printed.empty()) event.result.flags.emplace_back("printed");
  std::string& log = event.result.log;
  log += take_plugin_log() + printed;
  if (log.size() > kKeptLogBytes) log.erase(0, log.size() - kKeptLogBytes);
  talk.say(event);
}

Result<WorkerJob> read_job(const std::string& plan_file) {
  std::ifstream file(plan_file, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  if (text.empty()) {
    return usage_error("the worker cannot read its plan", fmt::format("'{}' is absent or empty", plan_file),
                       "`hbmark worker` is started by `hbmark run`, not by hand; use `hbmark run`");
  }
  return job_from_json(text);
}

int work(const WorkerJob& job, const WorkerProbes& probes, Talk& talk) {
  const int threads = static_cast<int>(job.thread_pus.size());
  const hbmark_host* host = offer_host_services(threads, {job.memory_room_bytes, job.memory, huge_pages(job.plan)});
  topology::Placement placement;
  placement.thread_pus = job.thread_pus;
  placement.omp_places = job.omp_places;
  const auto team = find_team(threads);
  Status placed = check_threads(placement, team);
  if (placed) placed = topology::ProcessBinding(job.memory).check();
  Backends backends(job.plan, job.program, host);

  Event ready;
  ready.kind = EventKind::kReady;
  for (const topology::ThreadFinding& thread : team) ready.thread_pus.push_back(thread.running_on);
  talk.say(ready);

  std::int64_t current = -1;
  CaseListener listener;
  listener.phase = [&](const char* phase) { talk.say(EventKind::kPhase, current, phase); };
  listener.progress = [&](double fraction) { talk.progress(current, fraction); };
  listener.warning = [&](const std::string& text) { talk.say(EventKind::kWarning, current, text); };
  std::optional<ReplicaTeam> replicas;
  if (job.replica_block >= 0) {
    auto joined = ReplicaTeam::join(job.replica_block, job.replica, job.plan.replicas, cancel_requested);
    if (!joined) {
      fmt::print(stderr, "{}: {}; {}\n", joined.error().what, joined.error().why, joined.error().next);
      return kExitEnvironment;
    }
    replicas.emplace(std::move(*joined));
  }
  CaseRunner runner(backends, job, std::move(placed), probes, listener, replicas ? &*replicas : nullptr);
  for (const PlannedCase& planned : job.plan.cases) {
    if (cancel_requested()) return kExitInterrupted;
    current = planned.index;
    run_case(runner, planned, talk);
  }
  return cancel_requested() ? kExitInterrupted : kExitOk;
}

// The meter of topology/ as the window wants it.
Result<EnergyProbe> open_energy() {
  auto opened = topology::EnergyMeter::open();
  if (!opened) return tl::make_unexpected(opened.error());
  struct State {
    topology::EnergyMeter meter;
    topology::EnergySnapshot begin;
  };
  auto state = std::make_shared<State>(State{std::move(*opened), {}});
  EnergyProbe probe;
  probe.scope = state->meter.scope();
  probe.begin = [state]() -> Status {
    auto begin = state->meter.read();
    if (!begin) return tl::make_unexpected(begin.error());
    state->begin = std::move(*begin);
    return {};
  };
  probe.used_j = [state]() -> Result<double> {
    return state->meter.read()
        .and_then([&](const topology::EnergySnapshot& end) { return state->meter.difference(state->begin, end); })
        .map([](const topology::EnergyUsed& used) { return used.total_j; });
  };
  return probe;
}

WorkerProbes completed(WorkerProbes probes) {
  if (!probes.clock) probes.clock = effective_clock;
  if (!probes.energy) probes.energy = open_energy;
  if (!probes.anonymous_bytes) probes.anonymous_bytes = topology::count_anonymous_bytes;
  return probes;
}

}  // namespace

int worker_main(const std::string& plan_file, const WorkerProbes& probes) {
  auto job = read_job(plan_file);
  if (!job) {
    fmt::print(stderr, "hbmark worker: {}: {}; {}\n", job.error().what, job.error().why, job.error().next);
    return kExitUsage;
  }
  handle_signals();
  const int events = capture_output();
  if (events < 0) {
    fmt::print(stderr, "hbmark worker: cannot capture the output of libraries: {}\n", std::strerror(errno));
    return kExitEnvironment;
  }
  Talk talk(events);
  const int code = work(*job, completed(probes), talk);
  // Sessions are closed by now: a plugin that ends badly there has not been told of as done.
  if (code == kExitOk) talk.say(EventKind::kDone, -1);
  return code;
}

}  // namespace hbmark
