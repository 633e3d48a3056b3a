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

}  // namespace
}  // namespace hbmark
