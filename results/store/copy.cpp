#include "results/store/copy.h"

#include <stdlib.h>  // mkdtemp

#include <cerrno>
#include <string>
#include <system_error>

namespace hbmark::store {

PrivateCopy::PrivateCopy(const std::filesystem::path& file) {
  std::string name = (std::filesystem::temp_directory_path() / "hbmark-read-XXXXXX").string();
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::filesystem::filesystem_error("cannot make a temporary folder", file, name,
                                            std::error_code(errno, std::generic_category()));
  }
  folder_ = name;
  file_ = folder_ / "store.db";
  try {
    // Nobody has the store open when a copy is needed (a live writer has an index, a live journal a lock), this process
    // neither: no POSIX lock is lost by closing the file. Should a writer come meanwhile, the callers' stamps tell.
    std::filesystem::copy_file(file, file_);
    for (const char* suffix : {"-wal", "-journal"}) {
      std::filesystem::path log = file;
      log += suffix;
      if (std::filesystem::exists(log)) {
        std::filesystem::path copy = file_;
        copy += suffix;
        std::filesystem::copy_file(log, copy);
        std::filesystem::permissions(copy, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
      }
    }
    std::filesystem::permissions(file_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_write);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
    throw;
  }
}

PrivateCopy::~PrivateCopy() {
  std::error_code ignored;
  std::filesystem::remove_all(folder_, ignored);
}

}  // namespace hbmark::store
