// The schema as data: one row a version, each the SQL that leads from the version before to it.
//
// To change the schema, append a row; never edit one that was released. Migrating is one transaction: all steps or none.
// Not thread-safe beside other use of the same connection. Internal to results/store.
#pragma once

#include <SQLiteCpp/Database.h>

#include <span>
#include <string_view>

namespace hbmark::store {

inline constexpr int kApplicationId = 0x68626D6B;  // "hbmk", bytes 68 to 71 of the file

struct Migration {
  int version = 0;  // 1, 2, 3 ... without gaps
  std::string_view summary;
  const char* sql = nullptr;
};

std::span<const Migration> migrations();

struct Identity {
  int application_id = 0;
  int version = 0;
  bool has_objects = false;  // tables, indexes, views or triggers
};

// The three below throw SQLite::Exception; callers inside results/store turn it into an Error.
Identity read_identity(SQLite::Database& database);
// Applies what is missing in one transaction; with nothing missing it only proves that the write lock can be had. Leaves
// foreign keys on. False, with nothing changed: under the lock the file turned out newer than `steps`, or foreign.
bool migrate(SQLite::Database& database, std::span<const Migration> steps);
int pragma_int(SQLite::Database& database, const char* pragma);

}  // namespace hbmark::store
