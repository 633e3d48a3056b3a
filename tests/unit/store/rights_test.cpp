// Read-only files, folders and media; other people's files. As root, in a child that gives its rights up.
#include <gmock/gmock.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fixtures.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr const char* kNoDrop = "this user can neither be denied a file nor become one who can";

std::string attempt(const std::filesystem::path& file, OpenMode mode, const RunRecord& run) {
  const auto store = Store::open(file, mode);
  if (!store) return text_of(store.error());
  const auto results = store->results(run.uuid);
  if (!results) return text_of(results.error());
  return "results: " + std::to_string(results->size());
}

class Rights : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = make_store(folder_ / "store.db");
    mode(folder_.path(), 0755);
  }
  void TearDown() override { mode(folder_.path(), 0755); }
  static void mode(const std::filesystem::path& path, mode_t bits) { ASSERT_EQ(::chmod(path.c_str(), bits), 0); }
  std::optional<std::string> unprivileged(OpenMode open_mode, const std::string& name = "store.db") {
    return in_child(drop_privileges, [&] { return attempt(folder_ / name, open_mode, run_); });
  }
  // As a killed writer leaves a store: the last result only in the log.
  void leave_log(bool with_index) {
    TempFolder made;
    run_ = make_store(made / "store.db", 1);
    auto writer = Store::open(made / "store.db", OpenMode::kWrite).value();
    ASSERT_TRUE(writer.save_result(a_result(run_, 1), some_samples(20)));
    std::filesystem::remove(folder_ / "store.db");
    for (const char* name : {"store.db", "store.db-wal", "store.db-shm"}) {
      if (with_index || std::string(name) != "store.db-shm") std::filesystem::copy_file(made / name, folder_ / name);
    }
  }

  TempFolder folder_;
  RunRecord run_;
};

TEST_F(Rights, ReadOnlyFileAndFolder) {
  mode(folder_ / "store.db", 0444);
  mode(folder_.path(), 0555);
  const auto before = contents(folder_.path());
  const auto read = unprivileged(OpenMode::kRead);
  if (!read) GTEST_SKIP() << kNoDrop;
  EXPECT_EQ(*read, "results: 2");
  EXPECT_THAT(*unprivileged(OpenMode::kWrite), HasSubstr("Permission denied"));
  EXPECT_THAT(*unprivileged(OpenMode::kWrite, "new.db"), HasSubstr("Permission denied"));
  EXPECT_TRUE(contents(folder_.path()) == before);
}

TEST_F(Rights, ReadOnlyFileInAWritableFolder) {
  mode(folder_ / "store.db", 0444);
  mode(folder_.path(), 0777);
  const auto before = contents(folder_.path());
  const auto write = unprivileged(OpenMode::kWrite);
  if (!write) GTEST_SKIP() << kNoDrop;
  EXPECT_THAT(*write, HasSubstr("Permission denied"));
  EXPECT_EQ(*unprivileged(OpenMode::kRead), "results: 2");
  EXPECT_TRUE(contents(folder_.path()) == before);
}

TEST_F(Rights, WritableFileInAReadOnlyFolder) {
  mode(folder_ / "store.db", 0666);
  mode(folder_.path(), 0555);
  const auto write = unprivileged(OpenMode::kWrite);
  if (!write) GTEST_SKIP() << kNoDrop;
  EXPECT_THAT(*write, HasSubstr("the folder " + folder_.path().string()));
}

TEST_F(Rights, UnreadableFile) {
  mode(folder_ / "store.db", 0000);
  const auto read = unprivileged(OpenMode::kRead);
  if (!read) GTEST_SKIP() << kNoDrop;
  EXPECT_THAT(*read, HasSubstr("Permission denied"));
}

TEST_F(Rights, AnUnfinishedLogIsReadWithoutTouchingIt) {
  for (const bool with_index : {true, false}) {
    leave_log(with_index);
    const auto before = contents(folder_.path());
    EXPECT_EQ(attempt(folder_ / "store.db", OpenMode::kRead, run_), "results: 2");
    auto after = contents(folder_.path());
    // The index is shared memory, not content: SQLite may rebuild one that is there.
    if (with_index) after["store.db-shm"] = before.at("store.db-shm");
    EXPECT_TRUE(after == before);
    for (const char* name : {"store.db-wal", "store.db-shm"}) std::filesystem::remove(folder_ / name);
  }
}

TEST_F(Rights, AnUnfinishedLogInAReadOnlyFolder) {
  for (const bool with_index : {true, false}) {
    leave_log(with_index);
    for (const auto& entry : std::filesystem::directory_iterator(folder_.path())) mode(entry.path(), 0444);
    mode(folder_.path(), 0555);
    const auto before = contents(folder_.path());
    const auto read = unprivileged(OpenMode::kRead);
    if (!read) GTEST_SKIP() << kNoDrop;
    EXPECT_EQ(*read, "results: 2") << with_index;
    EXPECT_TRUE(contents(folder_.path()) == before);
    mode(folder_.path(), 0755);
    for (const char* name : {"store.db-wal", "store.db-shm"}) std::filesystem::remove(folder_ / name);
  }
}

TEST_F(Rights, ReadOnlyFileSystem) {
  const std::string mounted = (folder_ / "medium").string();
  std::filesystem::create_directory(mounted);
  const auto said = in_child([&] { return own_mounts() && ::mount("none", mounted.c_str(), "tmpfs", 0, "size=4m") == 0; },
                             [&]() -> std::string {
                               std::filesystem::copy_file(folder_ / "store.db", mounted + "/store.db");
                               if (::mount("none", mounted.c_str(), "tmpfs", MS_REMOUNT | MS_RDONLY, nullptr) != 0)
                                 return "cannot remount";
                               const std::string read = attempt(mounted + "/store.db", OpenMode::kRead, run_);
                               return read + "; " + attempt(mounted + "/store.db", OpenMode::kWrite, run_);
                             });
  if (!said) GTEST_SKIP() << "needs the right to mount";
  EXPECT_THAT(*said, StartsWith("results: 2; cannot open"));
  EXPECT_THAT(*said, HasSubstr("Read-only file system"));
}

}  // namespace
}  // namespace hbmark::tests
