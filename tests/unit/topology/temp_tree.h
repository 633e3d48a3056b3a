// A recorded machine in a folder of its own: files of /proc, /sys and /run by their absolute names. Gone with the object.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <initializer_list>
#include <string>
#include <utility>

namespace hbmark::topology::tests {

class TempTree {
 public:
  using Files = std::initializer_list<std::pair<std::string, std::string>>;

  TempTree() {
    static int count = 0;
    folder_ =
        std::filesystem::temp_directory_path() / ("hbmark-tree-" + std::to_string(getpid()) + "-" + std::to_string(++count));
    std::filesystem::create_directories(folder_);
  }
  TempTree(Files files) : TempTree() { write(files); }
  TempTree(const TempTree&) = delete;
  TempTree& operator=(const TempTree&) = delete;
  ~TempTree() {
    std::error_code error;
    std::filesystem::remove_all(folder_, error);
  }

  std::string root() const { return folder_.string(); }
  std::filesystem::path path(const std::string& file) const { return folder_ / std::filesystem::path(file).relative_path(); }

  void write(const std::string& file, const std::string& text) const {
    std::filesystem::create_directories(path(file).parent_path());
    std::ofstream stream(path(file));
    stream << text << '\n';
    ASSERT_TRUE(stream.flush()) << file;
  }
  void write(Files files) const {
    for (const auto& [file, text] : files) write(file, text);
  }
  // There, and not to be read as a file whoever asks: root reads what its mode forbids, but not a folder.
  void make_unreadable(const std::string& file) const {
    std::filesystem::remove(path(file));
    std::filesystem::create_directories(path(file));
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace hbmark::topology::tests
