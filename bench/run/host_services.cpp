#include "bench/run/host_services.h"

#include <fmt/format.h>
#include <omp.h>

#include <atomic>
#include <cstring>
#include <mutex>
#include <string_view>

#include "bench/run/plugin_calls.h"

namespace hbmark {

namespace {

constexpr std::size_t kKeptLogBytes = 4096;

std::atomic<int> cancel_flag{0};
static_assert(std::atomic<int>::is_always_lock_free, "the flag is set in a signal handler");

struct Services {
  hbmark_host host{};
  hbmark_host_log log{};
  hbmark_host_memory memory{};
  hbmark_host_cancel cancel{};
  int threads = 1;
  std::mutex mutex;  // guards text
  std::string text;
};

// One a process, alive until its end: plugins may log from threads of their own for as long as they please.
Services& services() {
  static auto* all = new Services;
  return *all;
}

void write_log(const hbmark_host*, std::int32_t level, const char* text) {
  if (text == nullptr || level < HBMARK_LOG_INFO) return;
  Services& all = services();
  const std::lock_guard lock(all.mutex);
  if (all.text.size() < kKeptLogBytes) {
    all.text += fmt::format("{}{}\n", level >= HBMARK_LOG_WARNING ? "warning: " : "",
                            std::string_view(text).substr(0, kKeptLogBytes));
  }
}

std::int32_t cancelled(const hbmark_host*) { return cancel_flag.load(std::memory_order_relaxed); }

const void* find_service(const hbmark_host*, const char* id) {
  const std::string_view wanted(id);
  Services& all = services();
  if (wanted == HBMARK_HOST_LOG_V1) return &all.log;
  if (wanted == HBMARK_HOST_MEMORY_V1) return &all.memory;
  if (wanted == HBMARK_HOST_CANCEL_V1) return &all.cancel;
  return nullptr;
}

}  // namespace

}  // namespace hbmark
