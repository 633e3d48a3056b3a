#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstring>
#include <nlohmann/json.hpp>

#include "backends/abi/host.h"
#include "bench/kernels/kernel.h"
#include "bench/run/planner.h"

namespace hbmark {

namespace {

using nlohmann::json;
using Clock = std::chrono::steady_clock;

const void* no_service(const hbmark_host*, const char*) { return nullptr; }

// Asks the plugin; runs in the child.
json probe(const hbmark_backend& table) {
  hbmark_host host{};
  host.struct_size = sizeof host;
  host.abi_major = HBMARK_ABI_MAJOR;
  host.abi_minor = HBMARK_ABI_MINOR;
  host.service = no_service;
  std::array<hbmark_device, 64> devices{};
  for (hbmark_device& device : devices) device.struct_size = sizeof device;
  hbmark_status status{};
  status.struct_size = sizeof status;
  std::uint32_t count = 0;
  const std::int32_t code = table.probe(&host, devices.data(), devices.size(), &count, &status);
  json answer = {{"devices", json::array()}, {"unavailable", ""}};
  if (code != HBMARK_OK) {
    status.message[sizeof status.message - 1] = '\0';
    answer["unavailable"] = status.message[0] != '\0' ? status.message : "the plugin gave no reason";
    return answer;
  }
  for (std::size_t i = 0; i < std::min<std::size_t>(count, devices.size()); ++i) {
    devices[i].id[sizeof devices[i].id - 1] = '\0';
    devices[i].name[sizeof devices[i].name - 1] = '\0';
    answer["devices"].push_back({{"id", devices[i].id}, {"name", devices[i].name}});
  }
  if (count == 0) answer["unavailable"] = "the plugin found no device and gave no reason";
  return answer;
}

[[noreturn]] void probe_in_child(const hbmark_backend& table, int answer_fd) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) dup2(nowhere, fd);
  const std::string text = probe(table).dump(-1, ' ', false, json::error_handler_t::replace);
  // The answer is far below the pipe's capacity (64 KiB): one write takes it whole.
  const ssize_t written = write(answer_fd, text.data(), text.size());
  _exit(written == static_cast<ssize_t>(text.size()) ? 0 : 1);
}

// Everything until the child closes the pipe, or nullopt at the deadline.
std::optional<std::string> read_until(int fd, Clock::time_point deadline) {
  std::string text;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return std::nullopt;
    pollfd waited{fd, POLLIN, 0};
    const int ready = poll(&waited, 1, static_cast<int>(left));
    if (ready < 0 && errno == EINTR) continue;
    if (ready <= 0) return std::nullopt;
    std::array<char, 4096> piece{};
    const ssize_t got = read(fd, piece.data(), piece.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
}

int reap(pid_t child) {
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  return status;
}

void understand(const std::string& text, int status, BackendFacts& facts) {
  if (WIFSIGNALED(status)) {
    facts.unavailable = fmt::format("the plugin crashed (SIG{}) when asked for its devices", sigabbrev_np(WTERMSIG(status)));
    return;
  }
  try {
    const json answer = json::parse(text);
    for (const json& device : answer.at("devices")) {
      facts.devices.push_back({device.at("id").get<std::string>(), device.at("name").get<std::string>()});
    }
    answer.at("unavailable").get_to(facts.unavailable);
  } catch (const json::exception&) {
    facts.unavailable =
        fmt::format("the plugin ended the process with exit code {} when asked for its devices", WEXITSTATUS(status));
  }
}

void ask_for_devices(const hbmark_backend& table, double timeout_s, BackendFacts& facts) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    facts.unavailable = fmt::format("could not ask it for devices: pipe: {}", std::strerror(errno));
    return;
  }
  const pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    probe_in_child(table, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    facts.unavailable = fmt::format("could not ask it for devices: fork: {}", std::strerror(errno));
    close(ends[0]);
    return;
  }
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s));
  const auto text = read_until(ends[0], deadline);
  close(ends[0]);
  if (!text) kill(child, SIGKILL);
  const int status = reap(child);
  if (text) {
    understand(*text, status, facts);
  } else {
    facts.unavailable = fmt::format("the plugin did not answer within {} s when asked for its devices", timeout_s);
  }
}

}  // namespace

std::vector<BackendFacts> inspect_backends(const LoadReport& loaded, double timeout_s) {
  std::vector<BackendFacts> all;
  for (const LoadedBackend& backend : loaded.backends) {
    BackendFacts facts;
    facts.name = backend.name;
    facts.version = backend.version;
    for (const KernelSpec* kernel : kernels()) {
      const std::string id(kernel->capability);
      if (backend.table->capability(id.c_str()) != nullptr) facts.capabilities.push_back(id);
    }
    ask_for_devices(*backend.table, timeout_s, facts);
    all.push_back(std::move(facts));
  }
  return all;
}

}  // namespace hbmark
