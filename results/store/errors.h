// From what SQLite or the system says to an Error a person can act on. Pure, thread-safe. Internal to results/store.
#pragma once

#include <SQLiteCpp/Exception.h>

#include <chrono>
#include <filesystem>
#include <span>
#include <string>

#include "results/base/result.h"
#include "results/store/schema.h"

struct sqlite3;

namespace hbmark::store {

struct Location {
  std::filesystem::path file;  // absolute: no name that SQLite would read as an option (":memory:", "file:...")
  std::chrono::milliseconds busy_timeout{5000};
  std::span<const Migration> steps = migrations();
};

// `database` may be null (it did not open); it tells the errno below SQLite's code.
Error explain(std::string what, const Location& where, const SQLite::Exception& error, sqlite3* database);
Error explain_errno(std::string what, const std::filesystem::path& file, int number);

Error foreign_file(std::string what, const Identity& identity);
Error newer_file(std::string what, const Identity& identity, const Location& where);
Error damaged_file(std::string what, const Location& where, const std::string& detail);

}  // namespace hbmark::store
