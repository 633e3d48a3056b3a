// Opening the file: what it is, whether it is ours, and a connection that keeps the promises of store.h.
//
// Reading takes the way that writes nothing: with no log beside the file it is opened as immutable, and the caller compares
// stamps around each query (a writer may come at any time); with a log and its index, as a reader of that log; with a log
// that a dead process left and no index (SQLite would create one), through a private copy in the temporary folder.
// Not thread-safe. Internal to results/store.
#pragma once

#include <SQLiteCpp/Database.h>

#include <array>
#include <cstdint>
#include <memory>
#include <string>

#include "results/base/result.h"
#include "results/store/errors.h"

namespace hbmark::store {

struct FileStamp {
  bool exists = false;
  std::uint64_t device = 0, inode = 0;
  std::int64_t size_bytes = 0, modified_ns = 0, changed_ns = 0;
  bool operator==(const FileStamp&) const = default;
};
// Of the file, its -wal and its -journal. Equal before and after a query: nobody committed or checkpointed meanwhile.
using StoreStamp = std::array<FileStamp, 3>;
StoreStamp stamp_of(const std::filesystem::path& file);

struct Connection {
  std::unique_ptr<SQLite::Database> database;
  bool snapshot = false;  // nothing holds writers off: compare stamps around each query
  StoreStamp stamp;       // taken before the file was opened
};

// Errors as Store::open's. The file must exist.
Result<Connection> connect_for_reading(const Location& where);
// Creates, recovers and migrates as needed; refuses without altering.
Result<Connection> connect_for_writing(const Location& where);

std::string open_failed(const Location& where);  // "cannot open the store results.db"

}  // namespace hbmark::store
