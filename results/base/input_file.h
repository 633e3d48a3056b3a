// Opening and reading the files users name: whole, bounded, and only what is a file.
//
// A pipe, a device or a socket is refused before it is read, for it may never come to an end; standard input is for the
// commands that say they take it. The file is judged after it was opened, so that it cannot be another one meanwhile.
// Header-only, thread-safe, owns nothing. Errors (usage): no such file, a folder, no regular file, larger than the bound;
// (environment): no right to it, the disk, the limit of open files.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <filesystem>
#include <string>
#include <system_error>
#include <utility>

#include "results/base/result.h"

namespace hbmark {

// What stands in the way of files of this file type; empty when nothing does.
inline std::string not_a_file(mode_t mode) {
  if (S_ISREG(mode)) return "";
  if (S_ISDIR(mode)) return "it is a folder";
  if (S_ISFIFO(mode)) return "it is a pipe, not a file";
  if (S_ISSOCK(mode)) return "it is a socket, not a file";
  return "it is a device, not a file";
}

// What to do about an errno of open(2) or read(2).
inline std::string after_errno(int number) {
  switch (number) {
    case EACCES:
    case EPERM:
      return "make it and its folder readable for you, or run as its owner";
    case EMFILE:
      return "raise the limit of open files of this shell (ulimit -n 1024) and try again";
    case ENFILE:
      return "the whole system is out of open files: end other programs, or raise fs.file-max";
    case ENOMEM:
      return "raise the limit of this shell's memory (ulimit -v unlimited), or end other programs";
    case ENOTDIR:
    case ENAMETOOLONG:
    case ELOOP:
      return "check the path; it is taken from the folder you are in";
    default:
      return "check the path and the disk it is on";
  }
}

// Owns an open descriptor for the length of a call.
class InputDescriptor {
 public:
  explicit InputDescriptor(int fd) : fd_(fd) {}
  InputDescriptor(const InputDescriptor&) = delete;
  InputDescriptor& operator=(const InputDescriptor&) = delete;
  ~InputDescriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  int get() const { return fd_; }

 private:
  int fd_;
};

// Everything `descriptor` gives, at most `most_bytes` of it (a multiple of 1 MiB).
inline Result<std::string> read_descriptor(int descriptor, const std::string& what, std::size_t most_bytes) {
  std::string text;
  std::array<char, std::size_t{1} << 14> block;  // of the stack, which may be small (ulimit -s)
  for (;;) {
    const ssize_t got = ::read(descriptor, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) {
      const int number = errno;
      return environment_error(what, std::generic_category().message(number), after_errno(number));
    }
    if (got == 0) return text;
    text.append(block.data(), static_cast<std::size_t>(got));
    if (text.size() > most_bytes) {
      return usage_error(what, "it is larger than " + std::to_string(most_bytes >> 20U) + " MiB",
                         "split it, or check that it is the right file");
    }
  }
}

// `what` is what could not be done without it: "cannot read the suite mine.toml". `instead` is what to give where it is no
// file; it may be left empty.
inline Result<std::string> read_input_file(const std::filesystem::path& file, const std::string& what,
                                           std::size_t most_bytes, const std::string& instead = "") {
  // Without O_NONBLOCK the open of a pipe waits for its writer.
  const InputDescriptor opened(::open(file.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  const int number = opened.get() < 0 ? errno : 0;
  if (number == ENOENT) {
    return usage_error(what, "there is no such file", "check the path; it is taken from the folder you are in");
  }
  struct stat facts {};
  // A socket cannot be opened (ENXIO): what it is says more than that.
  const bool known = number == 0 ? ::fstat(opened.get(), &facts) == 0 : ::stat(file.c_str(), &facts) == 0;
  if (const std::string odd = known ? not_a_file(facts.st_mode) : ""; !odd.empty()) {
    return usage_error(what, odd,
                       !instead.empty()         ? instead
                       : S_ISDIR(facts.st_mode) ? "name a file in it"
                                                : "write what it gives into a file first, and name that");
  }
  if (number == ENOTDIR || number == ENAMETOOLONG || number == ELOOP) {
    return usage_error(what, std::generic_category().message(number), after_errno(number));
  }
  if (number != 0) return environment_error(what, std::generic_category().message(number), after_errno(number));
  return read_descriptor(opened.get(), what, most_bytes);
}

}  // namespace hbmark
