#include "results/store/schema.h"

#include <SQLiteCpp/Statement.h>
#include <gmock/gmock.h>

#include "fixtures.h"
#include "results/store/file.h"

namespace hbmark::tests {
namespace {

using store::Identity;
using store::Migration;
using ::testing::HasSubstr;

// What a next version may look like: a column, and data carried over.
std::vector<Migration> two_steps() {
  std::vector<Migration> steps(store::migrations().begin(), store::migrations().end());
  steps.push_back(
      {2, "a test's", "ALTER TABLE node ADD COLUMN site TEXT NOT NULL DEFAULT 'here'; UPDATE node SET site = hostname;"});
  return steps;
}
std::string site(SQLite::Database& database) {
  SQLite::Statement query(database, "SELECT site FROM node");
  return query.executeStep() ? query.getColumn(0).getString() : "";
}

TEST(Schema, StepsAreNumberedWithoutGaps) {
  int expected = 1;
  for (const Migration& step : store::migrations()) EXPECT_EQ(step.version, expected++);
}

TEST(Schema, ANewStoreSaysWhatItIs) {
  TempFolder folder;
  make_store(folder / "store.db");
  EXPECT_EQ(contents(folder.path()).size(), 1U) << "a closed store is one file";
  SQLite::Database database((folder / "store.db").string());
  const Identity identity = store::read_identity(database);
  EXPECT_EQ(identity.application_id, 0x68626D6B);
  EXPECT_EQ(identity.version, store::migrations().back().version);
  SQLite::Statement mode(database, "PRAGMA journal_mode");
  ASSERT_TRUE(mode.executeStep());
  EXPECT_EQ(mode.getColumn(0).getString(), "wal");
}

TEST(Schema, AnOlderStoreIsMigratedWhenWritten) {
  TempFolder folder;
  const RunRecord run = make_store(folder / "store.db");
  const auto steps = two_steps();
  {
    auto connection = store::connect_for_writing({folder / "store.db", std::chrono::seconds(5), steps});
    ASSERT_TRUE(connection) << text_of(connection.error());
    EXPECT_EQ(site(*connection->database), a_node().hostname);
    EXPECT_EQ(store::pragma_int(*connection->database, "user_version"), 2);
    EXPECT_EQ(store::pragma_int(*connection->database, "foreign_keys"), 1);
  }
  const auto newer = Store::open(folder / "store.db", OpenMode::kWrite);  // knows one version only
  ASSERT_FALSE(newer);
  EXPECT_THAT(newer.error().why, HasSubstr("schema 2"));
}

TEST(Schema, AnOlderStoreIsReadThroughAMigratedCopy) {
  TempFolder folder;
  make_store(folder / "store.db");
  const auto before = contents(folder.path());
  const auto steps = two_steps();
  const auto connection = store::connect_for_reading({folder / "store.db", std::chrono::seconds(5), steps});
  ASSERT_TRUE(connection) << text_of(connection.error());
  EXPECT_EQ(site(*connection->database), a_node().hostname);
  EXPECT_TRUE(connection->snapshot);
  EXPECT_TRUE(contents(folder.path()) == before);
}

TEST(Schema, AMigrationThatFailsChangesNothing) {
  TempFolder folder;
  const RunRecord run = make_store(folder / "store.db");
  auto steps = two_steps();
  steps.push_back({3, "broken", "CREATE TABLE more(x); INSERT INTO no_such_table VALUES(1);"});
  ASSERT_FALSE(store::connect_for_writing({folder / "store.db", std::chrono::seconds(5), steps}));
  steps[2].sql = "PRAGMA defer_foreign_keys=1; DELETE FROM node;";  // leaves configurations without their node
  ASSERT_FALSE(store::connect_for_writing({folder / "store.db", std::chrono::seconds(5), steps}));
  const auto store = Store::open(folder / "store.db", OpenMode::kWrite);
  ASSERT_TRUE(store) << text_of(store.error());
  EXPECT_EQ(store->results(run.uuid)->size(), 2U);
  EXPECT_EQ(store->node(a_node().uuid).value(), a_node());
}

}  // namespace
}  // namespace hbmark::tests
