#include "bench/run/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstring>

namespace hbmark {

namespace {

std::atomic<int> first_signal{0};
std::atomic<int> wake_fd{-1};
static_assert(std::atomic<int>::is_always_lock_free, "both are used in a signal handler");

extern "C" void on_interrupt(int number) {
  const int saved = errno;
  int none = 0;
  first_signal.compare_exchange_strong(none, number);
  const char byte = 0;
  // A full pipe is readable already.
  [[maybe_unused]] const ssize_t written = write(wake_fd.load(), &byte, 1);
  errno = saved;
}

}  // namespace

Result<InterruptWatch> InterruptWatch::start() {
  InterruptWatch watch;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC | O_NONBLOCK) != 0) {
    return environment_error("cannot start the run", std::string("pipe: ") + std::strerror(errno),
                             "raise the limit of open files: ulimit -n");
  }
  watch.out_ = Fd(ends[0]);
  watch.in_ = Fd(ends[1]);
  first_signal = 0;
  wake_fd = ends[1];
  struct sigaction action {};
  action.sa_handler = on_interrupt;
  sigemptyset(&action.sa_mask);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &watch.before_[i]);
    if (watch.before_[i].sa_handler == SIG_IGN && kSignals[i] != SIGTERM) continue;
    sigaction(kSignals[i], &action, nullptr);
  }
  watch.installed_ = true;
  return watch;
}

InterruptWatch::InterruptWatch(InterruptWatch&& other) noexcept
    : installed_(std::exchange(other.installed_, false)),
      before_(other.before_),
      out_(std::move(other.out_)),
      in_(std::move(other.in_)) {}

InterruptWatch::~InterruptWatch() {
  if (!installed_) return;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  wake_fd = -1;
}

int InterruptWatch::signal() const { return first_signal.load(); }

}  // namespace hbmark
