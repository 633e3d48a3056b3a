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
#include <functional>
#include <nlohmann/json.hpp>

#include "backends/abi/host.h"
#include "bench/kernels/kernel.h"
#include "bench/run/open_backend.h"
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

// Opens the plugin's first device and asks what it has to say; runs in the child.
json describe(const LoadedBackend& backend, const std::string& device) {
  hbmark_host host{};
  host.struct_size = sizeof host;
  host.abi_major = HBMARK_ABI_MAJOR;
  host.abi_minor = HBMARK_ABI_MINOR;
  host.service = no_service;
  const auto opened = OpenBackend::open(backend, device, &host);
  if (!opened) return {{"library", ""}, {"isa", ""}, {"warning", opened.error().reason}};
  return {{"library", (*opened)->library()}, {"isa", (*opened)->isa()}, {"warning", (*opened)->warning()}};
}

[[noreturn]] void answer_in_child(const std::function<json()>& question, int answer_fd) {
  const int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
  for (int fd = 0; fd <= 2; ++fd) dup2(nowhere, fd);
  const std::string text = question().dump(-1, ' ', false, json::error_handler_t::replace);
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

// What the child answered, or why it did not: `purpose` ends that sentence.
Result<json> ask(const std::function<json()>& question, double timeout_s, const std::string& purpose) {
  const auto no_answer = [](const std::string& why) { return environment_error("the plugin gave no answer", why, ""); };
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return no_answer(fmt::format("could not ask it {}: pipe: {}", purpose, std::strerror(errno)));
  }
  const pid_t child = fork();
  const int fork_errno = errno;
  if (child == 0) {
    close(ends[0]);
    answer_in_child(question, ends[1]);
  }
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    return no_answer(fmt::format("could not ask it {}: fork: {}", purpose, std::strerror(fork_errno)));
  }
  const auto deadline = Clock::now() + std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(timeout_s));
  const auto text = read_until(ends[0], deadline);
  close(ends[0]);
  if (!text) kill(child, SIGKILL);
  const int status = reap(child);
  if (!text) return no_answer(fmt::format("the plugin did not answer within {} s when asked {}", timeout_s, purpose));
  if (WIFSIGNALED(status)) {
    return no_answer(fmt::format("the plugin crashed (SIG{}) when asked {}", sigabbrev_np(WTERMSIG(status)), purpose));
  }
  json answer = json::parse(*text, nullptr, false);
  if (!answer.is_object()) {
    return no_answer(
        fmt::format("the plugin ended the process with exit code {} when asked {}", WEXITSTATUS(status), purpose));
  }
  return answer;
}

void ask_for_devices(const hbmark_backend& table, double timeout_s, BackendFacts& facts) {
  const auto answer = ask([&] { return probe(table); }, timeout_s, "for its devices");
  if (!answer) {
    facts.unavailable = answer.error().why;
    return;
  }
  for (const json& device : answer->at("devices")) {
    facts.devices.push_back({device.at("id").get<std::string>(), device.at("name").get<std::string>()});
  }
  answer->at("unavailable").get_to(facts.unavailable);
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

void describe_backends(const LoadReport& loaded, std::vector<BackendFacts>& facts, double timeout_s) {
  for (std::size_t i = 0; i < std::min(facts.size(), loaded.backends.size()); ++i) {
    BackendFacts& each = facts[i];
    if (each.devices.empty()) continue;
    const auto answer =
        ask([&] { return describe(loaded.backends[i], each.devices.front().id); }, timeout_s, "to describe itself");
    if (!answer) {
      each.warning = answer.error().why;
      continue;
    }
    answer->at("library").get_to(each.library);
    answer->at("isa").get_to(each.isa);
    answer->at("warning").get_to(each.warning);
  }
}

}  // namespace hbmark
