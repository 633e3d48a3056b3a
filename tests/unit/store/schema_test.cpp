#include "results/store/schema.h"

#include <SQLiteCpp/Statement.h>
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "fixtures.h"
#include "results/store/file.h"

namespace hbmark::tests {
namespace {

using store::Identity;
using store::Migration;
using ::testing::HasSubstr;

const int kNext = store::migrations().back().version + 1;

// What a next version may look like: a column, and data carried over.
std::vector<Migration> one_more_step() {
  std::vector<Migration> steps(store::migrations().begin(), store::migrations().end());
  steps.push_back({kNext, "a test's",
                   "ALTER TABLE node ADD COLUMN site TEXT NOT NULL DEFAULT 'here'; UPDATE node SET site = hostname;"});
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
  const auto steps = one_more_step();
  {
    auto connection = store::connect_for_writing({folder / "store.db", std::chrono::seconds(5), steps});
    ASSERT_TRUE(connection) << text_of(connection.error());
    EXPECT_EQ(site(*connection->database), a_node().hostname);
    EXPECT_EQ(store::pragma_int(*connection->database, "user_version"), kNext);
    EXPECT_EQ(store::pragma_int(*connection->database, "foreign_keys"), 1);
  }
  const auto newer = Store::open(folder / "store.db", OpenMode::kWrite);  // does not know that version
  ASSERT_FALSE(newer);
  EXPECT_THAT(newer.error().why, HasSubstr(fmt::format("schema {}", kNext)));
}

TEST(Schema, AnOlderStoreIsReadThroughAMigratedCopy) {
  TempFolder folder;
  make_store(folder / "store.db");
  const auto before = contents(folder.path());
  const auto steps = one_more_step();
  const auto connection = store::connect_for_reading({folder / "store.db", std::chrono::seconds(5), steps});
  ASSERT_TRUE(connection) << text_of(connection.error());
  EXPECT_EQ(site(*connection->database), a_node().hostname);
  EXPECT_TRUE(connection->snapshot);
  EXPECT_TRUE(contents(folder.path()) == before);
}

// A file as the first version left it, with a row in each table that has grown since.
void make_first_version(const std::filesystem::path& file) {
  SQLite::Database database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
  ASSERT_TRUE(store::migrate(database, store::migrations().first(1)));
  database.exec(R"sql(
INSERT INTO node VALUES('n', 'knl-1', '{}');
INSERT INTO environment VALUES('e', '{}');
INSERT INTO configuration VALUES('c', 'n', 'onednn', 'cpu', '[0,1]', 'any', 'first_touch', 1);
INSERT INTO run VALUES(1, 'r', '', '', '0.1', '', '', 'n', 'e', '2026-11-30T20:41:11Z', NULL, 'finished', 'knl-1', '{}');
INSERT INTO result(uuid, run_uuid, configuration_uuid, case_index, problem, kernel, backend, device, memory_kind, threads,
  replicas, launches, outcome, reason, flags, implementation, isa, library, layout, pages, thread_pus, energy_j, wall_s,
  timed_s, stopped_by, log, finished_at)
  VALUES('x', 'r', 'c', 0, 'peak:fma:f32', 'peak', 'cpu', 'cpu', 'any', 2, 1, 1, 'ok', '', '["noisy"]', '', '', '', '',
  '{}', '[0,1]', 1.5, 1, 1, 'budget', '', '2026-11-30T20:42:00Z');
)sql");
}

TEST(Schema, TheFirstVersionIsReadAndCarriedOver) {
  TempFolder folder;
  make_first_version(folder / "store.db");
  for (const OpenMode mode : {OpenMode::kRead, OpenMode::kWrite, OpenMode::kRead}) {
    const auto store = Store::open(folder / "store.db", mode);
    ASSERT_TRUE(store) << text_of(store.error());
    EXPECT_EQ(store->configuration("c")->cache, "warm");
    EXPECT_EQ(store->find_run("r")->boot_id, "");
    const auto results = store->results("r");
    ASSERT_TRUE(results) << text_of(results.error());
    ASSERT_EQ(results->size(), 1U);
    const ResultRecord& result = results->front();
    EXPECT_EQ(result.energy_j, 1.5);
    EXPECT_EQ(result.energy_scope, "");
    EXPECT_FALSE(result.clock_before_hz);
    EXPECT_FALSE(result.clock_after_hz);
    EXPECT_EQ(result.finished_at, "2026-11-30T20:42:00Z");
  }
}

TEST(Schema, AMigrationThatFailsChangesNothing) {
  TempFolder folder;
  const RunRecord run = make_store(folder / "store.db");
  auto steps = one_more_step();
  steps.push_back({kNext + 1, "broken", "CREATE TABLE more(x); INSERT INTO no_such_table VALUES(1);"});
  ASSERT_FALSE(store::connect_for_writing({folder / "store.db", std::chrono::seconds(5), steps}));
  steps.back().sql = "PRAGMA defer_foreign_keys=1; DELETE FROM node;";  // leaves configurations without their node
  ASSERT_FALSE(store::connect_for_writing({folder / "store.db", std::chrono::seconds(5), steps}));
  const auto store = Store::open(folder / "store.db", OpenMode::kWrite);
  ASSERT_TRUE(store) << text_of(store.error());
  EXPECT_EQ(store->results(run.uuid)->size(), 2U);
  EXPECT_EQ(store->node(a_node().uuid).value(), a_node());
}

}  // namespace
}  // namespace hbmark::tests
