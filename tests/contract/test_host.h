// A host for tests: the three services of backends/abi/host.h, counted and made to fail on demand.
//
// Reusable by any test that drives a plugin's tables directly. The services may be called from any thread (as the contract
// says); the rest from the test's own thread.
#pragma once

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "backends/abi/host.h"

namespace hbmark::tests {

class TestHost {
 public:
  TestHost() {
    host_.struct_size = sizeof host_;
    host_.abi_major = 0;
    host_.abi_minor = 1;
    host_.context = this;
    host_.service = find_service;
  }
  ~TestHost() {
    for (const auto& [address, bytes] : live_) std::free(address);
  }
  TestHost(const TestHost&) = delete;
  TestHost& operator=(const TestHost&) = delete;

  const hbmark_host* get() const { return &host_; }

  bool offers_services = true;  // false: a host that has none

  // The nth allocation from now on is refused, once; 0: none is.
  void fail_allocation(std::uint64_t nth) {
    const std::lock_guard lock(mutex_);
    fail_in_ = nth;
    refused_ = 0;
  }
  std::uint64_t refused() const { return refused_; }
  std::uint64_t allocations() const { return allocations_; }
  std::size_t live() const { return live_.size(); }
  const std::vector<std::string>& faults() const { return faults_; }  // what the plugin did wrong with memory
  const std::vector<std::string>& log() const { return log_; }

  std::atomic<bool> cancel{false};
  std::atomic<std::uint64_t> cancel_looks{0};

 private:
  static TestHost& self(const hbmark_host* host) { return *static_cast<TestHost*>(host->context); }

  static const void* find_service(const hbmark_host* host, const char* id) {
    static const hbmark_host_log log = {sizeof(hbmark_host_log), 0, write};
    static const hbmark_host_memory memory = {sizeof(hbmark_host_memory), 0, allocate, release};
    static const hbmark_host_cancel cancel = {sizeof(hbmark_host_cancel), 0, requested};
    if (!self(host).offers_services) return nullptr;
    if (std::strcmp(id, HBMARK_HOST_LOG_V1) == 0) return &log;
    if (std::strcmp(id, HBMARK_HOST_MEMORY_V1) == 0) return &memory;
    if (std::strcmp(id, HBMARK_HOST_CANCEL_V1) == 0) return &cancel;
    return nullptr;
  }

  static void write(const hbmark_host* host, std::int32_t, const char* text) {
    const std::lock_guard lock(self(host).mutex_);
    self(host).log_.emplace_back(text);
  }

  static std::int32_t requested(const hbmark_host* host) {
    ++self(host).cancel_looks;
    return self(host).cancel ? 1 : 0;
  }

  static std::int32_t refuse(hbmark_status* status, const char* why) {
    if (status != nullptr) {
      status->code = HBMARK_OUT_OF_MEMORY;
      status->vendor_code = 0;
      std::strncpy(status->message, why, sizeof status->message - 1);
      status->message[sizeof status->message - 1] = '\0';
    }
    return HBMARK_OUT_OF_MEMORY;
  }

  static std::int32_t allocate(const hbmark_host* host, std::uint64_t bytes, std::uint64_t alignment, void** address,
                               hbmark_status* status) {
    TestHost& me = self(host);
    const std::lock_guard lock(me.mutex_);
    ++me.allocations_;
    if (bytes == 0) me.faults_.emplace_back("asked for 0 bytes");
    if (alignment < 64 || (alignment & (alignment - 1)) != 0) {
      me.faults_.push_back("asked for an alignment of " + std::to_string(alignment));
    }
    if (me.fail_in_ > 0 && --me.fail_in_ == 0) {
      ++me.refused_;
      return refuse(status, "the test host refuses this allocation");
    }
    constexpr std::uint64_t kMost = std::uint64_t{1} << 32;
    if (bytes > kMost) return refuse(status, "the test host has no more than 4 GiB");
    *address = std::aligned_alloc(alignment, (bytes + alignment - 1) / alignment * alignment);
    if (*address == nullptr) return refuse(status, "no memory");
    std::memset(*address, 0xA5, bytes);  // who reads what nobody wrote gets nonsense
    me.live_[*address] = bytes;
    return HBMARK_OK;
  }

  static void release(const hbmark_host* host, void* address) {
    TestHost& me = self(host);
    const std::lock_guard lock(me.mutex_);
    if (me.live_.erase(address) == 0) {
      me.faults_.emplace_back("released what was not allocated, or twice");
      return;
    }
    std::free(address);
  }

  hbmark_host host_{};
  std::mutex mutex_;
  std::map<void*, std::uint64_t> live_;
  std::vector<std::string> faults_, log_;
  std::uint64_t allocations_ = 0, fail_in_ = 0, refused_ = 0;
};

}  // namespace hbmark::tests
