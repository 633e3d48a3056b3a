#include "results/store/file.h"

#include <SQLiteCpp/Statement.h>
#include <fcntl.h>
#include <fmt/format.h>
#include <sqlite3.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <system_error>
#include <thread>

#include "results/store/copy.h"

namespace hbmark::store {
namespace {

// Above this a full check of the pages would delay a run's start; damage is then found when a page is used.
constexpr std::int64_t kCheckUpToBytes = 32LL << 20;

std::filesystem::path beside(const std::filesystem::path& file, const char* suffix) {
  std::filesystem::path other = file;
  return other += suffix;
}

FileStamp stamp_file(const std::filesystem::path& file) {
  struct stat status {};
  if (::stat(file.c_str(), &status) != 0) return {};
  const auto ns = [](const timespec& time) { return time.tv_sec * 1'000'000'000LL + time.tv_nsec; };
  return {true, status.st_dev, status.st_ino, status.st_size, ns(status.st_mtim), ns(status.st_ctim)};
}

bool has_content(const FileStamp& stamp) { return stamp.exists && stamp.size_bytes > 0; }

// SQLite percent-decodes a URI and splits it at ? and #; everything but the plainest bytes is encoded.
std::string uri(const std::filesystem::path& file, std::string_view query) {
  std::string text = "file:";
  for (const char c : file.string()) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '/' || c == '.' ||
                       c == '_' || c == '-';
    text += plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return text + "?" + std::string(query);
}

std::unique_ptr<SQLite::Database> connect(const std::string& name, int flags, const Location& where) {
  auto database = std::make_unique<SQLite::Database>(name, flags, static_cast<int>(where.busy_timeout.count()));
  sqlite3_extended_result_codes(database->getHandle(), 1);
  // A file may come from anywhere: its views and triggers get no functions with side effects.
  database->exec("PRAGMA trusted_schema=OFF");
  return database;
}

std::unique_ptr<SQLite::Database> connect_immutable(const std::filesystem::path& file, const Location& where) {
  auto database = connect(uri(file, "mode=ro&immutable=1"), SQLite::OPEN_READONLY | SQLite::OPEN_URI, where);
  read_identity(*database);  // a file that SQLite cannot read shows here, not at the first question
  return database;
}

std::unique_ptr<SQLite::Database> connect_through_copy(const Location& where) {
  const PrivateCopy copy(where.file);
  // Recovers the log into the copy; only its memory is used after this function, the unlinked file stays readable.
  {
    auto recovered = connect(copy.file().string(), SQLite::OPEN_READWRITE, where);
    recovered->exec("PRAGMA journal_mode=DELETE");
  }
  return connect_immutable(copy.file(), where);
}

std::unique_ptr<SQLite::Database> connect_to_read(const Location& where, Connection& connection) {
  connection.stamp = stamp_of(where.file);
  const bool has_wal = has_content(connection.stamp[1]);
  const bool has_journal = has_content(connection.stamp[2]);
  connection.snapshot = true;
  if (!has_wal && !has_journal) return connect_immutable(where.file, where);
  const bool has_index = stamp_file(beside(where.file, "-shm")).exists;
  if (has_index || !has_wal) {
    try {
      auto database = connect(uri(where.file, "mode=ro"), SQLite::OPEN_READONLY | SQLite::OPEN_URI, where);
      read_identity(*database);
      connection.snapshot = false;
      return database;
    } catch (const SQLite::Exception& error) {
      // A log or journal of a dead process that this one may not recover in place; anything else is what it is.
      const int code = error.getErrorCode() & 0xff;
      if (code != SQLITE_CANTOPEN && code != SQLITE_READONLY) throw;
    }
  }
  return connect_through_copy(where);
}

// Older files are read through a migrated copy in memory: reading never alters.
void migrate_in_memory(Connection& connection, const Location& where) {
  auto memory = connect(":memory:", SQLite::OPEN_READWRITE, where);
  sqlite3_backup* backup = sqlite3_backup_init(memory->getHandle(), "main", connection.database->getHandle(), "main");
  if (backup == nullptr) throw SQLite::Exception(memory->getHandle());
  sqlite3_backup_step(backup, -1);
  const int code = sqlite3_backup_finish(backup);
  if (code != SQLITE_OK) throw SQLite::Exception(memory->getHandle(), code);
  migrate(*memory, where.steps);
  connection.database = std::move(memory);
  connection.snapshot = true;
}

// SQLite fills a short last page with zeros and takes one byte for nothing; only an interrupted checkpoint, which leaves its
// log, makes such a file.
Status check_size(const Connection& connection, const Location& where) {
  if (has_content(connection.stamp[1]) || has_content(connection.stamp[2])) return {};
  const std::int64_t size_bytes = connection.stamp[0].size_bytes;
  if (size_bytes % pragma_int(*connection.database, "page_size") == 0) return {};
  return tl::make_unexpected(
      damaged_file(open_failed(where), where, fmt::format("{} bytes are no whole number of pages", size_bytes)));
}

enum class Content { kNothingYet, kOurs };

Result<Content> check_identity(SQLite::Database& database, const Location& where) {
  const Identity identity = read_identity(database);
  const int latest = where.steps.empty() ? 0 : where.steps.back().version;
  if (identity.application_id == 0 && identity.version == 0 && !identity.has_objects) return Content::kNothingYet;
  if (identity.application_id != kApplicationId) return tl::make_unexpected(foreign_file(open_failed(where), identity));
  if (identity.version > latest) return tl::make_unexpected(newer_file(open_failed(where), identity, where));
  if (identity.version < 1)
    return tl::make_unexpected(damaged_file(open_failed(where), where, fmt::format("schema version {}", identity.version)));
  return Content::kOurs;
}

Status check_pages(SQLite::Database& database, const Location& where) {
  SQLite::Statement query(database, "PRAGMA quick_check(1)");
  const std::string verdict = query.executeStep() ? query.getColumn(0).getString() : "no answer";
  if (verdict == "ok") return {};
  return tl::make_unexpected(damaged_file(open_failed(where), where, verdict));
}

// What can be told without SQLite, which would wait for ever on a pipe. The file itself is never opened here: closing it
// would drop the POSIX locks of every other connection of this process (https://www.sqlite.org/howtocorrupt.html, 2.2).
Status check_file(const Location& where, int access_mode) {
  struct stat status {};
  if (::stat(where.file.c_str(), &status) != 0)
    return tl::make_unexpected(explain_errno(open_failed(where), where.file, errno));
  if (S_ISDIR(status.st_mode)) {
    return environment_error(open_failed(where), "it is a directory",
                             fmt::format("name a file, for example --db '{}/results.db'", where.file.string()));
  }
  if (!S_ISREG(status.st_mode)) {
    return environment_error(open_failed(where), "it is a device, a pipe or a socket, not a file", "name a file with --db");
  }
  if (::faccessat(AT_FDCWD, where.file.c_str(), access_mode, AT_EACCESS) != 0) {
    return tl::make_unexpected(explain_errno(open_failed(where), where.file, errno));
  }
  return {};
}

Status check_folder(const Location& where) {
  const std::filesystem::path folder = where.file.parent_path();
  std::error_code ignored;
  if (std::filesystem::exists(folder, ignored) && !std::filesystem::is_directory(folder, ignored)) {
    return tl::make_unexpected(explain_errno(open_failed(where), where.file, ENOTDIR));
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0) return {};
  Error error = explain_errno(open_failed(where), where.file, errno);
  error.why = fmt::format("the folder {}: {}", folder.string(), error.why);
  return tl::make_unexpected(std::move(error));
}

// Switching needs the file for itself for a moment, and SQLite does not call the busy handler for it.
void set_wal(SQLite::Database& database, const Location& where) {
  const auto end = std::chrono::steady_clock::now() + where.busy_timeout;
  for (;;) {
    try {
      // Where the file system cannot do it the answer is another mode, and the rollback journal serves.
      SQLite::Statement(database, "PRAGMA journal_mode=WAL").executeStep();
      return;
    } catch (const SQLite::Exception& error) {
      if ((error.getErrorCode() & 0xff) != SQLITE_BUSY || std::chrono::steady_clock::now() >= end) throw;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

// Looks without touching: foreign, newer and damaged files are found before SQLite may write a byte.
Status probe(const Location& where) {
  Connection look;
  try {
    look.database = connect_to_read(where, look);
    if (Status status = check_size(look, where); !status) return status;
    const auto content = check_identity(*look.database, where);
    if (!content) return tl::make_unexpected(content.error());
    if (look.stamp[0].size_bytes <= kCheckUpToBytes) return check_pages(*look.database, where);
  } catch (const SQLite::Exception& error) {
    return tl::make_unexpected(
        explain(open_failed(where), where, error, look.database ? look.database->getHandle() : nullptr));
  } catch (const std::filesystem::filesystem_error& error) {
    return tl::make_unexpected(
        explain_errno(open_failed(where), error.path2().empty() ? where.file : error.path2(), error.code().value()));
  }
  return {};
}

}  // namespace

StoreStamp stamp_of(const std::filesystem::path& file) {
  return {stamp_file(file), stamp_file(beside(file, "-wal")), stamp_file(beside(file, "-journal"))};
}

std::string open_failed(const Location& where) { return fmt::format("cannot open the store {}", where.file.string()); }

Result<Connection> connect_for_reading(const Location& where) {
  if (::access(where.file.c_str(), F_OK) != 0 && errno == ENOENT) {
    return environment_error(open_failed(where), "there is no such file",
                             "measure something first (hbmark run), or name another file with --db");
  }
  if (const Status status = check_file(where, R_OK); !status) return tl::make_unexpected(status.error());
  Connection connection;
  try {
    connection.database = connect_to_read(where, connection);
    if (const Status status = check_size(connection, where); !status) return tl::make_unexpected(status.error());
    const auto content = check_identity(*connection.database, where);
    if (!content) return tl::make_unexpected(content.error());
    if (*content == Content::kNothingYet) {
      return environment_error(open_failed(where), "it is empty: nothing was ever saved in it",
                               "measure something first (hbmark run), or name another file with --db");
    }
    if (read_identity(*connection.database).version < where.steps.back().version) migrate_in_memory(connection, where);
  } catch (const SQLite::Exception& error) {
    return tl::make_unexpected(
        explain(open_failed(where), where, error, connection.database ? connection.database->getHandle() : nullptr));
  } catch (const std::filesystem::filesystem_error& error) {
    return tl::make_unexpected(
        explain_errno(open_failed(where), error.path2().empty() ? where.file : error.path2(), error.code().value()));
  }
  return connection;
}

Result<Connection> connect_for_writing(const Location& where) {
  if (const Status status = check_folder(where); !status) return tl::make_unexpected(status.error());
  const FileStamp before = stamp_file(where.file);
  if (before.exists) {
    if (const Status status = check_file(where, R_OK | W_OK); !status) return tl::make_unexpected(status.error());
    if (before.size_bytes > 0) {
      if (const Status status = probe(where); !status) return tl::make_unexpected(status.error());
    }
  }
  Connection connection;
  try {
    connection.database = connect(where.file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE, where);
    SQLite::Database& database = *connection.database;
    if (sqlite3_db_readonly(database.getHandle(), "main") == 1) {
      return tl::make_unexpected(explain_errno(open_failed(where), where.file, EROFS));
    }
    database.exec("PRAGMA synchronous=FULL");
    if (!migrate(database, where.steps)) {
      return tl::make_unexpected(newer_file(open_failed(where), read_identity(database), where));
    }
    set_wal(database, where);
  } catch (const SQLite::Exception& error) {
    return tl::make_unexpected(
        explain(open_failed(where), where, error, connection.database ? connection.database->getHandle() : nullptr));
  }
  return connection;
}

}  // namespace hbmark::store
