#include "bench/run/replica_window.h"

#include <gmock/gmock.h>

#include <array>

namespace hbmark {
namespace {

using testing::HasSubstr;

TEST(CommonWindow, IsFromTheLastStartToTheFirstEnd) {
  // One makes 10 calls a second from 0 to 10, the other 5 a second from 2 to 8.
  const std::array fast = {ReplicaStamp{0, 10, 100}};
  const std::array slow = {ReplicaStamp{2, 8, 30}};
  const auto window = common_window({fast, slow});
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->window_s, 6);
  EXPECT_DOUBLE_EQ(window->calls[0], 60);
  EXPECT_DOUBLE_EQ(window->calls[1], 30);
  // 15 calls a second in all: one on each of the two takes 2/15 s. A mean of the times would say 0.15 s.
  EXPECT_DOUBLE_EQ(window->call_s(), 2.0 / 15);
}

TEST(CommonWindow, CountsRunsAcrossAnEdgeByTheirShareAndPausesAsTime) {
  const std::array pausing = {ReplicaStamp{0, 4, 4}, ReplicaStamp{5, 9, 4}};
  const std::array steady = {ReplicaStamp{2, 7, 10}};
  const auto window = common_window({pausing, steady});
  ASSERT_TRUE(window);
  EXPECT_DOUBLE_EQ(window->window_s, 5);
  EXPECT_DOUBLE_EQ(window->calls[0], 4);  // 2 of the first run, 2 of the second, none from 4 to 5
  EXPECT_DOUBLE_EQ(window->calls[1], 10);
}

TEST(CommonWindow, RunsThatNeverOverlapHaveNone) {
  const std::array early = {ReplicaStamp{0, 1, 1}};
  const std::array late = {ReplicaStamp{2, 3, 1}};
  const auto window = common_window({early, late});
  ASSERT_FALSE(window);
  EXPECT_THAT(window.error().why, HasSubstr("after the first had ended"));
  EXPECT_FALSE(common_window({early, {}}));
  EXPECT_FALSE(common_window({}));
}

}  // namespace
}  // namespace hbmark
