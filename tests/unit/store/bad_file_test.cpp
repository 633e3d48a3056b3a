// Every file that is no store of ours: refused with words that help, and left as it was, byte for byte.
#include <SQLiteCpp/Database.h>
#include <fcntl.h>
#include <gmock/gmock.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>

#include "fixtures.h"
#include "results/store/schema.h"

namespace hbmark::tests {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;

std::string refusal(const std::filesystem::path& file, OpenMode mode) {
  const auto store = Store::open(file, mode, std::chrono::milliseconds(50));
  if (store) return "opened";
  EXPECT_EQ(store.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(store.error().what, HasSubstr(file.string()));
  EXPECT_FALSE(store.error().why.empty());
  EXPECT_FALSE(store.error().next.empty());
  return store.error().why + " / " + store.error().next;
}

// Both modes refuse with `words`, and the folder is the same afterwards.
void expect_refused_untouched(const TempFolder& folder, const std::string& name, const std::string& words) {
  const auto before = contents(folder.path());
  EXPECT_THAT(refusal(folder / name, OpenMode::kRead), HasSubstr(words));
  EXPECT_TRUE(contents(folder.path()) == before) << "reading changed the folder";
  EXPECT_THAT(refusal(folder / name, OpenMode::kWrite), HasSubstr(words));
  EXPECT_TRUE(contents(folder.path()) == before) << "opening for writing changed the folder";
}

void sql(const std::filesystem::path& file, const std::string& text) {
  SQLite::Database(file.string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE).exec(text);
}

TEST(BadFile, Directory) {
  TempFolder folder;
  std::filesystem::create_directory(folder / "store.db");
  expect_refused_untouched(folder, "store.db", "it is a directory");
  EXPECT_THAT(refusal(folder.path() / "store.db/", OpenMode::kWrite), HasSubstr("it is a directory"));
}

TEST(BadFile, AbsentFileAndAbsentFolder) {
  TempFolder folder;
  EXPECT_THAT(refusal(folder / "store.db", OpenMode::kRead), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal(folder.path() / "no" / "store.db", OpenMode::kRead), HasSubstr("there is no such file"));
  EXPECT_THAT(refusal(folder.path() / "no" / "store.db", OpenMode::kWrite), HasSubstr("mkdir -p"));
  EXPECT_TRUE(contents(folder.path()).empty());
}

TEST(BadFile, AFileWhereAFolderShouldBe) {
  TempFolder folder;
  write_file(folder / "file", "x");
  EXPECT_THAT(refusal(folder.path() / "file" / "store.db", OpenMode::kWrite), HasSubstr("Not a directory"));
  EXPECT_THAT(refusal(folder.path() / "file" / "store.db", OpenMode::kRead), HasSubstr("Not a directory"));
}

TEST(BadFile, OddNames) {
  EXPECT_EQ(Store::open("", OpenMode::kWrite).error().kind, ErrorKind::kUsage);
  EXPECT_EQ(Store::open(std::string("a\0b", 3), OpenMode::kWrite).error().kind, ErrorKind::kUsage);
  TempFolder folder;
  EXPECT_THAT(refusal(folder / std::string(300, 'x'), OpenMode::kRead), HasSubstr("File name too long"));
  EXPECT_THAT(refusal(folder / std::string(300, 'x'), OpenMode::kWrite),
              AnyOf(HasSubstr("File name too long"), HasSubstr("unable to open")));
  for (const char* name : {"a b?c#d%41.db", "file:x.db?mode=memory", ":memory:", "é\xff.db", "-x.db"}) {
    const RunRecord run = make_store(folder / name);
    ASSERT_TRUE(std::filesystem::is_regular_file(folder / name)) << name;
    const auto store = Store::open(folder / name, OpenMode::kRead);
    ASSERT_TRUE(store) << text_of(store.error());
    EXPECT_EQ(store->results(run.uuid).value().size(), 2U) << name;
  }
}

TEST(BadFile, DeviceAndPipe) {
  EXPECT_THAT(refusal("/dev/full", OpenMode::kWrite), HasSubstr("not a file"));
  EXPECT_THAT(refusal("/dev/null", OpenMode::kRead), HasSubstr("not a file"));
  TempFolder folder;
  ASSERT_EQ(::mkfifo((folder / "store.db").c_str(), 0600), 0);
  EXPECT_THAT(refusal(folder / "store.db", OpenMode::kRead), HasSubstr("not a file"));  // and does not wait for a writer
  EXPECT_THAT(refusal(folder / "store.db", OpenMode::kWrite), HasSubstr("not a file"));
}

TEST(BadFile, DanglingAndLoopingLinks) {
  TempFolder folder;
  std::filesystem::create_symlink(folder / "loop.db", folder / "loop.db");
  EXPECT_THAT(refusal(folder / "loop.db", OpenMode::kRead), HasSubstr("symbolic links"));
  EXPECT_NE(refusal(folder / "loop.db", OpenMode::kWrite), "opened");
  make_store(folder / "real.db");
  std::filesystem::create_symlink(folder / "real.db", folder / "link.db");
  EXPECT_TRUE(Store::open(folder / "link.db", OpenMode::kWrite));
  EXPECT_TRUE(Store::open(folder / "link.db", OpenMode::kRead));
}

TEST(BadFile, NotSqlite) {
  TempFolder folder;
  for (const std::string& content :
       {std::string("hello\n"), std::string(5000, 'x'), std::string("SQLite format 3\0", 16),
        std::string("SQLite format 3\0", 16) + std::string(84, '\0'), std::string("SQLite"), std::string(8192, '\0')}) {
    write_file(folder / "store.db", content);
    expect_refused_untouched(folder, "store.db", "it was left as it is");
  }
}

TEST(BadFile, EmptyFileIsANewStore) {
  TempFolder folder;
  write_file(folder / "store.db", "");
  EXPECT_THAT(refusal(folder / "store.db", OpenMode::kRead), HasSubstr("it is empty"));
  EXPECT_TRUE(contents(folder.path())["store.db"].empty());
  make_store(folder / "store.db");
  EXPECT_TRUE(Store::open(folder / "store.db", OpenMode::kRead));
}

TEST(BadFile, AnotherProgramsDatabase) {
  TempFolder folder;
  sql(folder / "tables.db", "CREATE TABLE bookmarks(url TEXT); INSERT INTO bookmarks VALUES('x')");
  expect_refused_untouched(folder, "tables.db", "another program (no application id");
  sql(folder / "id.db", "PRAGMA application_id=0x0F055112; PRAGMA user_version=1");
  expect_refused_untouched(folder, "id.db", "0x0f055112");
  sql(folder / "wal.db", "PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
  expect_refused_untouched(folder, "wal.db", "another program");
  sql(folder / "version.db", "PRAGMA user_version=1; CREATE TABLE run(uuid)");
  expect_refused_untouched(folder, "version.db", "another program");
}

TEST(BadFile, AnotherProgramsDatabaseWithAnUnfinishedLog) {
  TempFolder made, folder;
  {
    SQLite::Database open((made / "wal.db").string(), SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    open.exec("PRAGMA journal_mode=WAL; CREATE TABLE t(x)");
    // As a killed process leaves them, with and without the index.
    for (const char* name : {"wal.db", "wal.db-wal"}) std::filesystem::copy_file(made / name, folder / name);
  }
  expect_refused_untouched(folder, "wal.db", "another program");
  write_file(folder / "wal.db-journal", "");
  expect_refused_untouched(folder, "wal.db", "another program");
}

TEST(BadFile, NewerSchema) {
  TempFolder folder;
  make_store(folder / "store.db");
  sql(folder / "store.db", "PRAGMA user_version=2147483647");
  expect_refused_untouched(folder, "store.db",
                           "a newer hbmark wrote it (schema 2147483647, this hbmark knows up to " +
                               std::to_string(store::migrations().back().version) + ")");
}

TEST(BadFile, NewerSchemaThatIsOnlyInTheLog) {
  TempFolder made, folder;
  make_store(made / "store.db");
  SQLite::Database open((made / "store.db").string(), SQLite::OPEN_READWRITE);
  open.exec("PRAGMA user_version=99");
  for (const char* name : {"store.db", "store.db-wal"}) std::filesystem::copy_file(made / name, folder / name);
  expect_refused_untouched(folder, "store.db", "a newer hbmark wrote it (schema 99");
}

TEST(BadFile, ImpossibleSchemaVersion) {
  TempFolder folder;
  for (const char* version : {"0", "-1"}) {
    std::filesystem::remove(folder / "store.db");
    make_store(folder / "store.db");
    sql(folder / "store.db", std::string("PRAGMA user_version=") + version);
    expect_refused_untouched(folder, "store.db", "damaged");
  }
}

TEST(BadFile, Truncated) {
  TempFolder folder;
  make_store(folder / "whole.db", 20);
  const std::string whole = read_file(folder / "whole.db");
  ASSERT_GT(whole.size(), 20000U);
  std::filesystem::remove(folder / "whole.db");
  for (const std::size_t size :
       {std::size_t{1}, std::size_t{50}, std::size_t{99}, std::size_t{100}, std::size_t{512}, std::size_t{4095},
        std::size_t{4096}, std::size_t{9000}, whole.size() / 2, whole.size() - 1}) {
    write_file(folder / "store.db", whole.substr(0, size));
    SCOPED_TRACE(size);
    const auto before = contents(folder.path());
    EXPECT_THAT(refusal(folder / "store.db", OpenMode::kWrite), HasSubstr("it was left as it is"));
    EXPECT_THAT(refusal(folder / "store.db", OpenMode::kRead), HasSubstr("it was left as it is"));
    EXPECT_TRUE(contents(folder.path()) == before);
  }
}

TEST(BadFile, DamagedInTheMiddle) {
  TempFolder folder;
  make_store(folder / "store.db", 20);
  std::string content = read_file(folder / "store.db");
  for (std::size_t at = 4096; at + 8 < content.size(); at += 4096)
    content.replace(at, 8, "\xff\xff\xff\xff\xff\xff\xff\xff");
  write_file(folder / "store.db", content);
  const auto before = contents(folder.path());
  EXPECT_THAT(refusal(folder / "store.db", OpenMode::kWrite), HasSubstr("damaged"));
  const auto reader = Store::open(folder / "store.db", OpenMode::kRead);
  if (reader) {
    const auto runs = reader->runs();
    ASSERT_FALSE(runs);
    EXPECT_THAT(runs.error().next, HasSubstr(".recover"));
  }
  EXPECT_TRUE(contents(folder.path()) == before);
}

TEST(BadFile, ARowThisVersionCannotRead) {
  TempFolder folder;
  const RunRecord run = make_store(folder / "store.db");
  sql(folder / "store.db", "UPDATE result SET outcome = 'exploded' WHERE case_index = 1");
  auto store = Store::open(folder / "store.db", OpenMode::kRead).value();
  const auto results = store.results(run.uuid);
  ASSERT_FALSE(results);
  EXPECT_THAT(results.error().why, HasSubstr("exploded"));
  sql(folder / "store.db", "UPDATE result SET outcome = 'ok', pages = '{\"x\":1}'");
  EXPECT_THAT(store.results(run.uuid).error().why, HasSubstr("pages"));
  sql(folder / "store.db", "UPDATE result SET pages = 'not json'");
  EXPECT_THAT(store.results(run.uuid).error().why, HasSubstr("pages"));
}

}  // namespace
}  // namespace hbmark::tests
