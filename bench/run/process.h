// One worker process: started, listened to, ended. Its process group dies with it, and it dies with us.
//
// fork and exec with the given environment and memory policy (which an exec keeps), /dev/null as stdin, a pipe as stdout
// (its events) and an unlinked file in memory as stderr, which the worker makes its captured output and which outlives its
// crash. The plan is handed over in a second unlinked file, so that no file is left behind however we end. One thread (the
// one that started it: the kernel ends the worker when that thread ends).
#pragma once

#include <sys/types.h>

#include <string>
#include <utility>
#include <vector>

#include "results/base/result.h"
#include "topology/memory_policy.h"

namespace hbmark {

class Fd {  // an owned descriptor
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  Fd(const Fd&) = delete;
  Fd& operator=(const Fd&) = delete;
  ~Fd() { reset(); }
  int get() const { return fd_; }
  void reset();

 private:
  int fd_ = -1;
};

inline constexpr unsigned long kUsualStackBytes = 8UL << 20;  // Linux's usual limit (ulimit -s 8192)

struct WorkerEnding {
  bool by_signal = false;
  int code = 0;                  // signal number or exit code
  std::string describe() const;  // "signal SIGSEGV (Segmentation fault)", "exit code 3"
};

struct WorkerSetUp {
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  topology::ProcessBinding binding;                              // of all its memory, from its first page on
  bool no_huge_pages = false;                                    // anywhere in it (PR_SET_THP_DISABLE)
  int inherited = -1;                                            // a descriptor above 2 that it gets too
};

class WorkerProcess {
 public:
  // Errors (environment): no descriptors, no memory, the program cannot be executed.
  static Result<WorkerProcess> start(const std::string& program, const std::string& job, const WorkerSetUp& set_up);
  WorkerProcess(WorkerProcess&&) noexcept;
  WorkerProcess& operator=(WorkerProcess&&) = delete;
  ~WorkerProcess();  // kills what is left

  int events() const { return events_.get(); }  // non-blocking
  pid_t pid() const { return pid_; }
  bool ended();                             // without waiting
  bool exits_within(double seconds) const;  // by itself
  void ask_to_end() const;                  // SIGTERM to the group, without waiting
  // Asks the group to end (SIGTERM: a running call may end early), waits `grace_s`, kills it, reaps it.
  WorkerEnding end(double grace_s);
  // The end of what the current case has printed, at most `limit` bytes; also keeps the file from growing without bound.
  std::string printed(std::size_t limit) const;
  void bound_printed();

 private:
  WorkerProcess() = default;
  WorkerEnding reap();

  pid_t pid_ = -1;
  Fd events_;
  Fd output_;
  std::string flood_;  // kept when the file was cut
};

// The last `limit` bytes of an open file, from a whole UTF-8 character on; control characters but newline and tab replaced.
std::string file_tail(int fd, std::size_t limit);

}  // namespace hbmark
