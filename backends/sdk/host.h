// What the host offers, and memory, as plugin code sees them.
//
// Host is a light copyable view; the host outlives every session. Its functions may be called from any thread. A service
// that this host lacks is done without: no log, never cancelled, memory from the C library.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "backends/abi/host.h"
#include "backends/sdk/failure.h"

namespace hbmark::sdk {

// One allocation. A plugin for a device with its own memory derives from it and overrides Session::allocate.
class Buffer {
 public:
  virtual ~Buffer() = default;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;

  void* data() const { return data_; }  // in the plugin's terms; a device pointer when host_address is null
  std::uint64_t size_bytes() const { return size_bytes_; }
  virtual void* host_address() const { return data_; }

  template <class T>
  T* as() const {
    return static_cast<T*>(data_);
  }

 protected:
  Buffer(void* data, std::uint64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

 private:
  void* data_;
  std::uint64_t size_bytes_;
};

class Host {
 public:
  explicit Host(const hbmark_host* host);

  // Text for a person; the only way a plugin may say something.
  void log(std::int32_t level, const std::string& text) const;
  void warn(const std::string& text) const { log(HBMARK_LOG_WARNING, text); }
  bool cancel_requested() const;

  // Placed and first-touched by hbmark.host.memory/1; without that service by aligned_alloc, untouched.
  Expected<std::unique_ptr<Buffer>> allocate(std::uint64_t size_bytes) const;

 private:
  const hbmark_host* host_;
  const hbmark_host_log* log_;
  const hbmark_host_memory* memory_;
  const hbmark_host_cancel* cancel_;
};

}  // namespace hbmark::sdk
