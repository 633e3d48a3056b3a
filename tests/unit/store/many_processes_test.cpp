// Writers that are killed, readers beside a writer, two writers, a lock that does not go away.
#include <SQLiteCpp/Database.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <random>
#include <set>
#include <thread>

#include "fixtures.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;

std::int64_t samples_of_case(std::int64_t index) { return 1 + (index * 37) % 200; }

// Saves a run's results until it is killed or `count` is reached, and says each case's uuid on `acknowledgements` once
// saved.
int write_results(const std::filesystem::path& file, int count, int acknowledgements) {
  auto store = Store::open(file, OpenMode::kWrite);
  if (!store) return 2;
  const RunRecord run = a_run("killed");
  if (!save_context(*store, run)) return 3;
  for (int i = 0; i < count; ++i) {
    ResultRecord result = a_result(run, i);
    result.time->samples = samples_of_case(i);
    if (!store->save_result(result, some_samples(samples_of_case(i)))) return 4;
    if (::write(acknowledgements, result.uuid.data(), result.uuid.size()) < 0) return 5;
  }
  return 0;
}

struct Writer {
  pid_t pid = -1;
  int acknowledgements = -1;
};

Writer start_writer(const std::filesystem::path& file, int count) {
  int ends[2] = {};
  EXPECT_EQ(::pipe(ends), 0);
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    ::_exit(write_results(file, count, ends[1]));
  }
  ::close(ends[1]);
  return {pid, ends[0]};
}

// Every uuid the writer was told is saved; ends when the writer has.
std::vector<std::string> acknowledged(const Writer& writer) {
  std::string all;
  char buffer[4096];
  for (ssize_t got = 0; (got = ::read(writer.acknowledgements, buffer, sizeof buffer)) > 0;)
    all.append(buffer, static_cast<std::size_t>(got));
  ::close(writer.acknowledgements);
  std::vector<std::string> uuids;
  for (std::size_t at = 0; at + 36 <= all.size(); at += 36) uuids.push_back(all.substr(at, 36));
  return uuids;
}

int wait_for(const Writer& writer) {
  int status = 0;
  ::waitpid(writer.pid, &status, 0);
  return status;
}

// Adds every result's uuid to `seen`; each must have exactly its samples.
void check_whole(const Store& store, std::set<std::string>& seen) {
  const auto runs = store.runs();
  ASSERT_TRUE(runs) << text_of(runs.error());
  for (const RunRecord& run : *runs) {
    const auto results = store.results(run.uuid);
    ASSERT_TRUE(results) << text_of(results.error());
    for (const ResultRecord& result : *results) {
      const auto samples = store.samples(result.uuid);
      ASSERT_TRUE(samples) << text_of(samples.error());
      ASSERT_EQ(static_cast<std::int64_t>(samples->size()), samples_of_case(result.case_index));
      seen.insert(result.uuid);
    }
  }
}

TEST(ManyProcesses, AKilledWriterLosesNothingItWasToldIsSaved) {
  constexpr int kKills = 20;
  constexpr int kEndless = 1'000'000;
  std::mt19937 random(20261130);
  std::uniform_int_distribution<int> delay_us(0, 120'000);
  TempFolder folder;
  const auto file = folder / "store.db";
  std::size_t acknowledged_results = 0;
  for (int kill = 0; kill < kKills; ++kill) {
    SCOPED_TRACE(kill);
    if (kill % 5 == 0) {
      // A new file now and then: the kill may come while it is made.
      for (const auto& entry : std::filesystem::directory_iterator(folder.path())) std::filesystem::remove(entry.path());
    }
    const Writer writer = start_writer(file, kEndless);
    std::this_thread::sleep_for(std::chrono::microseconds(delay_us(random)));
    ASSERT_EQ(::kill(writer.pid, SIGKILL), 0);
    const auto uuids = acknowledged(writer);
    ASSERT_TRUE(WIFSIGNALED(wait_for(writer)));
    acknowledged_results += uuids.size();

    std::set<std::string> seen;
    if (!uuids.empty()) {  // before anything is recovered, as `hbmark show` would come
      const auto reader = Store::open(file, OpenMode::kRead);
      ASSERT_TRUE(reader) << text_of(reader.error());
      ASSERT_NO_FATAL_FAILURE(check_whole(*reader, seen));
      for (const std::string& uuid : uuids) EXPECT_TRUE(seen.contains(uuid)) << "lost " << uuid;
    }
    const auto store = Store::open(file, OpenMode::kWrite);
    ASSERT_TRUE(store) << text_of(store.error());
    EXPECT_EQ(integrity(file), "ok");
    seen.clear();
    ASSERT_NO_FATAL_FAILURE(check_whole(*store, seen));
    for (const std::string& uuid : uuids) EXPECT_TRUE(seen.contains(uuid)) << "lost " << uuid;
  }
  EXPECT_GT(acknowledged_results, 0U) << "no writer got as far as one result: the test tells nothing";
}

TEST(ManyProcesses, AReaderBesideAWriter) {
  TempFolder folder;
  make_store(folder / "store.db", 0);
  // Opened before the writer comes, while the file is at rest.
  const auto reader = Store::open(folder / "store.db", OpenMode::kRead);
  ASSERT_TRUE(reader) << text_of(reader.error());
  constexpr int kResults = 60;
  const Writer writer = start_writer(folder / "store.db", kResults);
  std::size_t most = 0;
  int status = 0;
  while (::waitpid(writer.pid, &status, WNOHANG) == 0) {
    std::set<std::string> seen;
    ASSERT_NO_FATAL_FAILURE(check_whole(*reader, seen));
    EXPECT_GE(seen.size(), most) << "results went away";
    most = seen.size();
    std::set<std::string> seen_by_new;
    const auto newcomer = Store::open(folder / "store.db", OpenMode::kRead);
    ASSERT_TRUE(newcomer) << text_of(newcomer.error());
    ASSERT_NO_FATAL_FAILURE(check_whole(*newcomer, seen_by_new));
    EXPECT_GE(seen_by_new.size(), most);
  }
  ASSERT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  EXPECT_EQ(acknowledged(writer).size(), static_cast<std::size_t>(kResults));
  std::set<std::string> seen;
  check_whole(*reader, seen);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kResults));
}

TEST(ManyProcesses, WritersThatComeAtOnceToANewFile) {
  TempFolder folder;
  constexpr int kWriters = 4, kResults = 10;
  std::vector<Writer> writers;
  for (int i = 0; i < kWriters; ++i) writers.push_back(start_writer(folder / "store.db", kResults));
  for (const Writer& writer : writers) {
    EXPECT_EQ(acknowledged(writer).size(), static_cast<std::size_t>(kResults));
    const int status = wait_for(writer);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  const auto store = Store::open(folder / "store.db", OpenMode::kRead);
  ASSERT_TRUE(store) << text_of(store.error());
  std::set<std::string> seen;
  check_whole(*store, seen);
  EXPECT_EQ(seen.size(), static_cast<std::size_t>(kWriters * kResults));
}

TEST(ManyProcesses, ALockIsWaitedForAndThenTold) {
  TempFolder folder;
  const RunRecord run = make_store(folder / "store.db");
  auto store = Store::open(folder / "store.db", OpenMode::kWrite, std::chrono::milliseconds(120)).value();
  SQLite::Database other((folder / "store.db").string(), SQLite::OPEN_READWRITE);
  other.exec("BEGIN IMMEDIATE");

  const auto before = std::chrono::steady_clock::now();
  const Status saved = store.save_result(a_result(run, 7), some_samples(2));
  ASSERT_FALSE(saved);
  EXPECT_GE(std::chrono::steady_clock::now() - before, std::chrono::milliseconds(100));  // it did wait
  EXPECT_EQ(saved.error().kind, ErrorKind::kBusy);
  EXPECT_THAT(saved.error().why, HasSubstr("another process has kept it locked for 0.12 s"));
  const auto opened = Store::open(folder / "store.db", OpenMode::kWrite, std::chrono::milliseconds(20));
  ASSERT_FALSE(opened);
  EXPECT_THAT(opened.error().why, HasSubstr("locked"));
  EXPECT_EQ(store.results(run.uuid)->size(), 2U);  // readers need not wait
  EXPECT_EQ(Store::open(folder / "store.db", OpenMode::kRead)->results(run.uuid)->size(), 2U);

  std::thread release([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    other.exec("COMMIT");
  });
  auto patient = Store::open(folder / "store.db", OpenMode::kWrite);
  release.join();
  ASSERT_TRUE(patient) << text_of(patient.error());
  EXPECT_TRUE(patient->save_result(a_result(run, 7), some_samples(2)));
  EXPECT_TRUE(store.save_result(a_result(run, 8), some_samples(2)));
}

TEST(ManyProcesses, AStoreReplacedUnderAReader) {
  TempFolder folder;
  make_store(folder / "store.db");
  const auto reader = Store::open(folder / "store.db", OpenMode::kRead).value();
  const RunRecord other = make_store(folder / "other.db", 5);
  std::filesystem::rename(folder / "other.db", folder / "store.db");
  EXPECT_EQ(reader.results(other.uuid)->size(), 5U);
  std::filesystem::remove(folder / "store.db");
  const auto gone = reader.runs();
  ASSERT_FALSE(gone);
  EXPECT_THAT(gone.error().why, HasSubstr("there is no such file"));
}

}  // namespace
}  // namespace hbmark::tests
