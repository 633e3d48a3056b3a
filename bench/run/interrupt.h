// SIGINT, SIGTERM and SIGHUP as something one can wait for, while an InterruptWatch lives. One at a time, from one thread.
// A SIGINT or SIGHUP that was ignored when we came (nohup, a background job) stays ignored. Handlers are put back at the
// end.
#pragma once

#include <array>
#include <csignal>

#include "bench/run/process.h"
#include "results/base/result.h"

namespace hbmark {

class InterruptWatch {
 public:
  static Result<InterruptWatch> start();
  InterruptWatch(InterruptWatch&& other) noexcept;
  InterruptWatch& operator=(InterruptWatch&&) = delete;
  ~InterruptWatch();

  int fd() const { return out_.get(); }  // readable once a signal has come
  int signal() const;                    // the first that came; 0: none

 private:
  static constexpr std::array<int, 3> kSignals = {SIGINT, SIGTERM, SIGHUP};
  InterruptWatch() = default;

  bool installed_ = false;
  std::array<struct sigaction, kSignals.size()> before_{};
  Fd out_, in_;
};

}  // namespace hbmark
