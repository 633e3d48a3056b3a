#include "bench/run/host_services.h"

#include <fmt/format.h>
#include <omp.h>

#include <atomic>
#include <cstring>
#include <fstream>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "backends/abi/backend.h"
#include "bench/problems/text.h"
#include "bench/run/plugin_calls.h"
#include "topology/placed_memory.h"

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
  HostMemory where;
  std::mutex mutex;  // guards what follows
  std::string text;
  std::map<void*, topology::PlacedMemory> allocations;
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

// Each thread touches what a loop with the same static schedule will give it.
void touch_in_parallel(void* address, std::uint64_t bytes) {
  constexpr std::int64_t kPageBytes = 4096;
  auto* first = static_cast<volatile std::byte*>(address);
  const auto end = static_cast<std::int64_t>(bytes);
#pragma omp parallel for schedule(static) num_threads(services().threads)
  for (std::int64_t offset = 0; offset < end; offset += kPageBytes) first[offset] = std::byte{0};
}

std::int32_t fail_with(hbmark_status* status, std::int32_t code, const std::string& text) {
  status->code = code;
  status->vendor_code = 0;
  status->message[text.copy(status->message, sizeof status->message - 1)] = '\0';
  return code;
}

std::int32_t allocate(const hbmark_host*, std::uint64_t bytes, std::uint64_t alignment, void** address,
                      hbmark_status* status) {
  if (bytes == 0 || alignment < 64 || (alignment & (alignment - 1)) != 0) {
    return fail_with(status, HBMARK_INVALID, fmt::format("{} bytes aligned to {} cannot be allocated", bytes, alignment));
  }
  // Asked first: a mapping is given freely, and the pages it cannot have end the process when they are touched.
  const auto available = available_memory_bytes();
  if (available && bytes > *available) {
    return fail_with(status, HBMARK_OUT_OF_MEMORY,
                     fmt::format("needs {}, has {}", text::bytes_text(bytes), text::bytes_text(*available)));
  }
  auto memory = topology::PlacedMemory::allocate(bytes, alignment, services().where.huge_pages);
  if (!memory) return fail_with(status, HBMARK_OUT_OF_MEMORY, memory.error().what + ": " + memory.error().why);
  *address = memory->address();
  touch_in_parallel(*address, bytes);
  Services& all = services();
  const std::lock_guard lock(all.mutex);
  all.allocations.emplace(*address, std::move(*memory));
  return HBMARK_OK;
}

void release(const hbmark_host*, void* address) {
  Services& all = services();
  const std::lock_guard lock(all.mutex);
  all.allocations.erase(address);
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

const hbmark_host* offer_host_services(int threads, HostMemory memory) {
  Services& all = services();
  all.where = std::move(memory);
  all.threads = threads;
  all.log = {sizeof all.log, 0, write_log};
  all.memory = {sizeof all.memory, 0, allocate, release};
  all.cancel = {sizeof all.cancel, 0, cancelled};
  all.host.struct_size = sizeof all.host;
  all.host.abi_major = HBMARK_ABI_MAJOR;
  all.host.abi_minor = HBMARK_ABI_MINOR;
  all.host.service = find_service;
  omp_set_dynamic(0);
  return &all.host;
}

std::string take_plugin_log() {
  Services& all = services();
  const std::lock_guard lock(all.mutex);
  return std::exchange(all.text, {});
}

void request_cancel() noexcept { cancel_flag.store(1, std::memory_order_relaxed); }
bool cancel_requested() noexcept { return cancel_flag.load(std::memory_order_relaxed) != 0; }

namespace {

std::optional<std::uint64_t> least(std::optional<std::uint64_t> a, std::optional<std::uint64_t> b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

std::optional<std::uint64_t> free_memory_bytes() {
  std::ifstream file("/proc/meminfo");
  std::string name;
  std::uint64_t kib = 0;
  std::string unit;
  while (file >> name >> kib) {
    if (name == "MemAvailable:") return kib * 1024;
    std::getline(file, unit);
  }
  return std::nullopt;
}

}  // namespace

std::optional<std::uint64_t> available_memory_bytes() {
  const HostMemory& where = services().where;
  return least(least(free_memory_bytes(), where.room_bytes), topology::room_for(where.placement));
}

std::vector<topology::ThreadFinding> find_team(int threads) {
  std::vector<topology::ThreadFinding> team(static_cast<std::size_t>(threads));
#pragma omp parallel num_threads(threads)
  {
    const int thread = omp_get_thread_num();
    team[static_cast<std::size_t>(thread)] = topology::find_this_thread(thread);
  }
  return team;
}

}  // namespace hbmark
