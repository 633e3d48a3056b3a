// Runs kept by a name of their own.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fixtures.h"

namespace hbmark::tests {
namespace {

using ::testing::HasSubstr;

TEST(Baseline, IsARunByAnotherName) {
  TempFolder folder;
  const RunRecord run = make_store(folder / "store.db");
  auto store = Store::open(folder / "store.db", OpenMode::kWrite);
  ASSERT_TRUE(store) << text_of(store.error());
  const auto none = store->baseline("good");
  ASSERT_FALSE(none);
  EXPECT_EQ(none.error().kind, ErrorKind::kUsage);
  EXPECT_THAT(none.error().why, HasSubstr("keeps none"));
  ASSERT_TRUE(store->save_baseline("good", run.uuid));
  ASSERT_TRUE(store->save_baseline("good", run.uuid)) << "given again";
  const auto kept = store->baseline("good");
  ASSERT_TRUE(kept) << text_of(kept.error());
  EXPECT_EQ(kept->uuid, run.uuid);
  EXPECT_THAT(store->baseline("other").error().why, HasSubstr("it keeps good"));
}

TEST(Baseline, OfNoRunIsRefused) {
  TempFolder folder;
  make_store(folder / "store.db");
  auto store = Store::open(folder / "store.db", OpenMode::kWrite);
  ASSERT_TRUE(store);
  EXPECT_FALSE(store->save_baseline("bad", "no-such-run"));
}

}  // namespace
}  // namespace hbmark::tests
