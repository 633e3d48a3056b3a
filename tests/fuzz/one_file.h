// A file of its own for a fuzz target whose function under test reads files: written anew for every input, removed at exit.
//
// Not thread-safe. Ends the program when the temporary folder cannot be written: nothing would be tested.
#pragma once

#include <stdlib.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

namespace hbmark::fuzz {

class OneFile {
 public:
  explicit OneFile(const std::string& name) {
    auto pattern = (std::filesystem::temp_directory_path() / "hbmark-fuzz-XXXXXX").string();
    if (mkdtemp(pattern.data()) == nullptr) std::abort();
    folder_ = pattern;
    path_ = folder_ / name;
  }
  OneFile(const OneFile&) = delete;
  OneFile& operator=(const OneFile&) = delete;
  ~OneFile() {
    std::error_code code;
    std::filesystem::remove_all(folder_, code);
  }

  const std::filesystem::path& path() const { return path_; }
  void write(const std::uint8_t* data, std::size_t size) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
    if (!file.flush()) std::abort();
  }

 private:
  std::filesystem::path folder_, path_;
};

}  // namespace hbmark::fuzz
