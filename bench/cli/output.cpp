#include "bench/cli/output.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <filesystem>
#include <system_error>

#include "results/base/input_file.h"

namespace hbmark::cli {
namespace {

bool is_stdout(const std::string& place) { return place.empty() || place == "-"; }

std::string errno_text(int code) { return std::generic_category().message(code); }

tl::unexpected<Error> cannot_write(const std::string& place, int code) {
  const std::string what = fmt::format("cannot write {}", is_stdout(place) ? "to stdout" : place);
  std::string next = "give a file in a folder you may write to: --output results.txt";
  if (code == ENOSPC || code == EDQUOT) next = "free some space, or give a file on another disk: --output FILE";
  if (code == EPIPE) next = "its reader has gone; nothing that is in the store is lost, and --output FILE needs no reader";
  if (code == EFBIG) next = "raise the size limit of files (ulimit -f unlimited), or give a shorter format";
  if (code == EMFILE || code == ENFILE) next = after_errno(code);
  if (code == EBADF) next = "it is closed, or not open for writing: leave it open, or give --output FILE";
  if (code == EISDIR) next = "give a file's name, not a folder's: --output results.txt";
  return environment_error(what, errno_text(code), std::move(next));
}

// rwx bits for a file that replaces `place`.
mode_t rights_for(const std::string& place) {
  struct stat old {};
  if (stat(place.c_str(), &old) == 0) return old.st_mode & 07777U;
  const mode_t mask = umask(0);
  umask(mask);
  return 0666U & ~mask;
}

// Does the name stand for something that a rename would replace by mistake?
bool is_special(const std::string& place) {
  struct stat status {};
  return stat(place.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
}

// A link stays a link: the file behind it is replaced.
std::string behind_links(const std::string& place) {
  std::error_code ignored;
  const auto target = std::filesystem::canonical(place, ignored);
  return ignored ? place : target.string();
}

// A store must not be replaced by a table because a name was given twice: every SQLite file begins with these bytes
// (https://www.sqlite.org/fileformat.html, 1.3.1).
bool is_database(const std::string& place) {
  constexpr std::string_view kMagic("SQLite format 3\0", 16);
  const int descriptor = open(place.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
  if (descriptor < 0) return false;
  std::array<char, kMagic.size()> head{};
  const ssize_t got = read(descriptor, head.data(), head.size());
  close(descriptor);
  return got == static_cast<ssize_t>(head.size()) && std::string_view(head.data(), head.size()) == kMagic;
}

// SQLite keeps what was committed last beside the file until it is closed (https://www.sqlite.org/tempfiles.html).
bool belongs_to_database(const std::string& place) {
  constexpr std::array<std::string_view, 3> kBeside = {"-wal", "-shm", "-journal"};
  return std::any_of(kBeside.begin(), kBeside.end(), [&](std::string_view suffix) {
    return place.ends_with(suffix) && is_database(place.substr(0, place.size() - suffix.size()));
  });
}

// Of the name as it was given and of the file behind its links.
bool would_lose_a_store(const std::string& place) {
  return is_database(place) || belongs_to_database(place) || belongs_to_database(behind_links(place));
}

tl::unexpected<Error> is_a_store(const std::string& place) {
  return usage_error("cannot write " + place, "it is a database or belongs to one, and what is stored there would be lost",
                     "give another file for the results (--output), and the store with --db");
}

int write_special(const std::string& place, std::string_view text) {
  const int descriptor = open(place.c_str(), O_WRONLY | O_CLOEXEC | O_NOCTTY);
  if (descriptor < 0) return errno;
  int code = write_all(descriptor, text);
  if (close(descriptor) != 0 && code == 0) code = errno;
  return code;
}

int write_renamed(const std::string& place, std::string_view text) {
  std::string temporary = place + ".XXXXXX";
  const mode_t rights = rights_for(place);
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return errno;
  int code = write_all(descriptor, text);
  if (code == 0 && (fchmod(descriptor, rights) != 0 || fsync(descriptor) != 0)) code = errno;
  if (close(descriptor) != 0 && code == 0) code = errno;
  if (code == 0 && rename(temporary.c_str(), place.c_str()) != 0) code = errno;
  if (code != 0) unlink(temporary.c_str());
  return code;
}

}  // namespace

int write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void occupy_closed_stdio() {
  for (const int descriptor : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(descriptor, F_GETFD) >= 0) continue;
    // The lowest free number is given out: those below are taken by now.
    [[maybe_unused]] const int taken = open("/dev/null", descriptor == STDIN_FILENO ? O_WRONLY : O_RDONLY);
  }
}

Status check_output(const std::string& place) {
  if (is_stdout(place)) {
    const int flags = fcntl(STDOUT_FILENO, F_GETFL);
    if (flags < 0) return cannot_write(place, errno);
    if ((flags & O_ACCMODE) == O_RDONLY) return cannot_write(place, EBADF);
    return {};
  }
  struct stat status {};
  if (stat(place.c_str(), &status) == 0 && S_ISDIR(status.st_mode)) return cannot_write(place, EISDIR);
  if (!is_special(place) && would_lose_a_store(place)) return is_a_store(place);
  if (is_special(place)) {
    if (access(place.c_str(), W_OK) != 0) return cannot_write(place, errno);
    return {};
  }
  // A file beside it is what write_output makes first: rights alone do not tell (a name too long, a read-only disk, no
  // inode, a folder that is a file).
  std::string temporary = behind_links(place) + ".XXXXXX";
  const int descriptor = mkostemp(temporary.data(), O_CLOEXEC);
  if (descriptor < 0) return cannot_write(place, errno);
  close(descriptor);
  unlink(temporary.c_str());
  return {};
}

Status write_output(const std::string& place, std::string_view text) {
  int code = 0;
  if (is_stdout(place)) {
    code = write_all(STDOUT_FILENO, text);
  } else if (is_special(place)) {
    code = write_special(place, text);
  } else if (std::filesystem::is_directory(place)) {
    code = EISDIR;
  } else if (would_lose_a_store(place)) {
    return is_a_store(place);
  } else {
    code = write_renamed(behind_links(place), text);
  }
  if (code != 0) return cannot_write(place, code);
  return {};
}

}  // namespace hbmark::cli
