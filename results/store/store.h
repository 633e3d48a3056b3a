// The store: one SQLite file (WAL) that holds everything, and from which everything shown can be made again.
//
// Opening checks application id and schema version: a foreign or newer file is refused and left as it is; an older one is
// migrated forward in one transaction. Each save_* is one transaction: after it returns, a SIGKILL loses nothing.
// One Store, one thread. Several processes may read while one writes; a locked store is waited for (5 s), then an error.
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "results/base/result.h"
#include "results/records.h"

namespace hbmark {

enum class OpenMode { kRead, kWrite };  // kWrite creates the file when absent; kRead refuses an absent one

class Store {
 public:
  // Errors (environment), each with what to do: a directory, no permission, full disk, truncated, foreign, newer, locked.
  static Result<Store> open(const std::filesystem::path& file, OpenMode mode);

  Store(Store&&) noexcept;
  Store& operator=(Store&&) noexcept;
  ~Store();

  Status save_node(const NodeRecord& node);
  Status save_environment(const EnvironmentRecord& environment);
  Status save_configuration(const ConfigurationRecord& configuration);
  Status save_run(const RunRecord& run);     // inserts, or updates state and finished_at
  // The result with all its samples, in one transaction; replaces a `not_run` of the same case.
  Status save_result(const ResultRecord& result, const std::vector<SampleRecord>& samples);

  Result<std::vector<RunRecord>> runs() const;  // newest first
  // By uuid, a unique prefix of it (at least 4 digits), a label, or "last".
  Result<RunRecord> find_run(const std::string& name) const;
  Result<std::vector<ResultRecord>> results(const std::string& run_uuid) const;  // by case index
  Result<std::vector<SampleRecord>> samples(const std::string& result_uuid) const;
  Result<NodeRecord> node(const std::string& uuid) const;
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
