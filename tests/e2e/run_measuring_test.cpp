// What stands beside a time: cold caches, the effective clock, energy, and why there is no interval. Clock and meter are
// scripted through the run driver.
#include <algorithm>
#include <cstdlib>

#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

class MeasuringTest : public RunTest {
 protected:
  void TearDown() override {
    for (const char* name : {"HBMARK_SCRIPTED_CLOCK", "HBMARK_SCRIPTED_METER", "HBMARK_SCRIPTED_JOULES"}) unsetenv(name);
    RunTest::TearDown();
  }
  std::vector<ResultRecord> measure(const Plan& plan) {
    const auto summary = carry_out_here(plan, driver());
    EXPECT_TRUE(summary) << summary.error().what << ": " << summary.error().why;
    return results();
  }
};

TEST_F(MeasuringTest, AClockThatFellIsThrottled) {
  // At the start; before and after each of three cases.
  setenv("HBMARK_SCRIPTED_CLOCK", "3.0  3.0 2.95  3.0 2.0  2.0 2.0", 1);
  const auto all = measure(plan({kFirst, kSecond, kThird}));
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].clock_before_hz, 3e9);
  EXPECT_EQ(all[0].clock_after_hz, 2.95e9);
  EXPECT_THAT(all[0].flags, Not(Contains("throttled")));
  EXPECT_EQ(all[1].clock_after_hz, 2e9);
  EXPECT_THAT(all[1].flags, Contains("throttled")) << "during the case";
  EXPECT_THAT(all[2].flags, Contains("throttled")) << "all through the case";
  for (const ResultRecord& r : all) {
    EXPECT_EQ(r.outcome, Outcome::kOk) << "a flag, no failure";
    EXPECT_EQ(r.clock_note, "");
  }
}

TEST_F(MeasuringTest, WithoutAClockTheResultSaysWhy) {
  setenv("HBMARK_SCRIPTED_CLOCK", "0", 1);
  const auto all = measure(plan({kFirst}));
  EXPECT_FALSE(all[0].clock_before_hz);
  EXPECT_FALSE(all[0].clock_after_hz);
  EXPECT_EQ(all[0].clock_note, "the script has none");
  EXPECT_THAT(all[0].flags, Not(Contains("throttled")));
}

TEST_F(MeasuringTest, EnergyIsMeasuredWhenAskedFor) {
  setenv("HBMARK_SCRIPTED_JOULES", "8", 1);
  Plan with = plan({kFirst});
  with.energy = true;
  const auto all = measure(with);
  ASSERT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  ASSERT_TRUE(all[0].energy_j);
  EXPECT_EQ(all[0].energy_scope, "a scripted package");
  EXPECT_THAT(all[0].energy_note, HasSubstr(" calls in "));
  EXPECT_NEAR(*all[0].energy_j, 8 / std::stod(all[0].energy_note), 1e-12) << all[0].energy_note;
  EXPECT_FALSE(measure(plan({kFirst}))[0].energy_j) << "not asked for";
  EXPECT_EQ(results()[0].energy_note, "");
}

TEST_F(MeasuringTest, EnergyThatCannotBeReadCostsNoCase) {
  Plan with = plan({kFirst});
  with.energy = true;
  setenv("HBMARK_SCRIPTED_METER", "only root may read it", 1);
  auto all = measure(with);
  EXPECT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_FALSE(all[0].energy_j);
  EXPECT_EQ(all[0].energy_note, "not readable: only root may read it");
  unsetenv("HBMARK_SCRIPTED_METER");
  setenv("HBMARK_SCRIPTED_JOULES", "0", 1);
  all = measure(with);
  EXPECT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_FALSE(all[0].energy_j);
  EXPECT_THAT(all[0].energy_note, HasSubstr("not readable: the meter says"));
}

TEST_F(MeasuringTest, AFailureInTheEnergyWindowIsTheCases) {
  script({{{"times", json::array({1e-3})}, {"fault", {{"kind", "failed"}, {"message", "burnt out"}, {"after", 40}}}}});
  Plan with = plan({kFirst});
  with.energy = true;
  const auto all = measure(with);
  EXPECT_EQ(all[0].outcome, Outcome::kFailed);
  EXPECT_THAT(all[0].reason, HasSubstr("burnt out"));
  EXPECT_FALSE(all[0].energy_j);
}

TEST_F(MeasuringTest, AColdResultIsOneCallASampleAndAConfigurationOfItsOwn) {
  script({{{"times", json::array({1e-5})}}});
  Plan cold = plan({"peak:fma:f32", kFirst});
  cold.cold_cache = true;
  cold.energy = true;
  cold.cases[1].budget_s = 5;
  cold.timeout_s = 20;
  const auto all = measure(cold);
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  ASSERT_EQ(all[1].outcome, Outcome::kOk) << all[1].reason;
  EXPECT_THAT(all[0].flags, Not(Contains("cold"))) << "a peak has no operands";
  EXPECT_GT(all[0].time->calls_per_sample, 1);
  EXPECT_THAT(all[1].flags, Contains("cold"));
  EXPECT_EQ(all[1].time->calls_per_sample, 1);
  EXPECT_FALSE(all[1].energy_j);
  EXPECT_THAT(all[1].energy_note, HasSubstr("flushes"));
  const Store store = open_store();
  EXPECT_EQ(store.configuration(all[0].configuration_uuid)->cache, "warm");
  EXPECT_EQ(store.configuration(all[1].configuration_uuid)->cache, "cold");
  EXPECT_NE(all[0].configuration_uuid, all[1].configuration_uuid);
  EXPECT_TRUE(all[1].ceiling_flop_per_s) << "the peak's";
}

TEST_F(MeasuringTest, ATinyBudgetSaysWhyThereIsNoInterval) {
  script({{{"times", json::array({5e-3})}, {"sleep", true}}});
  Plan tiny = plan({kFirst});
  tiny.cases[0].budget_s = 0.02;
  const auto all = measure(tiny);
  ASSERT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  ASSERT_TRUE(all[0].time);
  EXPECT_LT(all[0].time->samples, 10);
  EXPECT_FALSE(all[0].time->ci_low && all[0].time->samples < 6);
  EXPECT_THAT(all[0].flags, Contains("few_samples"));
  EXPECT_THAT(all[0].time->interval_method, HasSubstr("the budget of 0.02 s"));
}

}  // namespace
}  // namespace hbmark::tests
