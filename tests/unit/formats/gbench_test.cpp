// Google Benchmark's JSON: what is written can be read, and what others write is read whole or refused.
#include "results/formats/gbench.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "results/formats/format.h"

namespace hbmark {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

const Format& gbench() {
  const auto table = formats();
  return *std::find_if(table.begin(), table.end(), [](const Format& format) { return format.name == "gbench"; });
}

ExportRow row(const std::string& problem, const std::string& backend, std::vector<double> times_s) {
  ExportRow made;
  made.run.started_at = "2026-11-30T20:41:11Z";
  made.result.uuid = problem + backend;
  made.result.problem = problem;
  made.result.backend = backend;
  made.result.threads = 2;
  made.result.outcome = Outcome::kOk;
  made.result.bytes = 1000;
  made.result.time.emplace();
  made.result.time->median = times_s.front();
  made.result.time->calls_per_sample = 7;
  for (const double time_s : times_s) made.samples.push_back({made.result.uuid, 0, 0, time_s});
  return made;
}

json written(const std::vector<ExportRow>& rows) {
  std::ostringstream out;
  gbench().write(out, rows);
  return json::parse(out.str());
}

TEST(Gbench, EverySampleIsARepetitionUnderOneName) {
  const json file = written({row("gemm:f32:nn:m8n8k8", "onednn", {1e-6, 2e-6, 3e-6})});
  ASSERT_EQ(file["benchmarks"].size(), 3u);
  for (const json& entry : file["benchmarks"]) {
    EXPECT_EQ(entry["name"], "gemm:f32:nn:m8n8k8");
    EXPECT_EQ(entry["run_type"], "iteration");
    EXPECT_EQ(entry["time_unit"], "ns");
    EXPECT_EQ(entry["repetitions"], 3);
    EXPECT_EQ(entry["iterations"], 7);
    EXPECT_EQ(entry["cpu_time"], entry["real_time"]);
  }
  EXPECT_DOUBLE_EQ(file["benchmarks"][1]["real_time"].get<double>(), 2000);
  EXPECT_EQ(file["benchmarks"][2]["repetition_index"], 2);
  EXPECT_THAT(file["context"]["hbmark_note"].get<std::string>(), HasSubstr("wall time"));
}

TEST(Gbench, NamesTellBackendsApartOnlyWhereTheyMust) {
  const json file = written({row("a", "x", {1}), row("a", "y", {1}), row("b", "x", {1}), row("b", "x", {1})});
  std::vector<std::string> names;
  for (const json& entry : file["benchmarks"]) names.push_back(entry["name"]);
  EXPECT_THAT(names, ElementsAre("a@x/any/threads:2", "a@y/any/threads:2", "b", "b#2"));
}

TEST(Gbench, WhatHasNoTimeIsToldInTheContext) {
  ExportRow failed = row("a", "x", {1});
  failed.result.outcome = Outcome::kWrongResult;
  failed.result.reason = "c[1] is 2";
  const json file = written({failed});
  EXPECT_TRUE(file["benchmarks"].empty());
  EXPECT_EQ(file["context"]["hbmark_not_measured"][0]["reason"], "c[1] is 2");
}

TEST(Gbench, ReadsWhatItWrote) {
  const auto read = read_gbench(written({row("a", "x", {1e-6, 2e-6}), row("b", "x", {0.5})}).dump(), "f");
  ASSERT_TRUE(read);
  ASSERT_EQ(read->cases.size(), 2u);
  EXPECT_EQ(read->cases[0].name, "a");
  ASSERT_EQ(read->cases[0].times_s.size(), 2u);
  EXPECT_DOUBLE_EQ(read->cases[0].times_s[1], 2e-6);
  EXPECT_EQ(read->cases[0].iterations, 7);
  EXPECT_EQ(read->date, "2026-11-30T20:41:11Z");
}

// As Google Benchmark 1.7.1 prints it.
constexpr const char* kForeign = R"({"context": {"date": "2026-11-30T21:41:11+01:00", "host_name": "node-07", "num_cpus": 8,
  "caches": [{"type": "Data", "level": 1, "size": 32768, "num_sharing": 1}], "library_build_type": "debug"},
  "benchmarks": [
  {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "repetitions": 2, "repetition_index": 0, "threads": 1,
   "iterations": 10, "real_time": 1.5, "cpu_time": 1.4, "time_unit": "us", "bytes_per_second": 5.0},
  {"name": "BM_a/8", "run_name": "BM_a/8", "run_type": "iteration", "repetitions": 2, "repetition_index": 1, "threads": 1,
   "iterations": 10, "real_time": 2.5, "cpu_time": 2.4, "time_unit": "us"},
  {"name": "BM_a/8_mean", "run_name": "BM_a/8", "run_type": "aggregate", "aggregate_name": "mean", "real_time": 2,
   "cpu_time": 2, "time_unit": "us"},
  {"name": "BM_b", "run_name": "BM_b", "run_type": "iteration", "error_occurred": true, "error_message": "no device"}]})";

TEST(Gbench, ReadsRepetitionsErrorsAndCountersAndPassesAggregatesOver) {
  const auto read = read_gbench(kForeign, "f");
  ASSERT_TRUE(read) << read.error().why;
  EXPECT_EQ(read->aggregates, 1);
  ASSERT_EQ(read->cases.size(), 2u);
  EXPECT_THAT(read->cases[0].times_s, ElementsAre(testing::DoubleEq(1.5e-6), testing::DoubleEq(2.5e-6)));
  EXPECT_THAT(read->cases[0].notes[0], HasSubstr("bytes_per_second 5.0"));
  EXPECT_THAT(read->cases[0].notes[0], HasSubstr("cpu_time 1.4"));
  EXPECT_EQ(read->cases[1].outcome, Outcome::kFailed);
  EXPECT_EQ(read->cases[1].reason, "no device");
  EXPECT_EQ(read->date, "2026-11-30T20:41:11Z");
  EXPECT_EQ(read->host_name, "node-07");
  EXPECT_EQ(read->context.at("library_build_type"), "debug");
}

TEST(Gbench, RefusesWhatItCannotReadWhole) {
  const std::string whole = kForeign;
  const auto changed = [&](const std::string& from, const std::string& to) {
    std::string text = whole;
    return text.replace(text.find(from), from.size(), to);
  };
  for (const std::string& text :
       {std::string(), std::string("{"), std::string("[]"), std::string("{}"), whole.substr(0, whole.size() / 2),
        std::string(R"({"context":{},"benchmarks":[]})"), changed("\"us\"", "\"weeks\""), changed("1.5", "\"x\""),
        changed("1.5", "-1"), changed("1.5", "0"), std::string(R"({"context":{},"benchmarks":[3]})"),
        std::string(R"({"context":{},"benchmarks":[{"name":"a_mean","run_type":"aggregate"}]})")}) {
    const auto read = read_gbench(text, "mine.json");
    ASSERT_FALSE(read) << text;
    EXPECT_EQ(read.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(read.error().what, HasSubstr("mine.json"));
    EXPECT_FALSE(read.error().why.empty());
    EXPECT_FALSE(read.error().next.empty());
  }
  EXPECT_THAT(read_gbench(changed("\"us\"", "\"weeks\""), "f").error().why, HasSubstr("benchmarks[0]"));
}

// One benchmark whose member has this value, and why it is refused; empty: it is not.
std::string refusal(const char* member, const json& value, const char* of = "benchmark") {
  json entry = {{"name", "a"}, {"iterations", 7}, {"real_time", 2.0}, {"time_unit", "us"}, {"threads", 1}};
  json context = {{"host_name", "x"}};
  (std::string(of) == "context" ? context : entry)[member] = value;
  const auto read = read_gbench(json{{"context", context}, {"benchmarks", {entry}}}.dump(), "f");
  return read ? "" : read.error().why;
}

TEST(Gbench, CountsAreWholeNumbersFromOneOn) {
  for (const char* member : {"threads", "iterations"}) {
    for (const json& value : {json(0), json(-3), json(1.5), json("2"), json(1e300), json(true)}) {
      EXPECT_THAT(refusal(member, value),
                  HasSubstr(std::string(member) + " of 'a' is " + (value.is_string() ? "2" : value.dump())))
          << value;
    }
    EXPECT_EQ(refusal(member, 3), "");
    EXPECT_EQ(refusal(member, 3.0), "");  // some writers know no whole numbers
    EXPECT_EQ(refusal(member, nullptr), "");
  }
}

TEST(Gbench, ADateIsATimeThatThereIs) {
  for (const char* date :
       {"2026-13-01T00:00:00Z", "2026-02-30T00:00:00+01:00", "2026-11-30T25:00:00Z", "2026-11-30T20:41:11+99:00",
        "2026-11-30T20:41:11Zebra", "2026-11-30T20:41:11", "1066-10-14T09:00:00Z", "2026-11--3T20:41:11Z"}) {
    EXPECT_THAT(refusal("date", date, "context"), HasSubstr(date));
  }
  for (const char* date : {"2026-11-30T20:41:11+01:00", "2024-02-29T23:59:59Z", "2026-11-30 20:41:11", ""}) {
    EXPECT_EQ(refusal("date", date, "context"), "") << date;
  }
}

TEST(Gbench, WhatIsNoJsonIsSaidWithItsPlace) {
  const auto read = read_gbench("{\n\"context\": {},\n\"benchmarks\": [1 2]}", "f");
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().why, testing::AllOf(HasSubstr("line 3, column"), HasSubstr("expected ']'")));
  EXPECT_THAT(read_gbench("{\"context\": ", "f").error().why, HasSubstr("unexpected end of input"));
}

}  // namespace
}  // namespace hbmark
