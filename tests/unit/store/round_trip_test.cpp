#include <gmock/gmock.h>

#include <chrono>
#include <cmath>
#include <limits>
#include <regex>

#include "fixtures.h"

namespace hbmark::tests {
namespace {

class RoundTrip : public ::testing::Test {
 protected:
  void SetUp() override {
    run_ = a_run("first");
    store_.emplace(Store::open(folder_ / "store.db", OpenMode::kWrite).value());
    ASSERT_TRUE(save_context(*store_, run_));
  }
  ResultRecord save_and_read(const ResultRecord& result, const std::vector<SampleRecord>& samples = {}) {
    const Status saved = store_->save_result(result, samples);
    EXPECT_TRUE(saved) << text_of(saved.error());
    // Through a store of its own, so that nothing is remembered.
    auto other = Store::open(folder_ / "store.db", OpenMode::kRead).value();
    const std::vector<ResultRecord> all = other.results(result.run_uuid).value();
    for (const ResultRecord& read : all) {
      if (read.uuid == result.uuid) return read;
    }
    ADD_FAILURE() << "not found";
    return {};
  }

  TempFolder folder_;
  RunRecord run_;
  std::optional<Store> store_;
};

TEST_F(RoundTrip, EveryMemberOfAResult) {
  const ResultRecord result = a_result(run_, 3);
  EXPECT_EQ(save_and_read(result), result);
}

TEST_F(RoundTrip, AResultWithNothingOptional) {
  ResultRecord result;
  result.uuid = new_uuid();
  result.run_uuid = run_.uuid;
  const ResultRecord read = save_and_read(result);
  EXPECT_EQ(read, result);
  EXPECT_FALSE(read.time || read.verified || read.flop || read.ceiling_fraction || read.reorder_s || read.energy_j);
}

TEST_F(RoundTrip, OptionalsInsideTheSummary) {
  ResultRecord result = a_result(run_, 0);
  result.time->ci_low.reset();
  result.time->ci_high.reset();
  result.flop = 0.0;  // not the same as absent
  EXPECT_EQ(save_and_read(result), result);
}

TEST_F(RoundTrip, AWholeRunIsSavedAtOnceOrNotAtAll) {
  WholeRun whole;
  whole.node = a_node();
  whole.node.uuid = new_uuid();
  whole.environment = an_environment();
  whole.configurations = {a_configuration()};
  whole.run = a_run("whole");
  whole.run.node_uuid = whole.node.uuid;
  for (std::int64_t i = 0; i < 3; ++i) whole.results.emplace_back(a_result(whole.run, i), some_samples(4));
  WholeRun broken = whole;
  broken.results.back().second.front().result_uuid = "another";
  EXPECT_FALSE(store_->save_whole_run(broken));
  EXPECT_FALSE(store_->find_run(whole.run.uuid));
  EXPECT_FALSE(store_->node(whole.node.uuid));
  EXPECT_TRUE(store_->results(whole.run.uuid).value().empty());

  const Status saved = store_->save_whole_run(whole);
  ASSERT_TRUE(saved) << text_of(saved.error());
  EXPECT_EQ(store_->find_run(whole.run.uuid).value(), whole.run);
  const auto results = store_->results(whole.run.uuid).value();
  ASSERT_EQ(results.size(), 3U);
  EXPECT_EQ(results[2], whole.results[2].first);
  EXPECT_EQ(store_->samples(results[2].uuid).value().size(), 4U);
}

TEST_F(RoundTrip, EveryOutcome) {
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    ResultRecord result = a_result(run_, static_cast<std::int64_t>(i));
    result.outcome = static_cast<Outcome>(i);
    EXPECT_EQ(save_and_read(result).outcome, result.outcome) << kOutcomeNames[i];
  }
}

TEST_F(RoundTrip, NotANumberAndInfinity) {
  ResultRecord result = a_result(run_, 0);
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  result.verified->max_rel_error = std::nan("");
  result.wall_s = kInfinity;
  result.flop = -kInfinity;
  result.energy_j = std::nan("");
  result.pages = {{0, std::nan("")}};
  const auto samples = std::vector<SampleRecord>{{result.uuid, 0, 0, std::nan("")}, {result.uuid, 0, 1, kInfinity}};
  const ResultRecord read = save_and_read(result, samples);
  EXPECT_TRUE(std::isnan(read.verified->max_rel_error));
  EXPECT_EQ(read.wall_s, kInfinity);
  EXPECT_EQ(read.flop, -kInfinity);
  ASSERT_TRUE(read.energy_j);
  EXPECT_TRUE(std::isnan(*read.energy_j));
  EXPECT_TRUE(std::isnan(read.pages.at(0)));
  const auto read_samples = store_->samples(result.uuid).value();
  ASSERT_EQ(read_samples.size(), 2U);
  EXPECT_TRUE(std::isnan(read_samples[0].time_s));
  EXPECT_EQ(read_samples[1].time_s, kInfinity);
}

TEST_F(RoundTrip, TextOfAnyBytes) {
  ResultRecord result = a_result(run_, 0);
  result.reason = std::string("a\0b", 3) + "\xff\xfe" + "é漢🙂'\"%_;--";
  result.log = std::string(1, '\0');
  result.flags = {"é", std::string("x\0y", 3), ""};
  EXPECT_EQ(save_and_read(result), result);
}

TEST_F(RoundTrip, ExtremeNumbers) {
  ResultRecord result = a_result(run_, std::numeric_limits<std::int64_t>::max());
  result.threads = std::numeric_limits<std::int64_t>::min();
  result.wall_s = std::numeric_limits<double>::denorm_min();
  result.timed_s = std::numeric_limits<double>::max();
  result.flop = std::numeric_limits<double>::epsilon();
  result.thread_pus = {std::numeric_limits<int>::min(), std::numeric_limits<int>::max()};
  const ResultRecord read = save_and_read(result);
  EXPECT_EQ(read, result);
}

TEST_F(RoundTrip, SamplesInOrder) {
  const ResultRecord result = a_result(run_, 0);
  auto samples = some_samples(35);
  for (SampleRecord& sample : samples) sample.result_uuid = result.uuid;
  auto shuffled = samples;
  std::swap(shuffled.front(), shuffled.back());
  save_and_read(result, shuffled);
  EXPECT_EQ(store_->samples(result.uuid).value(), samples);
  EXPECT_TRUE(store_->samples(new_uuid()).value().empty());
}

TEST_F(RoundTrip, TheOtherRecords) {
  EXPECT_EQ(store_->node(a_node().uuid).value(), a_node());
  EXPECT_EQ(store_->environment(an_environment().uuid).value(), an_environment());
  EXPECT_EQ(store_->configuration(a_configuration().uuid).value(), a_configuration());
  EXPECT_EQ(store_->runs().value(), std::vector<RunRecord>{run_});
  const auto missing = store_->environment("nowhere");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, ErrorKind::kUsage);
}

TEST_F(RoundTrip, ARunIsUpdatedInStateAndEndOnly) {
  RunRecord later = run_;
  later.state = "finished";
  later.finished_at = "2026-11-30T21:00:00Z";
  later.command = "something else";
  ASSERT_TRUE(store_->save_run(later));
  RunRecord expected = run_;
  expected.state = "finished";
  expected.finished_at = later.finished_at;
  EXPECT_EQ(store_->find_run("last").value(), expected);
}

TEST_F(RoundTrip, AnEarlierRunKeepsTheNodeItSaw) {
  NodeRecord rebooted = a_node();
  rebooted.description = R"({"memory_mode":"cache"})";
  ASSERT_TRUE(store_->save_node(rebooted));
  const RunRecord second = a_run("second");
  ASSERT_TRUE(store_->save_run(second));
  EXPECT_EQ(store_->node_of_run(run_.uuid).value(), a_node());
  EXPECT_EQ(store_->node_of_run(second.uuid).value(), rebooted);
  EXPECT_EQ(store_->node(a_node().uuid).value(), rebooted);
}

TEST_F(RoundTrip, NotRunIsReplacedAndNothingElseIs) {
  ResultRecord planned = a_result(run_, 5);
  planned.outcome = Outcome::kNotRun;
  ASSERT_TRUE(store_->save_result(planned, some_samples(3)));
  const ResultRecord measured = a_result(run_, 5);
  ASSERT_TRUE(store_->save_result(measured, some_samples(4)));
  EXPECT_EQ(store_->results(run_.uuid).value(), std::vector<ResultRecord>{measured});
  EXPECT_TRUE(store_->samples(planned.uuid).value().empty());

  const Status again = store_->save_result(a_result(run_, 5), {});
  ASSERT_FALSE(again);
  EXPECT_EQ(again.error().kind, ErrorKind::kInternal);
  EXPECT_EQ(store_->results(run_.uuid).value(), std::vector<ResultRecord>{measured});
  EXPECT_EQ(store_->samples(measured.uuid).value().size(), 4U);
}

TEST_F(RoundTrip, WhatARecordRefersToMustBeThere) {
  RunRecord stray = a_run();
  stray.node_uuid = new_uuid();
  EXPECT_FALSE(store_->save_run(stray));
  ResultRecord result = a_result(run_, 0);
  result.run_uuid = new_uuid();
  EXPECT_FALSE(store_->save_result(result, {}));
  result = a_result(run_, 0);
  result.configuration_uuid = new_uuid();
  EXPECT_FALSE(store_->save_result(result, {}));
  auto samples = some_samples(1);
  samples[0].result_uuid = new_uuid();
  EXPECT_FALSE(store_->save_result(a_result(run_, 0), samples));
  EXPECT_TRUE(store_->results(run_.uuid).value().empty());
}

TEST_F(RoundTrip, AFailedResultLeavesNoSample) {
  auto samples = some_samples(10);
  samples.push_back(samples.front());  // the same launch and index twice
  const ResultRecord result = a_result(run_, 0);
  ASSERT_FALSE(store_->save_result(result, samples));
  EXPECT_TRUE(store_->results(run_.uuid).value().empty());
  EXPECT_TRUE(store_->samples(result.uuid).value().empty());
  ASSERT_TRUE(store_->save_result(result, some_samples(10)));
}

TEST_F(RoundTrip, TenThousandSamples) {
  const ResultRecord result = a_result(run_, 0);
  ASSERT_TRUE(store_->save_result(result, some_samples(10'000)));
  EXPECT_EQ(store_->samples(result.uuid).value().size(), 10'000U);
}

TEST_F(RoundTrip, ReadersMayNotWrite) {
  auto reader = Store::open(folder_ / "store.db", OpenMode::kRead).value();
  const Status saved = reader.save_result(a_result(run_, 0), {});
  ASSERT_FALSE(saved);
  EXPECT_EQ(saved.error().kind, ErrorKind::kInternal);
  EXPECT_TRUE(store_->results(run_.uuid).value().empty());
}

TEST(Identity, Uuids) {
  EXPECT_THAT(new_uuid(), ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_NE(new_uuid(), new_uuid());
  EXPECT_THAT(digest_uuid("x"),
              ::testing::MatchesRegex("[0-9a-f]{8}-[0-9a-f]{4}-5[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}"));
  EXPECT_EQ(digest_uuid("x"), digest_uuid("x"));
  EXPECT_NE(digest_uuid("x"), digest_uuid(std::string("x\0", 2)));
  // Frozen: stores of many nodes are joined by these. Python: uuid.uuid5(uuid.UUID(name space), "x").
  EXPECT_EQ(digest_uuid("x"), "0b700770-8e45-5db8-9904-9ea1813a0003");
}

TEST(Identity, Time) {
  const std::string before = utc_now();
  EXPECT_TRUE(std::regex_match(before, std::regex(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)"))) << before;
  EXPECT_LE(before, utc_now());
}

}  // namespace
}  // namespace hbmark::tests
