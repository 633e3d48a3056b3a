#include "bench/measure/effective_clock.h"

#include <gmock/gmock.h>

namespace hbmark {
namespace {

TEST(EffectiveClock, IsACoresClockOrSaysWhyNot) {
  const ClockReading reading = effective_clock();
#if defined(__x86_64__)
  ASSERT_TRUE(reading.hz) << reading.note;
  // From the slowest that x86-64 servers idle at to beyond any that is sold. A chain that a compiler or core had shortened
  // would be out of it: half the additions are twice the clock.
  EXPECT_GT(*reading.hz, 0.2e9);
  EXPECT_LT(*reading.hz, 8e9);
  EXPECT_EQ(reading.note, "");
#else
  EXPECT_FALSE(reading.hz);
  EXPECT_NE(reading.note, "");
#endif
}

TEST(EffectiveClock, ALowerClockIsThrottledWheneverItFell) {
  EXPECT_FALSE(is_throttled(3e9, 3e9, 3e9));
  EXPECT_TRUE(is_throttled(3e9, 3e9, 2e9)) << "during the case";
  EXPECT_TRUE(is_throttled(3e9, 2e9, 2e9)) << "before the case, since the worker began";
  EXPECT_TRUE(is_throttled(3e9, 2e9, 3e9)) << "recovered meanwhile";
  EXPECT_TRUE(is_throttled(std::nullopt, 3e9, 2e9));
}

TEST(EffectiveClock, ATurboStepOrAFasterEndIsNotThrottled) {
  EXPECT_FALSE(is_throttled(3e9, 2.9e9, 2.8e9));
  EXPECT_FALSE(is_throttled(2e9, 2e9, 3e9));
  EXPECT_FALSE(is_throttled(2e9, 3e9, 3e9));
}

TEST(EffectiveClock, WhatIsNotKnownIsNotThrottled) {
  EXPECT_FALSE(is_throttled(3e9, std::nullopt, 1e9));
  EXPECT_FALSE(is_throttled(3e9, 3e9, std::nullopt));
  EXPECT_FALSE(is_throttled(std::nullopt, std::nullopt, std::nullopt));
}

}  // namespace
}  // namespace hbmark
