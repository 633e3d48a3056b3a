#include "results/store/schema.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

namespace hbmark::store {
namespace {

// Text columns take any bytes. A REAL column holds the text 'NaN' where a figure is not a number: SQLite turns a NaN into
// NULL, and NULL means "absent" here. Lists and maps are JSON text, so that SQL can look into them (json_each).
constexpr const char* kVersion1 = R"sql(
CREATE TABLE node(
  uuid TEXT PRIMARY KEY NOT NULL,
  hostname TEXT NOT NULL,
  description TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE environment(
  uuid TEXT PRIMARY KEY NOT NULL,
  environment_values TEXT NOT NULL
) WITHOUT ROWID;

CREATE TABLE configuration(
  uuid TEXT PRIMARY KEY NOT NULL,
  node_uuid TEXT NOT NULL REFERENCES node(uuid),
  backend TEXT NOT NULL,
  device TEXT NOT NULL,
  thread_pus TEXT NOT NULL,
  memory_kind TEXT NOT NULL,
  memory_policy TEXT NOT NULL,
  replicas INTEGER NOT NULL
) WITHOUT ROWID;

CREATE TABLE run(
  id INTEGER PRIMARY KEY,
  uuid TEXT UNIQUE NOT NULL,
  label TEXT NOT NULL,
  command TEXT NOT NULL,
  hbmark_version TEXT NOT NULL,
  suite TEXT NOT NULL,
  plan TEXT NOT NULL,
  node_uuid TEXT NOT NULL REFERENCES node(uuid),
  environment_uuid TEXT NOT NULL REFERENCES environment(uuid),
  started_at TEXT NOT NULL,
  finished_at TEXT,
  state TEXT NOT NULL,
  node_hostname TEXT NOT NULL,
  node_description TEXT NOT NULL
);
CREATE INDEX run_by_label ON run(label);
CREATE INDEX run_by_start ON run(started_at);

CREATE TABLE result(
  id INTEGER PRIMARY KEY,
  uuid TEXT UNIQUE NOT NULL,
  run_uuid TEXT NOT NULL REFERENCES run(uuid) ON DELETE CASCADE,
  configuration_uuid TEXT REFERENCES configuration(uuid),
  case_index INTEGER NOT NULL,
  problem TEXT NOT NULL,
  kernel TEXT NOT NULL,
  backend TEXT NOT NULL,
  device TEXT NOT NULL,
  memory_kind TEXT NOT NULL,
  threads INTEGER NOT NULL,
  replicas INTEGER NOT NULL,
  launches INTEGER NOT NULL,
  outcome TEXT NOT NULL,
  reason TEXT NOT NULL,
  flags TEXT NOT NULL,
  time_median_s REAL,
  time_ci_low_s REAL,
  time_ci_high_s REAL,
  time_min_s REAL,
  time_samples INTEGER,
  time_calls_per_sample INTEGER,
  time_interval_method TEXT,
  flop REAL,
  bytes REAL,
  ceiling_flop_per_s REAL,
  ceiling_bytes_per_s REAL,
  ceiling_fraction REAL,
  implementation TEXT NOT NULL,
  isa TEXT NOT NULL,
  library TEXT NOT NULL,
  layout TEXT NOT NULL,
  verified_checked INTEGER,
  verified_max_rel_error REAL,
  verified_tolerance REAL,
  verified_method TEXT,
  pages TEXT NOT NULL,
  thread_pus TEXT NOT NULL,
  reorder_s REAL,
  energy_j REAL,
  wall_s REAL NOT NULL,
  timed_s REAL NOT NULL,
  stopped_by TEXT NOT NULL,
  log TEXT NOT NULL,
  finished_at TEXT NOT NULL,
  UNIQUE(run_uuid, case_index)
);
CREATE INDEX result_by_problem ON result(problem);

CREATE TABLE sample(
  result_id INTEGER NOT NULL REFERENCES result(id) ON DELETE CASCADE,
  launch INTEGER NOT NULL,
  sample_index INTEGER NOT NULL,
  time_s REAL NOT NULL,
  PRIMARY KEY(result_id, launch, sample_index)
) WITHOUT ROWID;
)sql";

// What was measured before was warm, with no clock beside it.
constexpr const char* kVersion2 = R"sql(
ALTER TABLE configuration ADD COLUMN cache TEXT NOT NULL DEFAULT 'warm';
ALTER TABLE result ADD COLUMN energy_scope TEXT NOT NULL DEFAULT '';
ALTER TABLE result ADD COLUMN energy_note TEXT NOT NULL DEFAULT '';
ALTER TABLE result ADD COLUMN clock_before_hz REAL;
ALTER TABLE result ADD COLUMN clock_after_hz REAL;
ALTER TABLE result ADD COLUMN clock_note TEXT NOT NULL DEFAULT '';
)sql";

// The boot of runs before is not known.
constexpr const char* kVersion3 = R"sql(
ALTER TABLE result ADD COLUMN loads REAL;
ALTER TABLE run ADD COLUMN boot_id TEXT NOT NULL DEFAULT '';
ALTER TABLE result ADD COLUMN worker_pages TEXT NOT NULL DEFAULT '{}';
ALTER TABLE result ADD COLUMN huge_pages REAL;
CREATE TABLE baseline(
  name TEXT PRIMARY KEY NOT NULL,
  run_uuid TEXT NOT NULL REFERENCES run(uuid) ON DELETE CASCADE
) WITHOUT ROWID;
)sql";

constexpr const char* kVersion4 = R"sql(
ALTER TABLE result ADD COLUMN replica_times_s TEXT NOT NULL DEFAULT '{}';
ALTER TABLE result ADD COLUMN replica_alone_s REAL;
)sql";

constexpr Migration kMigrations[] = {
    {1, "nodes, environments, configurations, runs, results, samples", kVersion1},
    {2, "cold configurations; energy's scope and note; the effective clock of a result", kVersion2},
    {3, "loads of a call; boots; all anonymous pages of a worker by node; huge pages; runs kept as baselines", kVersion3},
    {4, "times of single replicas", kVersion4},
};

}  // namespace

std::span<const Migration> migrations() { return kMigrations; }

int pragma_int(SQLite::Database& database, const char* pragma) {
  SQLite::Statement query(database, fmt::format("PRAGMA {}", pragma));
  return query.executeStep() ? query.getColumn(0).getInt() : 0;
}

Identity read_identity(SQLite::Database& database) {
  Identity identity;
  identity.application_id = pragma_int(database, "application_id");
  identity.version = pragma_int(database, "user_version");
  SQLite::Statement query(database, "SELECT count(*) FROM sqlite_master");
  identity.has_objects = query.executeStep() && query.getColumn(0).getInt64() > 0;
  return identity;
}

bool migrate(SQLite::Database& database, std::span<const Migration> steps) {
  // A step may rebuild a table that others refer to: foreign keys are off meanwhile (the pragma does nothing inside a
  // transaction) and checked before the commit, as SQLite's "Making Other Kinds Of Table Schema Changes" advises.
  database.exec("PRAGMA foreign_keys=OFF");
  SQLite::Transaction transaction(database, SQLite::TransactionBehavior::IMMEDIATE);
  const Identity identity = read_identity(database);
  const bool is_new = !identity.has_objects && identity.application_id == 0 && identity.version == 0;
  const int latest = steps.empty() ? 0 : steps.back().version;
  if ((!is_new && identity.application_id != kApplicationId) || identity.version > latest || identity.version < 0)
    return false;
  for (const Migration& step : steps) {
    if (step.version <= identity.version) continue;
    database.exec(step.sql);
    database.exec(fmt::format("PRAGMA user_version={}", step.version));
  }
  if (is_new) database.exec(fmt::format("PRAGMA application_id={}", kApplicationId));
  if (identity.version < latest) {
    SQLite::Statement violations(database, "PRAGMA foreign_key_check");
    if (violations.executeStep()) {
      throw SQLite::Exception(
          fmt::format("migration leaves a dangling reference in table {}", violations.getColumn(0).getString()),
          19 /* SQLITE_CONSTRAINT */);
    }
  }
  transaction.commit();
  database.exec("PRAGMA foreign_keys=ON");
  return true;
}

}  // namespace hbmark::store
