#include <gmock/gmock.h>

#include "fixtures.h"
#include "results/store/find.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::vector<RunRecord> three_runs() {
  std::vector<RunRecord> runs(3);
  runs[0].uuid = "abcd1234-0000-4000-8000-000000000003";
  runs[0].started_at = "2026-11-30T12:00:00Z";
  runs[1].uuid = "abcd9999-0000-4000-8000-000000000002";
  runs[1].label = "flat";
  runs[1].started_at = "2026-11-30T11:00:00Z";
  runs[2].uuid = "beef0000-0000-4000-8000-000000000001";
  runs[2].label = "flat";
  runs[2].started_at = "2026-11-30T10:00:00Z";
  return runs;
}
Result<RunRecord> find(const std::string& name) { return store::find_run(three_runs(), name, "node.db"); }

TEST(FindRun, ByEveryName) {
  EXPECT_EQ(find("last")->uuid, three_runs()[0].uuid);
  EXPECT_EQ(find("beef")->uuid, three_runs()[2].uuid);
  EXPECT_EQ(find("BEEF0000-0000")->uuid, three_runs()[2].uuid);
  EXPECT_EQ(find("abcd9")->uuid, three_runs()[1].uuid);
  EXPECT_EQ(find("flat")->uuid, three_runs()[1].uuid);  // the newest of that label
  EXPECT_EQ(find(three_runs()[2].uuid)->uuid, three_runs()[2].uuid);
}

TEST(FindRun, AmbiguousNamesTheCandidates) {
  const auto found = find("abcd");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(found.error().why, HasSubstr(three_runs()[0].uuid));
  EXPECT_THAT(found.error().why, HasSubstr(three_runs()[1].uuid));
  EXPECT_THAT(found.error().why, Not(HasSubstr(three_runs()[2].uuid)));
}

TEST(FindRun, ALabelThatLooksLikeAnId) {
  auto runs = three_runs();
  runs[1].label = "beef";
  const auto both = store::find_run(runs, "beef", "node.db");
  ASSERT_FALSE(both);
  EXPECT_THAT(both.error().why, HasSubstr(runs[1].uuid));
  EXPECT_THAT(both.error().why, HasSubstr(runs[2].uuid));
  runs[2].label = "beef";
  runs[1].label = "";
  EXPECT_EQ(store::find_run(runs, "beef", "node.db")->uuid, runs[2].uuid);  // both ways lead to one run
  runs[2].label = "abc";
  EXPECT_EQ(store::find_run(runs, "abc", "node.db")->uuid, runs[2].uuid);  // too short for an id: a label
}

TEST(FindRun, UnknownSaysWhatThereIs) {
  for (const char* name : {"nonsense", "cafe", "%", "ab%d", "Flat", "abc"}) {
    const auto found = find(name);
    ASSERT_FALSE(found) << name;
    EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(found.error().next, HasSubstr("beef0000"));
    EXPECT_THAT(found.error().next, HasSubstr("flat"));
  }
  EXPECT_THAT(find("abc").error().why, HasSubstr("at least 4 digits"));
}

TEST(FindRun, ManyCandidatesAreCounted) {
  std::vector<RunRecord> runs(9);
  for (RunRecord& run : runs) run.uuid = new_uuid();
  EXPECT_THAT(store::find_run(runs, "nonsense", "node.db").error().next, HasSubstr("and 6 more"));
}

TEST(FindRun, EmptyNameMatchesNoUnlabelledRun) {
  const auto found = find("");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kUsage);
}

TEST(FindRun, EmptyStore) {
  const auto found = store::find_run({}, "last", "node.db");
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().kind, ErrorKind::kNothingRan);
  EXPECT_THAT(found.error().why, HasSubstr("node.db"));
}

TEST(FindRun, NewestFirstFromTheStore) {
  TempFolder folder;
  auto store = Store::open(folder / "store.db", OpenMode::kWrite).value();
  RunRecord runs[3] = {a_run("a"), a_run("b"), a_run("c")};
  runs[0].started_at = "2026-11-30T20:00:00Z";
  runs[1].started_at = "2026-11-30T22:00:00Z";
  runs[2].started_at = "2026-11-30T21:00:00Z";
  for (const RunRecord& run : runs) ASSERT_TRUE(save_context(store, run));
  EXPECT_EQ(store.runs().value(), (std::vector<RunRecord>{runs[1], runs[2], runs[0]}));
  EXPECT_EQ(store.find_run("last").value(), runs[1]);
  EXPECT_EQ(store.find_run(runs[0].uuid.substr(0, 8)).value(), runs[0]);
}

}  // namespace
}  // namespace hbmark::tests
