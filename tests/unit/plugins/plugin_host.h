// A small host for the unit tests of plugins: loads one, offers the three services, drives cases through the C tables.
//
// Everything throws std::runtime_error with the plugin's status when a call that ought to succeed fails; calls that ought to
// fail go through the tables themselves. One thread.
#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "backends/abi/backend.h"
#include "backends/abi/kernel.h"

namespace hbmark::tests {

class PluginHost {
 public:
  PluginHost();
  PluginHost(const PluginHost&) = delete;
  PluginHost& operator=(const PluginHost&) = delete;
  ~PluginHost();

  const hbmark_host* table() const { return &table_; }
  static PluginHost& of(const hbmark_host* host) { return *static_cast<PluginHost*>(host->context); }

  std::vector<std::string> log;
  bool cancel = false;
  std::uint64_t refuse_above_bytes = UINT64_MAX;  // larger allocations are refused
  std::int64_t live_allocations = 0;
  bool offer_services = true;

 private:
  hbmark_host table_{};
};

hbmark_status empty_status();
// The plugin file of this build ("cpu"), loaded once for the life of the process.
const hbmark_backend* plugin(const std::string& name);

class OpenSession {
 public:
  OpenSession(PluginHost& host, const hbmark_backend* backend, const char* device = "cpu");
  OpenSession(const OpenSession&) = delete;
  OpenSession& operator=(const OpenSession&) = delete;
  ~OpenSession();

  hbmark_session* handle = nullptr;
  const hbmark_backend* backend;
  const hbmark_memory* memory;

  const hbmark_kernel* kernel(const char* id) const;
  hbmark_info describe() const;
  // The code and message of supports().
  hbmark_status supports(const char* id, const void* problem) const;
};

class OpenCase {
 public:
  OpenCase(const OpenSession& session, const char* id, const void* problem);
  OpenCase(const OpenCase&) = delete;
  OpenCase& operator=(const OpenCase&) = delete;
  ~OpenCase();

  std::vector<hbmark_candidate> candidates() const;
  void select(std::uint32_t index);
  std::vector<hbmark_operand> operands() const;
  void bind_all();  // allocates what the operands ask for
  void run(std::uint64_t calls);
  void convert(std::uint64_t calls);
  hbmark_case_info info() const;

  template <class T>
  void write(std::uint32_t operand, const std::vector<T>& values) {
    write_bytes(operand, values.data(), values.size() * sizeof(T));
  }
  template <class T>
  std::vector<T> read(std::uint32_t operand) const {
    std::vector<T> values(operands()[operand].canonical_bytes / sizeof(T));
    read_bytes(operand, values.data(), values.size() * sizeof(T));
    return values;
  }
  hbmark_buffer* buffer(std::uint32_t operand) const { return buffers_.at(operand); }

  hbmark_case* handle = nullptr;
  const hbmark_kernel* kernel;

 private:
  void write_bytes(std::uint32_t operand, const void* data, std::uint64_t bytes);
  void read_bytes(std::uint32_t operand, void* data, std::uint64_t bytes) const;
  void free_buffers();

  const OpenSession& session_;
  std::vector<hbmark_buffer*> buffers_;
};

// Deterministic values in [-1, 1), never 0; multiples of 1/1024, so that short sums are exact in f32.
std::vector<float> random_floats(std::size_t count, std::uint32_t seed);
std::vector<double> random_doubles(std::size_t count, std::uint32_t seed);

}  // namespace hbmark::tests
