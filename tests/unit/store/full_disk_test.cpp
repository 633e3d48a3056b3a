// A disk that fills, a size limit: an error that says so, and everything saved before is there and whole.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <signal.h>
#include <sys/mount.h>
#include <sys/resource.h>

#include "fixtures.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr int kSamples = 500;

// Saves until it fails, gives way by `make_room`, and saves on. Says how it went.
std::string fill(const std::filesystem::path& file, const std::function<void()>& make_room) {
  const RunRecord run = a_run();
  auto store = Store::open(file, OpenMode::kWrite);
  if (!store) return text_of(store.error());
  if (!save_context(*store, run)) return "no room for the context";
  Status status;
  std::size_t saved = 0;
  while (saved < 10'000 &&
         (status = store->save_result(a_result(run, static_cast<std::int64_t>(saved)), some_samples(kSamples))))
    ++saved;
  if (status) return "never full";
  const Error error = status.error();
  if (error.kind != ErrorKind::kEnvironment) return "wrong kind: " + text_of(error);
  if (saved == 0) return "nothing was saved before: " + text_of(error);

  const auto whole = [&](const Store& through) -> std::string {
    const auto results = through.results(run.uuid);
    if (!results) return text_of(results.error());
    if (results->size() != saved) return fmt::format("{} results instead of {}", results->size(), saved);
    for (const ResultRecord& result : *results) {
      const auto samples = through.samples(result.uuid);
      if (!samples || samples->size() != kSamples) return "a result is not whole";
    }
    return "";
  };
  if (const std::string fault = whole(*store); !fault.empty()) return fault;
  if (const auto again = Store::open(file, OpenMode::kRead); !again) return text_of(again.error());
  make_room();
  const Status resumed = store->save_result(a_result(run, static_cast<std::int64_t>(saved)), some_samples(kSamples));
  if (!resumed) return "with room again: " + text_of(resumed.error());
  ++saved;
  if (const std::string fault = whole(*store); !fault.empty()) return fault;
  if (const std::string verdict = integrity(file); verdict != "ok") return verdict;
  return "fine: " + text_of(error);
}

TEST(FullDisk, ADiskThatFills) {
  TempFolder folder;
  const auto said = in_child(
      [&] { return own_mounts() && ::mount("none", folder.path().c_str(), "tmpfs", 0, "size=512k") == 0; },
      [&] {
        return fill(folder / "store.db", [&] { ::mount("none", folder.path().c_str(), "tmpfs", MS_REMOUNT, "size=8m"); });
      });
  if (!said) GTEST_SKIP() << "needs the right to mount";
  EXPECT_THAT(*said, StartsWith("fine: cannot save the result"));
  EXPECT_THAT(*said, HasSubstr("the disk is full"));
  EXPECT_THAT(*said, HasSubstr("make room in " + folder.path().string()));
  EXPECT_THAT(*said, HasSubstr("what was saved before is kept"));
}

TEST(FullDisk, AlreadyFullWhenTheStoreIsMade) {
  TempFolder folder;
  const auto said =
      in_child([&] { return own_mounts() && ::mount("none", folder.path().c_str(), "tmpfs", 0, "size=64k") == 0; },
               [&] {
                 write_file(folder / "ballast", std::string(65536, 'x'));
                 const auto store = Store::open(folder / "store.db", OpenMode::kWrite);
                 return store ? std::string("opened") : text_of(store.error());
               });
  if (!said) GTEST_SKIP() << "needs the right to mount";
  EXPECT_THAT(*said, HasSubstr("the disk is full"));
  EXPECT_THAT(*said, ::testing::Not(HasSubstr("--resume"))) << "there is no run yet";
}

TEST(FullDisk, ASizeLimitOfTheProcess) {
  TempFolder folder;
  const auto limit = [](rlim_t bytes) {
    rlimit limits{};
    ::getrlimit(RLIMIT_FSIZE, &limits);
    limits.rlim_cur = bytes;
    return ::setrlimit(RLIMIT_FSIZE, &limits) == 0;
  };
  const auto said = in_child([&] { return ::signal(SIGXFSZ, SIG_IGN) != SIG_ERR && limit(300'000); },
                             [&] { return fill(folder / "store.db", [&] { limit(RLIM_INFINITY); }); });
  ASSERT_TRUE(said) << "cannot set a limit";
  EXPECT_THAT(*said, StartsWith("fine: cannot save the result"));
  EXPECT_THAT(*said, HasSubstr("size limit of this process"));
}

}  // namespace
}  // namespace hbmark::tests
