#include "results/store/store.h"

#include <SQLiteCpp/Statement.h>
#include <SQLiteCpp/Transaction.h>
#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <map>
#include <system_error>
#include <utility>

#include "results/store/binding.h"
#include "results/store/columns.h"
#include "results/store/file.h"
#include "results/store/find.h"

namespace hbmark {
namespace {

using store::Binder;
using store::ColumnNames;
using store::Location;
using store::Reader;

// A row that a newer or damaged file holds and this version cannot read; caught where SQLite's exceptions are.
struct UnreadableRow {
  std::string why;
};

template <class Record>
std::string insert_sql(const char* table, auto columns, const char* conflict) {
  const Record nothing{};
  ColumnNames names;
  columns(names, nothing);
  return fmt::format("INSERT INTO {}({}) VALUES({}) {}", table, names.names, names.parameters, conflict);
}

template <class Record>
Record read_row(SQLite::Statement& query, auto columns) {
  Record record;
  Reader reader{query};
  columns(reader, record);
  if (!reader.problem.empty()) throw UnreadableRow{reader.problem};
  return record;
}

constexpr auto kNode = [](auto& visit, auto& record) { store::node_columns(visit, record); };
constexpr auto kEnvironment = [](auto& visit, auto& record) { store::environment_columns(visit, record); };
constexpr auto kConfiguration = [](auto& visit, auto& record) { store::configuration_columns(visit, record); };
constexpr auto kRun = [](auto& visit, auto& record) { store::run_columns(visit, record); };
constexpr auto kResult = [](auto& visit, auto& record) { store::result_columns(visit, record); };

void insert_samples(SQLite::Database& database, std::int64_t result_id, const std::vector<SampleRecord>& samples) {
  SQLite::Statement insert(
      database, "INSERT INTO sample(result_id, launch, sample_index, time_s) VALUES(:id, :launch, :index, :time)");
  for (const SampleRecord& sample : samples) {
    insert.bind(":id", result_id);
    insert.bind(":launch", sample.launch);
    insert.bind(":index", sample.index);
    store::bind_real(insert, ":time", sample.time_s);
    insert.exec();
    insert.reset();
  }
}

template <class Record>
void insert_row(SQLite::Database& database, const char* table, const Record& record, auto columns, const char* conflict) {
  SQLite::Statement statement(database, insert_sql<Record>(table, columns, conflict));
  Binder binder{statement};
  columns(binder, record);
  statement.exec();
}

void put_node(SQLite::Database& database, const NodeRecord& node) {
  insert_row(database, "node", node, kNode,
             "ON CONFLICT(uuid) DO UPDATE SET hostname = excluded.hostname, description = excluded.description");
}

void put_environment(SQLite::Database& database, const EnvironmentRecord& environment) {
  insert_row(database, "environment", environment, kEnvironment, "ON CONFLICT(uuid) DO NOTHING");
}

void put_configuration(SQLite::Database& database, const ConfigurationRecord& configuration) {
  insert_row(database, "configuration", configuration, kConfiguration, "ON CONFLICT(uuid) DO NOTHING");
}

Status put_run(SQLite::Database& database, const RunRecord& run) {
  SQLite::Statement update(database, "UPDATE run SET state = :state, finished_at = :finished_at WHERE uuid = :uuid");
  Binder updated{update};
  updated("state", run.state);
  updated("finished_at", run.finished_at);
  updated("uuid", run.uuid);
  if (update.exec() > 0) return {};

  // The node's facts are copied: the same node may come back in another memory mode, and old runs keep what they saw.
  ColumnNames names;
  store::run_columns(names, run);
  SQLite::Statement insert(database,
                           fmt::format("INSERT INTO run({0}, node_hostname, node_description) SELECT {1}, hostname, "
                                       "description FROM node WHERE node.uuid = :node_uuid",
                                       names.names, names.parameters));
  Binder inserted{insert};
  store::run_columns(inserted, run);
  if (insert.exec() > 0) return {};
  return fail(ErrorKind::kInternal, fmt::format("cannot save the run {}", run.uuid), "its node was not saved before it",
              "report this bug of hbmark");
}

Status put_result(SQLite::Database& database, const ResultRecord& result, const std::vector<SampleRecord>& samples) {
  const auto stray = [&](const SampleRecord& sample) {
    return !sample.result_uuid.empty() && sample.result_uuid != result.uuid;
  };
  if (std::any_of(samples.begin(), samples.end(), stray)) {
    return fail(ErrorKind::kInternal, fmt::format("cannot save the result of {}", result.problem),
                "a sample belongs to another result", "report this bug of hbmark");
  }
  SQLite::Statement replaced(database,
                             "DELETE FROM result WHERE run_uuid = :run AND case_index = :case "
                             "AND (outcome = 'not_run' OR uuid = :uuid)");
  replaced.bind(":uuid", result.uuid);
  replaced.bind(":run", result.run_uuid);
  replaced.bind(":case", result.case_index);
  replaced.exec();
  insert_row(database, "result", result, kResult, "");
  insert_samples(database, database.getLastInsertRowid(), samples);
  return {};
}

}  // namespace

struct Store::Impl {
  Location where;
  OpenMode mode = OpenMode::kRead;
  store::Connection connection;

  tl::unexpected<Error> explained(const std::string& what, const SQLite::Exception& error) const {
    return tl::make_unexpected(store::explain(what, where, error, connection.database->getHandle()));
  }

  // `change` in one transaction that takes the write lock at once (a lock taken later could not be waited for).
  Status write(const std::string& what, auto change) {
    if (mode == OpenMode::kRead)
      return fail(ErrorKind::kInternal, what, "the store was opened for reading", "report this bug of hbmark");
    errno = 0;  // explain() may have to look at it
    try {
      SQLite::Transaction transaction(*connection.database, SQLite::TransactionBehavior::IMMEDIATE);
      try {
        if (Status status = change(*connection.database); !status) return status;
        transaction.commit();
        return {};
      } catch (const SQLite::Exception& error) {
        return explained(what, error);  // before the rollback, which overwrites the system's reason
      }
    } catch (const SQLite::Exception& error) {
      return explained(what, error);
    }
  }

  // `query` on what is committed now. An immutable connection holds no lock, so a query that saw the file change is
  // repeated.
  template <class T>
  Result<T> read(const std::string& what, auto query) {
    constexpr int kAttempts = 10;
    for (int attempt = 0; attempt < kAttempts; ++attempt) {
      if (connection.snapshot && store::stamp_of(where.file) != connection.stamp) {
        auto again = store::connect_for_reading(where);
        if (!again) return tl::make_unexpected(again.error());
        connection = std::move(*again);
      }
      Result<T> result = read_once<T>(what, query);
      if (!connection.snapshot || store::stamp_of(where.file) == connection.stamp) return result;
    }
    return environment_error(what, "the store changed under each of 10 attempts to read it",
                             "try again when the run that writes it is over");
  }

  template <class T>
  Result<T> read_once(const std::string& what, auto& query) {
    try {
      // One transaction, so that several statements see one state.
      SQLite::Transaction transaction(*connection.database);
      return query(*connection.database);
    } catch (const SQLite::Exception& error) {
      return explained(what, error);
    } catch (const UnreadableRow& row) {
      return environment_error(what, row.why, "use the hbmark that wrote it, or restore a copy of the store");
    }
  }

  template <class Record>
  Result<Record> read_by_uuid(const char* table, const std::string& uuid, auto columns) {
    const std::string what = fmt::format("cannot read the {} {}", table, uuid);
    return read<Record>(what, [&](SQLite::Database& database) -> Result<Record> {
      SQLite::Statement query(database, fmt::format("SELECT * FROM {} WHERE uuid = :uuid", table));
      query.bind(":uuid", uuid);
      if (!query.executeStep())
        return usage_error(what, "the store holds none of that uuid", "take one that `hbmark list` or `hbmark show` prints");
      return read_row<Record>(query, columns);
    });
  }
};

Store::Store(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Store::Store(Store&&) noexcept = default;
Store& Store::operator=(Store&&) noexcept = default;
Store::~Store() = default;

Result<Store> Store::open(const std::filesystem::path& file, OpenMode mode, std::chrono::milliseconds busy_timeout) {
  if (file.empty() || file.native().find('\0') != std::string::npos) {
    return usage_error("cannot open the store", file.empty() ? "its name is empty" : "its name holds a NUL byte",
                       "name a file with --db");
  }
  std::error_code error;
  auto impl = std::make_unique<Impl>();
  impl->where.file = std::filesystem::absolute(file, error);
  if (error) {
    return environment_error("cannot open the store " + file.string(), "the current folder has gone: " + error.message(),
                             "change to a folder that exists, or give the store's whole path: --db /PATH/results.db");
  }
  impl->where.busy_timeout = busy_timeout;
  impl->mode = mode;
  auto connection =
      mode == OpenMode::kRead ? store::connect_for_reading(impl->where) : store::connect_for_writing(impl->where);
  if (!connection) return tl::make_unexpected(connection.error());
  impl->connection = std::move(*connection);
  return Store(std::move(impl));
}

Status Store::save_node(const NodeRecord& node) {
  return impl_->write("cannot save the node", [&](SQLite::Database& database) -> Status {
    put_node(database, node);
    return {};
  });
}

Status Store::save_environment(const EnvironmentRecord& environment) {
  return impl_->write("cannot save the environment", [&](SQLite::Database& database) -> Status {
    put_environment(database, environment);
    return {};
  });
}

Status Store::save_configuration(const ConfigurationRecord& configuration) {
  return impl_->write("cannot save the configuration", [&](SQLite::Database& database) -> Status {
    put_configuration(database, configuration);
    return {};
  });
}

Status Store::save_run(const RunRecord& run) {
  return impl_->write(fmt::format("cannot save the run {}", run.uuid),
                      [&](SQLite::Database& database) { return put_run(database, run); });
}

Status Store::save_result(const ResultRecord& result, const std::vector<SampleRecord>& samples) {
  return impl_->write(fmt::format("cannot save the result of {}", result.problem),
                      [&](SQLite::Database& database) { return put_result(database, result, samples); });
}

Status Store::save_whole_run(const WholeRun& whole) {
  return impl_->write(fmt::format("cannot save the run {}", whole.run.uuid), [&](SQLite::Database& database) -> Status {
    put_node(database, whole.node);
    put_environment(database, whole.environment);
    for (const ConfigurationRecord& configuration : whole.configurations) put_configuration(database, configuration);
    if (Status saved = put_run(database, whole.run); !saved) return saved;
    for (const auto& [result, samples] : whole.results) {
      if (Status saved = put_result(database, result, samples); !saved) return saved;
    }
    return {};
  });
}

Result<std::vector<RunRecord>> Store::runs() const {
  return impl_->read<std::vector<RunRecord>>("cannot list the runs", [](SQLite::Database& database) {
    std::vector<RunRecord> runs;
    SQLite::Statement query(database, "SELECT * FROM run ORDER BY started_at DESC, id DESC");
    while (query.executeStep()) runs.push_back(read_row<RunRecord>(query, kRun));
    return runs;
  });
}

Result<RunRecord> Store::find_run(const std::string& name) const {
  const auto all = runs();
  if (!all) return tl::make_unexpected(all.error());
  return store::find_run(*all, name, impl_->where.file.string());
}

Status Store::save_baseline(const std::string& name, const std::string& run_uuid) {
  return impl_->write(fmt::format("cannot keep the baseline {}", name), [&](SQLite::Database& database) -> Status {
    SQLite::Statement insert(database, "INSERT OR REPLACE INTO baseline(name, run_uuid) VALUES(:name, :run)");
    insert.bind(":name", name);
    insert.bind(":run", run_uuid);
    insert.exec();
    return {};
  });
}

Result<RunRecord> Store::baseline(const std::string& name) const {
  const std::string what = fmt::format("cannot find the baseline '{}'", name);
  auto kept = impl_->read<std::map<std::string, std::string>>(what, [](SQLite::Database& database) {
    std::map<std::string, std::string> all;
    SQLite::Statement query(database, "SELECT name, run_uuid FROM baseline");
    while (query.executeStep()) all[query.getColumn(0).getString()] = query.getColumn(1).getString();
    return all;
  });
  if (!kept) return tl::make_unexpected(kept.error());
  if (const auto found = kept->find(name); found != kept->end()) return find_run(found->second);
  std::string names;
  for (const auto& [known, run] : *kept) names += (names.empty() ? "" : ", ") + known;
  return usage_error(what, names.empty() ? "the store keeps none" : "it keeps " + names,
                     "keep a run as one first: hbmark compare --save-baseline NAME RUN");
}

Result<std::vector<ResultRecord>> Store::results(const std::string& run_uuid) const {
  const std::string what = fmt::format("cannot read the results of run {}", run_uuid);
  return impl_->read<std::vector<ResultRecord>>(what, [&](SQLite::Database& database) {
    std::vector<ResultRecord> results;
    SQLite::Statement query(database, "SELECT * FROM result WHERE run_uuid = :run ORDER BY case_index");
    query.bind(":run", run_uuid);
    while (query.executeStep()) results.push_back(read_row<ResultRecord>(query, kResult));
    return results;
  });
}

Result<std::vector<SampleRecord>> Store::samples(const std::string& result_uuid) const {
  const std::string what = fmt::format("cannot read the samples of result {}", result_uuid);
  return impl_->read<std::vector<SampleRecord>>(what, [&](SQLite::Database& database) {
    std::vector<SampleRecord> samples;
    SQLite::Statement query(
        database,
        "SELECT launch, sample_index, time_s FROM sample WHERE result_id = (SELECT id FROM result WHERE uuid = :uuid) "
        "ORDER BY launch, sample_index");
    query.bind(":uuid", result_uuid);
    while (query.executeStep()) {
      samples.push_back(
          {result_uuid, query.getColumn(0).getInt64(), query.getColumn(1).getInt64(), store::read_real(query.getColumn(2))});
    }
    return samples;
  });
}

Result<NodeRecord> Store::node(const std::string& uuid) const {
  return impl_->read_by_uuid<NodeRecord>("node", uuid, kNode);
}

Result<NodeRecord> Store::node_of_run(const std::string& run_uuid) const {
  const std::string what = fmt::format("cannot read the node of run {}", run_uuid);
  return impl_->read<NodeRecord>(what, [&](SQLite::Database& database) -> Result<NodeRecord> {
    SQLite::Statement query(
        database,
        "SELECT node_uuid AS uuid, node_hostname AS hostname, node_description AS description FROM run WHERE uuid = :uuid");
    query.bind(":uuid", run_uuid);
    if (!query.executeStep()) return usage_error(what, "the store holds no such run", "take one that `hbmark list` prints");
    return read_row<NodeRecord>(query, kNode);
  });
}

Result<EnvironmentRecord> Store::environment(const std::string& uuid) const {
  return impl_->read_by_uuid<EnvironmentRecord>("environment", uuid, kEnvironment);
}

Result<ConfigurationRecord> Store::configuration(const std::string& uuid) const {
  return impl_->read_by_uuid<ConfigurationRecord>("configuration", uuid, kConfiguration);
}

}  // namespace hbmark
