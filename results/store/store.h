// The store: one SQLite file (WAL) that holds everything, and from which everything shown can be made again.
//
// Opening checks application id and schema version: a foreign, damaged or newer file is refused and left as it is, byte for
// byte; an older one is migrated forward in one transaction (read-only: in a copy in memory). Each save_* is one
// transaction: after it returns, neither a SIGKILL nor a power cut loses it (synchronous=FULL: the log is synced at each
// commit; a result comes every few seconds, so the millisecond is not felt). Where a file system cannot do WAL, SQLite's
// rollback journal gives the same promise.
//
// kRead never writes to the store nor creates a file beside it: it works on read-only folders and media. It sees what was
// committed when the call began, also from processes that write meanwhile.
// One Store, one thread. Several processes may read while one writes; a locked store is waited for (5 s), then an error.
// Doubles round-trip, NaN and infinities too (only the sign of zero is lost); strings byte for byte (in lists and maps,
// bytes that are not UTF-8 become U+FFFD).
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "results/base/result.h"
#include "results/records.h"

namespace hbmark {

enum class OpenMode { kRead, kWrite };  // kWrite creates the file when absent; kRead refuses an absent one

struct WholeRun {
  NodeRecord node;
  EnvironmentRecord environment;
  std::vector<ConfigurationRecord> configurations;
  RunRecord run;
  std::vector<std::pair<ResultRecord, std::vector<SampleRecord>>> results;
};

class Store {
 public:
  // Errors (environment), each with what to do: a directory, no permission, full disk, truncated, foreign, newer, locked.
  static Result<Store> open(const std::filesystem::path& file, OpenMode mode,
                            std::chrono::milliseconds busy_timeout = std::chrono::seconds(5));

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  // A node seen again: hostname and description become those of now; earlier runs keep theirs (node_of_run).
  Status save_node(const NodeRecord& node);
  Status save_environment(const EnvironmentRecord& environment);
  Status save_configuration(const ConfigurationRecord& configuration);
  Status save_run(const RunRecord& run);  // inserts, or updates state and finished_at
  // The result with all its samples, in one transaction; replaces a `not_run` of the same case, and the same result
  // (by uuid) grown by a launch (and only that: a second
  // outcome for a case is an internal error). Its run and configuration must be saved before; an empty configuration_uuid
  // means none. A sample's result_uuid may be left empty.
  Status save_result(const ResultRecord& result, const std::vector<SampleRecord>& samples);
  // What the five above save one by one, in one transaction: all of it or nothing. The run as save_run has it, with its
  // final state: nobody ever sees it half stored.
  Status save_whole_run(const WholeRun& whole);

  Result<std::vector<RunRecord>> runs() const;  // newest first
  // By uuid, a unique prefix of it (at least 4 digits), a label (its newest run), or "last". Errors: usage, with the runs it
  // could have meant; nothing_ran when the store holds no run.
  Result<RunRecord> find_run(const std::string& name) const;
  // A name for a run to compare later ones with; given again, it names another run. find_run does not know it.
  Status save_baseline(const std::string& name, const std::string& run_uuid);
  // Errors: usage, with the baselines there are.
  Result<RunRecord> baseline(const std::string& name) const;
  Result<std::vector<ResultRecord>> results(const std::string& run_uuid) const;  // by case index
  Result<std::vector<SampleRecord>> samples(const std::string& result_uuid) const;
  Result<NodeRecord> node(const std::string& uuid) const;             // as last seen
  Result<NodeRecord> node_of_run(const std::string& run_uuid) const;  // as that run saw it: modes change between boots
  Result<EnvironmentRecord> environment(const std::string& uuid) const;
  Result<ConfigurationRecord> configuration(const std::string& uuid) const;

 private:
  struct Impl;
  explicit Store(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

std::string new_uuid();                            // version 4
std::string digest_uuid(const std::string& text);  // version 5 (SHA-1): equal text, equal uuid
std::string utc_now();                             // RFC 3339 with seconds, "2026-11-30T20:41:11Z"

}  // namespace hbmark
