// The window against a scripted meter.
#include "bench/measure/energy_window.h"

#include <gmock/gmock.h>

#include <chrono>
#include <limits>
#include <thread>

namespace hbmark {
namespace {

using testing::HasSubstr;

struct Script {
  Result<double> used_j = 10.0;
  Status begin = {};
  std::vector<std::string> order = {};
  std::int64_t calls = 0;

  EnergyProbe probe() {
    return {"a scripted package",
            [this] {
              order.emplace_back("begin");
              return begin;
            },
            [this] {
              order.emplace_back("used");
              return used_j;
            }};
  }
  RunCalls run_calls() {
    return [this](std::int64_t count) -> Result<double> {
      if (order.empty() || order.back() != "run") order.emplace_back("run");
      calls += count;
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      return 1e-4;
    };
  }
};

TEST(EnergyWindow, IsTheMetersEnergyOverTheCallsMade) {
  Script script;
  const auto window = measure_energy(script.run_calls(), script.probe(), 1e-4, 0.01);
  ASSERT_TRUE(window) << window.error().why;
  EXPECT_EQ(window->calls, script.calls);
  EXPECT_DOUBLE_EQ(window->call_j, 10.0 / static_cast<double>(script.calls));
  EXPECT_GE(window->window_s, 0.01) << "never shorter than asked";
  EXPECT_THAT(script.order, testing::ElementsAre("begin", "run", "used")) << "nothing else is counted";
}

TEST(EnergyWindow, OneLongCallIsEnough) {
  Script script;
  const RunCalls slow = [&](std::int64_t count) -> Result<double> {
    script.calls += count;
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    return 5e-3;
  };
  const auto window = measure_energy(slow, script.probe(), 60, 1e-3);
  ASSERT_TRUE(window);
  EXPECT_EQ(window->calls, 1);
  EXPECT_DOUBLE_EQ(window->call_j, 10);
}

TEST(EnergyWindow, AMeterThatDoesNotAdvanceIsAnError) {
  for (const double joules :
       {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    Script script;
    script.used_j = joules;
    const auto window = measure_energy(script.run_calls(), script.probe(), 1e-4, 1e-3);
    ASSERT_FALSE(window) << joules;
    EXPECT_EQ(window.error().kind, ErrorKind::kEnvironment);
    EXPECT_THAT(window.error().why, HasSubstr("the meter says"));
  }
}

TEST(EnergyWindow, EveryErrorIsReturnedAsItIs) {
  Script closed;
  closed.begin = environment_error("cannot read", "no rights", "-");
  EXPECT_EQ(measure_energy(closed.run_calls(), closed.probe(), 1e-4, 1e-3).error().why, "no rights");
  EXPECT_EQ(closed.calls, 0) << "without a meter nothing is run";
  Script lost;
  lost.used_j = environment_error("cannot read", "the file is gone", "-");
  EXPECT_EQ(measure_energy(lost.run_calls(), lost.probe(), 1e-4, 1e-3).error().why, "the file is gone");
  Script fine;
  const RunCalls broken = [](std::int64_t) -> Result<double> { return environment_error("cannot run", "no device", "-"); };
  EXPECT_EQ(measure_energy(broken, fine.probe(), 1e-4, 1e-3).error().why, "no device");
}

}  // namespace
}  // namespace hbmark
