// What the loader takes and what it refuses, and that refusing one file costs no other.
#include "backends/loader/loader.h"

#include <gmock/gmock.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <map>

#include "backends/abi/kernel.h"
#include "backends/loader/members.h"
#include "backends/loader/open_file.h"
#include "tests/contract/temp_folder.h"

namespace hbmark {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const fs::path kHostile = HBMARK_HOSTILE_DIR;

class Loader : public testing::Test {
 protected:
  void SetUp() override {
    unsetenv("HBMARK_BACKEND_PATH");
    fs::create_directories(folder());
  }
  void TearDown() override { unsetenv("HBMARK_BACKEND_PATH"); }

  fs::path folder() const { return temp_.path() / "plugins"; }
  // A program beside which there is nothing.
  fs::path program() const { return temp_.path() / "nowhere" / "bin" / "hbmark"; }
  fs::path place(const std::string& name, const std::string& as = "") {
    const fs::path target = folder() / ("hbmark_" + (as.empty() ? name : as) + ".so");
    fs::copy_file(kHostile / ("hbmark_" + name + ".so"), target);
    fs::permissions(target, fs::perms::owner_read | fs::perms::owner_write | fs::perms::owner_exec);
    return target;
  }
  LoadReport load() { return load_backends({folder()}, program()); }

  static std::vector<std::string> names(const LoadReport& report) {
    std::vector<std::string> result;
    for (const auto& backend : report.backends) result.push_back(backend.name);
    return result;
  }
  static std::string reason(const LoadReport& report, const fs::path& file) {
    for (const auto& rejected : report.rejected) {
      if (rejected.file == file) return rejected.reason;
    }
    return "(not rejected)";
  }

  tests::TempFolder temp_;
};

TEST_F(Loader, LoadsAGoodPluginAndSaysWhatItIs) {
  const fs::path file = place("good");
  const LoadReport report = load();
  ASSERT_EQ(report.backends.size(), 1u);
  const LoadedBackend& good = report.backends[0];
  EXPECT_EQ(good.file, file);
  EXPECT_EQ(good.name, "good");
  EXPECT_EQ(good.version, "1.2.3");
  EXPECT_EQ(good.summary, "a plugin of the tests");
  EXPECT_EQ(good.table->capability("hbmark.gemm/1"), nullptr);
  EXPECT_THAT(report.searched, Contains(folder()));
}

TEST_F(Loader, RejectsEveryHostilePluginWithItsReasonAndLoadsTheGoodOne) {
  const std::map<std::string, std::string> expected = {
      {"no_symbol", "does not export hbmark_backend_v1"},
      {"other_abi", "built for contract 1.4, this hbmark speaks 0.1: rebuild it"},
      {"null_table", "returned no table"},
      {"null_name", "no name"},
      {"null_open", "no open"},
      {"bad_name", "a backend's name is of a-z, 0-9 and _"},
      {"tiny", "4 bytes"},
      {"garbage", "3735928559 bytes"},
      {"prints", "prints \"Welcome to PRINTS(tm)!\""},
      {"crashes", "signal 4"},
      {"exits", "exit status 3"},
      {"needs_absent", "contract_absent"},
  };
  place("good");
  for (const auto& [name, reason] : expected) place(name);
  testing::internal::CaptureStdout();
  const LoadReport report = load();
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_THAT(names(report), ElementsAre("good"));
  for (const auto& [name, text] : expected) {
    EXPECT_THAT(reason(report, folder() / ("hbmark_" + name + ".so")), HasSubstr(text)) << name;
  }
}

TEST_F(Loader, EveryHostilePluginHasATest) {
  // A new file in tests/contract/plugins must be named above or below, or it tests nothing.
  std::ifstream in(fs::path(HBMARK_SOURCE_DIR) / "tests/contract/loader_test.cpp");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  int plugins = 0;
  for (const auto& entry : fs::directory_iterator(fs::path(HBMARK_SOURCE_DIR) / "tests/contract/plugins")) {
    if (entry.path().extension() != ".c" || entry.path().stem() == "absent") continue;
    ++plugins;
    EXPECT_THAT(text, HasSubstr("\"" + entry.path().stem().string() + "\"")) << entry.path();
  }
  EXPECT_GT(plugins, 10);
}

TEST_F(Loader, NoticesAHangInAConstructor) {
  const loader::Trial trial = loader::try_plugin(place("hangs"), std::chrono::milliseconds(200));
  EXPECT_THAT(trial.fault, HasSubstr("it hangs"));
}

TEST_F(Loader, RejectsWhatIsNoSharedObject) {
  place("good");
  const auto file = [&](const char* name) { return folder() / (std::string("hbmark_") + name + ".so"); };
  std::ofstream(file("text")) << "#!/bin/sh\necho hello\n";
  std::ofstream(file("empty"));
  std::ofstream(file("magic"), std::ios::binary) << "\177ELF";
  const auto size = fs::file_size(kHostile / "hbmark_good.so");
  for (const auto& [name, part] : std::map<std::string, double>{{"header", 0.005}, {"tenth", 0.1}}) {
    fs::copy_file(kHostile / "hbmark_good.so", file(name.c_str()));
    fs::resize_file(file(name.c_str()), static_cast<std::uintmax_t>(static_cast<double>(size) * part));
  }
  fs::create_directory(file("folder"));
  const LoadReport report = load();
  EXPECT_THAT(names(report), ElementsAre("good"));
  EXPECT_THAT(reason(report, file("text")), HasSubstr("not a shared object"));
  EXPECT_THAT(reason(report, file("empty")), HasSubstr("not a shared object"));
  EXPECT_THAT(reason(report, file("magic")), HasSubstr("cut off"));
  EXPECT_THAT(reason(report, file("header")), HasSubstr("cut off"));
  EXPECT_THAT(reason(report, file("tenth")), HasSubstr("cut off"));
  EXPECT_THAT(reason(report, file("folder")), HasSubstr("not a regular file"));
}

TEST_F(Loader, RejectsAnElfFileOfAnotherProcessor) {
  const fs::path file = place("good");
  std::fstream stream(file, std::ios::binary | std::ios::in | std::ios::out);
  stream.seekp(18);  // e_machine
  stream.put(2).put(0);
  stream.close();
  EXPECT_THAT(reason(load(), file), HasSubstr("another kind of processor"));
}

TEST_F(Loader, RejectsWhatAnybodyMayWrite) {
  place("good");
  const fs::path file = place("same_name");
  fs::permissions(file, fs::perms::all);
  const LoadReport report = load();
  EXPECT_THAT(names(report), ElementsAre("good"));
  EXPECT_THAT(reason(report, file), AllOf(HasSubstr("any user may write this file"), HasSubstr("chmod o-w")));

  fs::permissions(folder(), fs::perms::all | fs::perms::sticky_bit);
  EXPECT_THAT(names(load()), IsEmpty());
  EXPECT_THAT(reason(load(), folder()), HasSubstr("any user may write this folder"));
}

TEST_F(Loader, RejectsAFolderThatAnybodyMayReplace) {
  place("good");
  fs::permissions(temp_.path(), fs::perms::all);
  EXPECT_THAT(reason(load(), folder()), HasSubstr("any user may replace it"));
  fs::permissions(temp_.path(), fs::perms::owner_all);
  EXPECT_THAT(names(load()), ElementsAre("good"));
}

TEST_F(Loader, RejectsWhatBelongsToSomebodyElse) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can give a file away";
  place("good");
  const fs::path file = place("same_name");
  constexpr uid_t kNobody = 65534;
  ASSERT_EQ(chown(file.c_str(), kNobody, kNobody), 0);
  const LoadReport report = load();
  EXPECT_THAT(names(report), ElementsAre("good"));
  EXPECT_THAT(reason(report, file), HasSubstr("belongs to user 65534"));
  ASSERT_EQ(chown(folder().c_str(), kNobody, kNobody), 0);
  EXPECT_THAT(reason(load(), folder()), HasSubstr("belongs to user 65534"));
}

TEST_F(Loader, FollowsALinkToWhereTheFileReallyLies) {
  const fs::path elsewhere = temp_.path() / "elsewhere";
  fs::create_directory(elsewhere);
  fs::rename(place("good"), elsewhere / "hbmark_good.so");
  fs::create_symlink(elsewhere / "hbmark_good.so", folder() / "hbmark_good.so");
  EXPECT_THAT(names(load()), ElementsAre("good"));
  fs::permissions(elsewhere, fs::perms::all);
  const LoadReport report = load();
  EXPECT_THAT(names(report), IsEmpty());
  EXPECT_THAT(reason(report, folder() / "hbmark_good.so"), HasSubstr("it is a link into"));
}

TEST_F(Loader, TheFirstOfTwoWithOneNameWins) {
  const fs::path first = place("good", "a");
  const fs::path second = place("same_name", "b");
  const LoadReport report = load();
  ASSERT_EQ(report.backends.size(), 1u);
  EXPECT_EQ(report.backends[0].file, first);
  EXPECT_THAT(reason(report, second), AllOf(HasSubstr("shadowed"), HasSubstr(first.string())));
}

TEST_F(Loader, SearchesGivenPathsThenTheEnvironmentThenBesideTheProgram) {
  const auto make = [&](const fs::path& where) {
    fs::create_directories(where);
    fs::copy_file(kHostile / "hbmark_good.so", where / "hbmark_good.so");
    fs::permissions(where / "hbmark_good.so", fs::perms::owner_all);
    return where;
  };
  const fs::path environment = make(temp_.path() / "environment");
  const fs::path beside = make(temp_.path() / "home/lib/hbmark/backends");
  const fs::path home_program = temp_.path() / "home/bin/hbmark";
  place("good");
  setenv("HBMARK_BACKEND_PATH", (":" + environment.string() + "::").c_str(), 1);
  LoadReport report = load_backends({folder()}, home_program);
  EXPECT_THAT(report.searched, ElementsAre(folder(), environment, beside));
  ASSERT_EQ(report.backends.size(), 1u);
  EXPECT_EQ(report.backends[0].file.parent_path(), folder());
  report = load_backends({}, home_program);
  ASSERT_EQ(report.backends.size(), 1u);
  EXPECT_EQ(report.backends[0].file.parent_path(), environment);
  unsetenv("HBMARK_BACKEND_PATH");
  report = load_backends({}, home_program);
  ASSERT_EQ(report.backends.size(), 1u);
  EXPECT_EQ(report.backends[0].file.parent_path(), beside);
}

TEST_F(Loader, AFolderNamedTwiceIsReadOnce) {
  place("good");
  const LoadReport report = load_backends({folder(), folder() / "." / ""}, program());
  EXPECT_EQ(report.backends.size(), 1u);
  for (const auto& rejected : report.rejected) EXPECT_THAT(rejected.reason, Not(HasSubstr("shadowed"))) << rejected.file;
}

TEST_F(Loader, LooksAtNoMoreThanTheFilesThatAreNamed) {
  place("good");
  const fs::path file = load().backends.at(0).file;
  std::ofstream(fs::path(folder()) / "hbmark_beside.so") << "no plugin";
  const LoadReport report = load_backend_files({file});
  ASSERT_EQ(report.backends.size(), 1u);
  EXPECT_THAT(report.rejected, testing::IsEmpty());
  const LoadReport gone = load_backend_files({fs::path(folder()) / "hbmark_gone.so"});
  EXPECT_THAT(gone.backends, testing::IsEmpty());
  EXPECT_EQ(gone.rejected.size(), 1u);
}

TEST_F(Loader, NeverLoadsFromTheWorkingDirectoryUnasked) {
  place("good");
  const fs::path before = fs::current_path();
  fs::current_path(folder());
  setenv("HBMARK_BACKEND_PATH", ".:", 1);
  const LoadReport from_environment = load_backends({}, program());
  const LoadReport unasked = (unsetenv("HBMARK_BACKEND_PATH"), load_backends({fs::path()}, program()));
  const LoadReport asked = load_backends({"../plugins"}, program());
  fs::current_path(before);
  EXPECT_THAT(names(from_environment), IsEmpty());
  EXPECT_THAT(reason(from_environment, "."), HasSubstr("relative folder in HBMARK_BACKEND_PATH"));
  EXPECT_THAT(names(unasked), IsEmpty());
  EXPECT_THAT(reason(unasked, ""), HasSubstr("--backend-path is empty"));
  EXPECT_THAT(names(asked), ElementsAre("good"));
  EXPECT_THAT(asked.searched, Contains(folder()));
}

TEST_F(Loader, SaysWhatIsWrongWithAPlaceThatIsNone) {
  const fs::path absent = temp_.path() / "absent";
  const fs::path file = place("good");
  const LoadReport report = load_backends({absent, file}, program());
  EXPECT_THAT(reason(report, absent), HasSubstr("No such file"));
  EXPECT_THAT(reason(report, file), HasSubstr("not a folder"));
}

TEST_F(Loader, OtherFilesAreLeftAlone) {
  place("good");
  std::ofstream(folder() / "README") << "hello";
  fs::copy_file(kHostile / "hbmark_crashes.so", folder() / "libcrashes.so.2");
  fs::copy_file(kHostile / "hbmark_crashes.so", folder() / "crashes.so");
  const LoadReport report = load();
  EXPECT_THAT(names(report), ElementsAre("good"));
  EXPECT_EQ(reason(report, folder() / "README"), "(not rejected)");
  EXPECT_EQ(reason(report, folder() / "libcrashes.so.2"), "(not rejected)");
  EXPECT_THAT(reason(report, folder() / "crashes.so"), HasSubstr("named hbmark_NAME.so"));
}

TEST_F(Loader, TakesAnOlderAndANewerLayout) {
  place("older");
  place("newer");
  const LoadReport report = load();
  ASSERT_THAT(names(report), ElementsAre("newer", "older"));
  for (const LoadedBackend& backend : report.backends) {
    ASSERT_NE(backend.table->capability, nullptr) << backend.name;
    EXPECT_EQ(backend.table->capability("hbmark.gemm/1"), nullptr) << backend.name;
    EXPECT_LE(backend.table->struct_size, sizeof(hbmark_backend)) << backend.name;
  }
}

// A table of `size` bytes right before a page that nobody may read.
template <class T>
class AtPageEnd {
 public:
  AtPageEnd(const T& value, std::uint32_t size) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    pages_ = static_cast<char*>(mmap(nullptr, 2 * page_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    mprotect(pages_ + page_, page_, PROT_NONE);
    T copy = value;
    copy.struct_size = size;
    std::memcpy(pages_ + page_ - size, static_cast<const void*>(&copy), size);
    table_ = reinterpret_cast<const T*>(pages_ + page_ - size);
  }
  ~AtPageEnd() { munmap(pages_, 2 * page_); }
  AtPageEnd(const AtPageEnd&) = delete;
  AtPageEnd& operator=(const AtPageEnd&) = delete;
  const T* table() const { return table_; }

 private:
  std::size_t page_;
  char* pages_;
  const T* table_;
};

const hbmark_kernel* short_kernel = nullptr;

TEST(Members, ALongerReaderSeesNullWhereAnOlderTableEnds) {
  hbmark_kernel kernel{};
  kernel.run = [](hbmark_case*, std::uint64_t, hbmark_status*) -> std::int32_t { return 7; };
  kernel.convert = [](hbmark_case*, std::uint64_t, hbmark_status*) -> std::int32_t { return 8; };
  kernel.release = [](hbmark_case*) {};
  const AtPageEnd<hbmark_kernel> older(kernel, offsetof(hbmark_kernel, convert));
  const hbmark_kernel seen = completed(older.table());
  EXPECT_EQ(seen.struct_size, offsetof(hbmark_kernel, convert));
  ASSERT_NE(seen.run, nullptr);
  EXPECT_EQ(seen.run(nullptr, 1, nullptr), 7);
  EXPECT_EQ(seen.convert, nullptr);
  EXPECT_EQ(seen.info, nullptr);
  EXPECT_EQ(seen.release, nullptr);

  hbmark_backend backend{};
  short_kernel = older.table();
  backend.capability = [](const char* id) -> const void* {
    return std::string(id) == "hbmark.gemm/1" ? short_kernel : nullptr;
  };
  ASSERT_TRUE(find_capability<hbmark_kernel>(backend, "hbmark.gemm/1").has_value());
  EXPECT_EQ(find_capability<hbmark_kernel>(backend, "hbmark.gemm/1")->release, nullptr);
  EXPECT_FALSE(find_capability<hbmark_kernel>(backend, "hbmark.conv/1").has_value());
}

TEST(Members, WhatANewerTableHasMoreIsNotCopied) {
  hbmark_timer timer{};
  timer.struct_size = sizeof timer + 800;
  EXPECT_EQ(completed(&timer).struct_size, sizeof timer);
}

}  // namespace
}  // namespace hbmark
