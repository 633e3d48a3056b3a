// A private copy of a store that another process left with an unfinished log, in a temporary folder that goes with the
// object.
//
// Throws std::filesystem::filesystem_error when the copy cannot be made (no room: set TMPDIR). Internal to results/store.
#pragma once

#include <filesystem>

namespace hbmark::store {

class PrivateCopy {
 public:
  explicit PrivateCopy(const std::filesystem::path& file);
  ~PrivateCopy();
  PrivateCopy(const PrivateCopy&) = delete;
  PrivateCopy& operator=(const PrivateCopy&) = delete;

  const std::filesystem::path& file() const { return file_; }

 private:
  std::filesystem::path folder_;
  std::filesystem::path file_;
};

}  // namespace hbmark::store
