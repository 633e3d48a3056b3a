#include "bench/run/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <ctime>
#include <string_view>

extern char** environ;

namespace hbmark {

namespace {

// A library that prints without end must not fill the memory of the node it is measured on.
constexpr off_t kPrintedBoundBytes = off_t{16} << 20;
constexpr std::size_t kKeptOfFloodBytes = 4096;

tl::unexpected<Error> cannot_start(const std::string& program, const char* step, int error) {
  return environment_error(fmt::format("cannot start a worker ({})", program),
                           fmt::format("{}: {}", step, std::strerror(error)),
                           error == EMFILE || error == ENFILE || error == EAGAIN || error == ENOMEM
                               ? "free resources or raise the limits (ulimit -n, ulimit -u), then --resume the run"
                               : "check that the program is still in its place and may be executed");
}

// The parent's environment with the placement's values, and without what would steer the measurement behind our back.
std::vector<std::string> worker_environment(const std::vector<std::pair<std::string, std::string>>& wanted) {
  std::vector<std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    const bool replaced = std::any_of(wanted.begin(), wanted.end(), [&](const auto& pair) { return pair.first == name; });
    // Google Benchmark takes options from BENCHMARK_*. Of the OpenMP runtimes' variables the placement's alone count: others
    // would overrule or contradict it, change the team (OMP_MAX_ACTIVE_LEVELS), or print.
    constexpr std::array<std::string_view, 4> kSteering = {"BENCHMARK_", "GOMP_", "KMP_", "OMP_"};
    const bool dropped = std::any_of(kSteering.begin(), kSteering.end(),
                                     [&](std::string_view prefix) { return name.substr(0, prefix.size()) == prefix; });
    if (!replaced && !dropped) all.emplace_back(text);
  }
  for (const auto& [name, value] : wanted) all.push_back(name + "=" + value);
  return all;
}

struct ChildSetUp {
  const char* program;
  char* const* arguments;
  char* const* environment;
  int stdin_fd, stdout_fd, stderr_fd, job_fd, error_fd;
  pid_t parent;
  const topology::ProcessBinding* binding;
  bool no_huge_pages;
  int inherited;
};

// Between fork and exec: only what is async-signal-safe.
[[noreturn]] void become_worker(const ChildSetUp& s) {
  setpgid(0, 0);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != s.parent) _exit(127);  // it died before prctl
  struct sigaction by_default {};
  by_default.sa_handler = SIG_DFL;
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGPIPE, SIGXFSZ, SIGXCPU}) sigaction(number, &by_default, nullptr);
  // Vendor libraries take the usual 8 MiB of stack for granted (oneDNN 2.6 dies with 256 KiB).
  rlimit stack{};
  if (getrlimit(RLIMIT_STACK, &stack) == 0 && stack.rlim_cur < kUsualStackBytes) {
    stack.rlim_cur = stack.rlim_max < kUsualStackBytes ? stack.rlim_max : kUsualStackBytes;
    setrlimit(RLIMIT_STACK, &stack);  // where it may not be raised a crash says so (supervisor.cpp)
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  int error = s.binding->apply();
  if (error == 0 && s.no_huge_pages && prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0) != 0) error = errno;
  if (error != 0) {
    [[maybe_unused]] const ssize_t told = write(s.error_fd, &error, sizeof error);
    _exit(127);
  }
  // dup2 clears close-on-exec; every other descriptor of ours has it set.
  if (dup2(s.stdin_fd, 0) < 0 || dup2(s.stdout_fd, 1) < 0 || dup2(s.stderr_fd, 2) < 0 || fcntl(s.job_fd, F_SETFD, 0) < 0 ||
      (s.inherited >= 0 && fcntl(s.inherited, F_SETFD, 0) < 0)) {
    error = errno;
    [[maybe_unused]] const ssize_t told = write(s.error_fd, &error, sizeof error);
    _exit(127);
  }
  execve(s.program, s.arguments, s.environment);
  error = errno;
  [[maybe_unused]] const ssize_t told = write(s.error_fd, &error, sizeof error);
  _exit(127);
}

std::vector<char*> pointers(std::vector<std::string>& texts) {
  std::vector<char*> list;
  for (std::string& text : texts) list.push_back(text.data());
  list.push_back(nullptr);
  return list;
}

bool write_all(int fd, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(fd, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return lseek(fd, 0, SEEK_SET) == 0;
}

// A descriptor that will survive the child's dup2 calls to 0, 1 and 2.
Fd above_stdio(int fd) {
  if (fd < 0 || fd > 2) return Fd(fd);
  const int higher = fcntl(fd, F_DUPFD_CLOEXEC, 3);
  close(fd);
  return Fd(higher);
}

}  // namespace

void Fd::reset() {
  if (fd_ >= 0) close(fd_);
  fd_ = -1;
}

std::string WorkerEnding::describe() const {
  if (!by_signal) return fmt::format("exit code {}", code);
  const char* name = sigabbrev_np(code);
  const char* meaning = sigdescr_np(code);
  return fmt::format("signal SIG{} ({})", name != nullptr ? name : std::to_string(code),
                     meaning != nullptr ? meaning : "unknown");
}

Result<WorkerProcess> WorkerProcess::start(const std::string& program, const std::string& job, const WorkerSetUp& wanted) {
  WorkerProcess worker;
  const Fd nothing = above_stdio(open("/dev/null", O_RDONLY | O_CLOEXEC));
  if (nothing.get() < 0 && errno != ENOENT && errno != ENXIO && errno != EACCES) {
    return cannot_start(program, "its standard input, /dev/null", errno);
  }
  if (nothing.get() < 0) {
    return environment_error(fmt::format("cannot start a worker ({})", program),
                             fmt::format("its standard input, /dev/null: {}", std::strerror(errno)),
                             "this system or container lacks /dev/null: mount a /dev (a container's own, or devtmpfs)");
  }
  const Fd job_file = above_stdio(memfd_create("hbmark-plan", MFD_CLOEXEC));
  worker.output_ = above_stdio(memfd_create("hbmark-output", MFD_CLOEXEC));
  if (job_file.get() < 0 || worker.output_.get() < 0) return cannot_start(program, "memfd_create", errno);
  // Appending: the worker may empty the file while a library holds it open.
  if (fcntl(worker.output_.get(), F_SETFL, O_APPEND) != 0) return cannot_start(program, "fcntl", errno);
  if (!write_all(job_file.get(), job)) return cannot_start(program, "writing the plan", errno);
  std::array<int, 2> events{};
  std::array<int, 2> errors{};
  if (pipe2(events.data(), O_CLOEXEC) != 0) return cannot_start(program, "pipe", errno);
  worker.events_ = above_stdio(events[0]);
  Fd events_in = above_stdio(events[1]);
  if (pipe2(errors.data(), O_CLOEXEC) != 0) return cannot_start(program, "pipe", errno);
  const Fd errors_out = above_stdio(errors[0]);
  Fd errors_in = above_stdio(errors[1]);

  std::vector<std::string> arguments = {program, "worker", fmt::format("/proc/self/fd/{}", job_file.get())};
  std::vector<std::string> variables = worker_environment(wanted.environment);
  const std::vector<char*> argument_list = pointers(arguments);
  const std::vector<char*> variable_list = pointers(variables);
  const ChildSetUp set_up{program.c_str(), argument_list.data(), variable_list.data(), nothing.get(),
                          events_in.get(), worker.output_.get(), job_file.get(),       errors_in.get(),
                          getpid(),        &wanted.binding,      wanted.no_huge_pages, wanted.inherited};
  worker.pid_ = fork();
  if (worker.pid_ == 0) become_worker(set_up);
  if (worker.pid_ < 0) return cannot_start(program, "fork", errno);
  setpgid(worker.pid_, worker.pid_);  // in both, so that neither can be too early
  events_in.reset();
  errors_in.reset();
  int error = 0;
  ssize_t got = 0;
  while ((got = read(errors_out.get(), &error, sizeof error)) < 0 && errno == EINTR) {
  }
  if (got == static_cast<ssize_t>(sizeof error)) return cannot_start(program, "binding its memory or executing it", error);
  fcntl(worker.events_.get(), F_SETFL, O_NONBLOCK);
  return worker;
}

WorkerProcess::WorkerProcess(WorkerProcess&& other) noexcept
    : pid_(std::exchange(other.pid_, -1)),
      events_(std::move(other.events_)),
      output_(std::move(other.output_)),
      flood_(std::move(other.flood_)) {}

WorkerProcess::~WorkerProcess() {
  if (pid_ > 0) end(0);
}

bool WorkerProcess::ended() {
  siginfo_t info{};
  return pid_ <= 0 ||
         (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_);
}

bool WorkerProcess::exits_within(double seconds) const {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::duration<double>(seconds);
  for (;;) {
    siginfo_t info{};
    if (waitid(P_PID, static_cast<id_t>(pid_), &info, WEXITED | WNOHANG | WNOWAIT) == 0 && info.si_pid == pid_) return true;
    if (std::chrono::steady_clock::now() >= deadline) return false;
    const timespec pause{0, 5'000'000};
    nanosleep(&pause, nullptr);
  }
}

WorkerEnding WorkerProcess::reap() {
  int status = 0;
  while (waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
  pid_ = -1;
  if (WIFSIGNALED(status)) return {true, WTERMSIG(status)};
  return {false, WEXITSTATUS(status)};
}

void WorkerProcess::ask_to_end() const {
  if (pid_ <= 0) return;
  kill(-pid_, SIGTERM);
  kill(-pid_, SIGCONT);
}

WorkerEnding WorkerProcess::end(double grace_s) {
  if (grace_s > 0 && !ended()) {
    ask_to_end();
    exits_within(grace_s);
  }
  // Not yet reaped, so the group's number is still its own; what the plugin may have forked goes with it.
  kill(-pid_, SIGKILL);
  return reap();
}

std::string WorkerProcess::printed(std::size_t limit) const {
  std::string tail = file_tail(output_.get(), limit);
  return tail.empty() ? flood_.substr(flood_.size() - std::min(flood_.size(), limit)) : tail;
}

void WorkerProcess::bound_printed() {
  struct stat facts {};
  if (fstat(output_.get(), &facts) != 0 || facts.st_size < kPrintedBoundBytes) return;
  flood_ = file_tail(output_.get(), kKeptOfFloodBytes);
  // When it fails the file stays as it is, and the next call tries again.
  [[maybe_unused]] const int cut = ftruncate(output_.get(), 0);
}

std::string file_tail(int fd, std::size_t limit) {
  struct stat facts {};
  if (fstat(fd, &facts) != 0 || facts.st_size <= 0) return {};
  const auto size = static_cast<std::size_t>(facts.st_size);
  std::string text(std::min(size, limit), '\0');
  const ssize_t got = pread(fd, text.data(), text.size(), static_cast<off_t>(size - text.size()));
  text.resize(got > 0 ? static_cast<std::size_t>(got) : 0);
  if (size > text.size()) {
    std::size_t start = 0;
    while (start < text.size() && start < 4 && (static_cast<unsigned char>(text[start]) & 0xC0U) == 0x80U) ++start;
    text.erase(0, start);
  }
  for (char& c : text) {
    const auto value = static_cast<unsigned char>(c);
    if ((value < 0x20 && c != '\n' && c != '\t') || value == 0x7F) c = '?';
  }
  return text;
}

}  // namespace hbmark
