#include "results/store/errors.h"

#include <fmt/format.h>
#include <sqlite3.h>

#include <cerrno>
#include <system_error>

#include "results/base/input_file.h"

namespace hbmark::store {
namespace {

std::string folder_of(const std::filesystem::path& file) { return file.parent_path().string(); }

Error no_room(std::string what, const Location& where, const std::string& why) {
  return {ErrorKind::kEnvironment, std::move(what), why,
          fmt::format("make room in {}; what was saved before is kept", folder_of(where.file))};
}

// SQLite keeps the errno of most failed calls, but not of those in a commit: there errno itself still has it, which is
// believed only where it is a reason to fail a write (it may as well be left from a probe for an absent file).
int system_reason(int code, sqlite3* database, int raw) {
  if (code != SQLITE_IOERR && code != SQLITE_CANTOPEN) return 0;
  const int kept = database != nullptr ? sqlite3_system_errno(database) : 0;
  if (kept != 0) return kept;
  return raw == ENOSPC || raw == EDQUOT || raw == EFBIG || raw == EIO ? raw : 0;
}

std::string locked_why(const Location& where) {
  return fmt::format("another process has kept it locked for {:.3g} s",
                     static_cast<double>(where.busy_timeout.count()) / 1000.0);
}

}  // namespace

Error explain_errno(std::string what, const std::filesystem::path& file, int number) {
  const std::string why = std::generic_category().message(number);
  const std::string folder = folder_of(file);
  std::string next;
  switch (number) {
    case EACCES:
    case EPERM:
      next = fmt::format("give yourself the right to {} and to the folder {}, or name another file with --db", file.string(),
                         folder);
      break;
    case EROFS:
      next = "name a file on a writable file system with --db";
      break;
    case ENOENT:
      next = fmt::format("make the folder first (mkdir -p '{}'), or name another file with --db", folder);
      break;
    case ENOTDIR:
      next = fmt::format("a part of {} is a file, not a folder: name another file with --db", folder);
      break;
    case EMFILE:
    case ENFILE:
    case ENOMEM:
      next = after_errno(number);
      break;
    default:
      next = "look at the path and the disk (ls -la, df -h), or name another file with --db";
  }
  return {ErrorKind::kEnvironment, std::move(what), why, std::move(next)};
}

Error damaged_file(std::string what, const Location& where, const std::string& detail) {
  return {
      ErrorKind::kEnvironment, std::move(what), fmt::format("the file is damaged or cut short ({})", detail),
      fmt::format(
          "it was left as it is: restore a copy, or save what is readable with: sqlite3 '{}' .recover | sqlite3 saved.db",
          where.file.string())};
}

Error foreign_file(std::string what, const Identity& identity) {
  const std::string whose = identity.application_id == 0
                                ? std::string("no application id")
                                : fmt::format("application id {:#010x}", static_cast<unsigned>(identity.application_id));
  return {ErrorKind::kEnvironment, std::move(what),
          fmt::format("it is a SQLite database of another program ({}, ours is {:#010x})", whose, kApplicationId),
          "it was left as it is: name a file of hbmark's, or a new one, with --db"};
}

Error newer_file(std::string what, const Identity& identity, const Location& where) {
  return {ErrorKind::kEnvironment, std::move(what),
          fmt::format("a newer hbmark wrote it (schema {}, this hbmark knows up to {})", identity.version,
                      where.steps.empty() ? 0 : where.steps.back().version),
          "it was left as it is: use the newer hbmark, or name another file with --db"};
}

Error explain(std::string what, const Location& where, const SQLite::Exception& error, sqlite3* database) {
  const int raw = errno;  // before anything here can change it
  const int code = error.getErrorCode() & 0xff;
  const int system_code = system_reason(code, database, raw);
  const std::string said = fmt::format("{} (SQLite {})", error.what(), error.getExtendedErrorCode());
  const auto environment = [&](std::string why, std::string next) {
    return Error{ErrorKind::kEnvironment, what, std::move(why), std::move(next)};
  };
  if (code == SQLITE_FULL) return no_room(what, where, "the disk is full");
  if (code == SQLITE_IOERR || code == SQLITE_CANTOPEN) {
    if (system_code == ENOSPC) return no_room(what, where, "the disk is full");
    if (system_code == EDQUOT) return no_room(what, where, "your disk quota is used up");
    if (system_code == EFBIG)
      return no_room(what, where, "the file would grow past the size limit of this process (ulimit -f) or file system");
  }
  switch (code) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
      return {
          ErrorKind::kBusy, what, locked_why(where),
          fmt::format("wait for it to end (fuser '{}' names it), or write to another file with --db", where.file.string())};
    case SQLITE_READONLY:
    case SQLITE_PERM:
      return environment(fmt::format("it cannot be written: {}", said),
                         fmt::format("give yourself the right to write {} and its folder, or name another file with --db",
                                     where.file.string()));
    case SQLITE_NOTADB:
      return environment("it is not a SQLite database, or its first bytes are damaged",
                         "it was left as it is: name a file of hbmark's, or a new one, with --db");
    case SQLITE_CORRUPT:
      return damaged_file(what, where, said);
    case SQLITE_CANTOPEN:
      if (system_code != 0) return explain_errno(what, where.file, system_code);
      return environment(said, fmt::format("look whether you may write in {} (ls -ld), or name another file with --db",
                                           folder_of(where.file)));
    case SQLITE_IOERR:
      return environment(
          system_code != 0 ? fmt::format("{}: {}", said, std::generic_category().message(system_code)) : said,
          fmt::format("look at the disk below {} (df -h, dmesg); what was saved before is kept", folder_of(where.file)));
    case SQLITE_NOMEM:
      return environment("no memory is left", "end other programs, or give the job or this shell more memory (ulimit -v)");
    default:
      return {ErrorKind::kInternal, what, said, ""};
  }
}

}  // namespace hbmark::store
