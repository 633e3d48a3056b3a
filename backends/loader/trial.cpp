// The trial of a plugin file in a child process; see open_file.h.
#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstring>

#include "backends/loader/open_file.h"

namespace hbmark::loader {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kOutputKept = 200;
constexpr char kGood = '+';
constexpr char kBad = '-';

struct Descriptor {
  int fd = -1;
  Descriptor() = default;
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  ~Descriptor() { close_now(); }
  void close_now() {
    if (fd >= 0) close(fd);
    fd = -1;
  }
};

struct Pipe {
  Descriptor read_end, write_end;
  bool make() {
    int ends[2];
    if (pipe2(ends, O_CLOEXEC) != 0) return false;
    read_end.fd = ends[0];
    write_end.fd = ends[1];
    return true;
  }
};

void write_all(int fd, const std::string& text) {
  std::size_t done = 0;
  while (done < text.size()) {
    const ssize_t wrote = write(fd, text.data() + done, text.size() - done);
    if (wrote < 0 && errno == EINTR) continue;
    if (wrote <= 0) return;
    done += static_cast<std::size_t>(wrote);
  }
}

[[noreturn]] void run_child(const std::filesystem::path& file, int verdict_fd, int output_fd) {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  // Handlers of ours (or of a sanitizer) would turn a crash into an exit.
  for (int number : {SIGSEGV, SIGILL, SIGABRT, SIGBUS, SIGFPE, SIGTERM, SIGINT}) signal(number, SIG_DFL);
  const int nothing = open("/dev/null", O_RDONLY | O_CLOEXEC);
  if (nothing >= 0) dup2(nothing, STDIN_FILENO);
  dup2(output_fd, STDOUT_FILENO);
  dup2(output_fd, STDERR_FILENO);
  const Opened opened = open_plugin(file);
  std::fflush(nullptr);  // what the constructor left in its stdio buffer is chatter too
  write_all(verdict_fd, opened.fault.empty() ? kGood + std::string(opened.table.name) : kBad + opened.fault);
  _exit(0);
}

// Reads both pipes until the child closed them, or patience ends. False: it hangs.
bool listen(Pipe& verdict, Pipe& output, std::chrono::milliseconds patience, std::string& verdict_text,
            std::string& output_text) {
  const auto deadline = Clock::now() + patience;
  std::array<char, 4096> chunk;
  while (verdict.read_end.fd >= 0 || output.read_end.fd >= 0) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
    if (left <= 0) return false;
    std::array<pollfd, 2> ends{{{verdict.read_end.fd, POLLIN, 0}, {output.read_end.fd, POLLIN, 0}}};
    if (poll(ends.data(), ends.size(), static_cast<int>(left)) < 0 && errno != EINTR) return false;
    for (std::size_t i = 0; i < ends.size(); ++i) {
      if (ends[i].fd < 0 || ends[i].revents == 0) continue;
      const ssize_t got = read(ends[i].fd, chunk.data(), chunk.size());
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) {
        (i == 0 ? verdict : output).read_end.close_now();
      } else {
        std::string& text = i == 0 ? verdict_text : output_text;
        if (text.size() < chunk.size()) text.append(chunk.data(), static_cast<std::size_t>(got));
      }
      // The verdict ends the trial even if the plugin left a grandchild that holds the output open.
      if (verdict.read_end.fd < 0 && i == 0 && !verdict_text.empty()) return true;
    }
  }
  return true;
}

std::string printable(std::string text) {
  if (text.size() > kOutputKept) text.resize(kOutputKept);
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (char& c : text) {
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  }
  return text;
}

std::string describe_end(int status) {
  if (WIFSIGNALED(status)) {
    const int number = WTERMSIG(status);
    return fmt::format("loading it dies of signal {} ({}){}", number, strsignal(number),
                       number == SIGILL ? ": it was built for a newer processor, rebuild it here"
                                        : ": a defect of the plugin or its library, report it to the author");
  }
  return fmt::format("loading it ends the process with exit status {}: a defect of the plugin, report it to its author",
                     WEXITSTATUS(status));
}

}  // namespace

Trial try_plugin(const std::filesystem::path& file, std::chrono::milliseconds patience) {
  Pipe verdict, output;
  if (!verdict.make() || !output.make()) {
    return {{}, fmt::format("cannot try it, no pipe: {}; raise `ulimit -n`", std::strerror(errno))};
  }
  std::fflush(nullptr);  // else the child writes our buffers a second time
  const pid_t child = fork();
  if (child < 0) return {{}, fmt::format("cannot try it, no process: {}; raise `ulimit -u`", std::strerror(errno))};
  if (child == 0) run_child(file, verdict.write_end.fd, output.write_end.fd);
  verdict.write_end.close_now();
  output.write_end.close_now();
  std::string verdict_text, output_text;
  const bool in_time = listen(verdict, output, patience, verdict_text, output_text);
  if (!in_time) kill(child, SIGKILL);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  if (!in_time) {
    return {{},
            fmt::format("loading it takes more than {} s: it hangs; report it to its author",
                        std::chrono::duration<double>(patience).count())};
  }
  if (verdict_text.empty()) return {{}, describe_end(status)};
  if (verdict_text.front() != kGood) return {{}, verdict_text.substr(1)};
  if (!output_text.empty()) {
    return {{},
            fmt::format(
                "loading it prints \"{}\", and stdout is for results only: a defect of the plugin, report it to its author",
                printable(output_text))};
  }
  return {verdict_text.substr(1), {}};
}

}  // namespace hbmark::loader
