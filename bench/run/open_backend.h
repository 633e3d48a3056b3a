// Backends as a worker uses them: loaded once, each device opened at its first case and kept open.
// One thread. Sessions are closed when Backends is destroyed.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "backends/abi/kernel.h"
#include "backends/loader/loader.h"
#include "bench/run/plan.h"
#include "bench/run/plugin_calls.h"

namespace hbmark {

class OpenBackend {
 public:
  static Step<std::unique_ptr<OpenBackend>> open(const LoadedBackend& backend, const std::string& device,
                                                 const hbmark_host* host);
  OpenBackend(const OpenBackend&) = delete;
  OpenBackend& operator=(const OpenBackend&) = delete;
  ~OpenBackend();

  const hbmark_kernel* kernel(const std::string& capability) const;  // null: the plugin lacks it
  hbmark_session* session() const { return session_; }
  const hbmark_memory& memory() const { return *memory_; }
  const hbmark_timer* timer() const { return timer_; }  // null: the host's clock is used
  const std::string& name() const { return name_; }
  const std::string& device() const { return device_; }
  const std::string& library() const { return library_; }  // "oneDNN 2.6.3"; empty: its own loops
  const std::string& isa() const { return isa_; }
  const std::string& warning() const { return warning_; }

 private:
  OpenBackend() = default;
  Step<void> find_capabilities();
  void describe();

  const hbmark_backend* table_ = nullptr;
  hbmark_session* session_ = nullptr;
  const hbmark_memory* memory_ = nullptr;
  const hbmark_timer* timer_ = nullptr;
  std::string name_, device_, library_, isa_, warning_;
};

class Backends {
 public:
  // Looks no further than the plan's files while they have every backend that the cases need.
  Backends(const Plan& plan, const std::filesystem::path& program, const hbmark_host* host);
  // Opens it when it is not open. `newly_opened` tells of that.
  Step<OpenBackend*> get(const std::string& name, const std::string& device, bool& newly_opened);

 private:
  LoadReport loaded_;
  const hbmark_host* host_;
  std::vector<std::unique_ptr<OpenBackend>> open_;
};

}  // namespace hbmark
