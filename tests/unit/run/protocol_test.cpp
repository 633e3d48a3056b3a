#include "bench/run/protocol.h"

#include <gmock/gmock.h>

#include <random>

namespace hbmark {
namespace {

using testing::HasSubstr;

Event result_event() {
  Event event;
  event.kind = EventKind::kResult;
  event.case_index = 7;
  event.samples = {1e-3, 1.1e-3, 0.1 + 0.2};
  event.facts = {2, std::uint64_t{3} << 40};
  ResultRecord& r = event.result;
  r.problem = "gemm:f32:nn:m1n1k1";
  r.kernel = "gemm";
  r.outcome = Outcome::kOk;
  r.flags = {"noisy", "printed"};
  r.time = TimeSummary{1.1e-3, 1e-3, 0.3, 1e-3, 3, 17, "order statistics"};
  r.flop = 2;
  r.bytes = 12;
  r.implementation = "brgemm";
  r.isa = "avx2";
  r.library = "oneDNN 2.6.3";
  r.layout = "plain";
  r.verified = Verification{5, 1e-7, 1e-5, "all elements"};
  r.pages = {{0, 0.25}, {3, 0.75}};
  r.thread_pus = {0, 2};
  r.reorder_s = 2e-4;
  r.wall_s = 1.5;
  r.timed_s = 1.25;
  r.stopped_by = "precision";
  r.log = "line\nline \x1b[31m";
  return event;
}

TEST(Protocol, AResultArrivesWhole) {
  const Event sent = result_event();
  std::string line = event_to_line(sent);
  ASSERT_EQ(line.back(), '\n');
  line.pop_back();
  EXPECT_EQ(line.find('\n'), std::string::npos);
  const auto got = event_from_line(line);
  ASSERT_TRUE(got) << got.error().why;
  EXPECT_EQ(got->kind, EventKind::kResult);
  EXPECT_EQ(got->case_index, 7);
  EXPECT_EQ(got->samples, sent.samples);
  EXPECT_EQ(got->facts, sent.facts);
  // The record has no comparison: its line has every member.
  EXPECT_EQ(event_to_line(*got), event_to_line(sent));
  EXPECT_EQ(got->result.log, sent.result.log);
  EXPECT_EQ(got->result.time->calls_per_sample, 17);
  EXPECT_EQ(got->result.wall_s, 1.5);
  EXPECT_EQ(got->result.pages, sent.result.pages);
}

TEST(Protocol, EveryOtherEventArrivesWhole) {
  for (const EventKind kind : {EventKind::kReady, EventKind::kCase, EventKind::kPhase, EventKind::kProgress,
                               EventKind::kWarning, EventKind::kDone}) {
    Event sent;
    sent.kind = kind;
    sent.case_index = 3;
    sent.text = "prepare";
    sent.fraction = 0.125;
    sent.thread_pus = {5, 1};
    const std::string line = event_to_line(sent);
    const auto got = event_from_line(std::string_view(line).substr(0, line.size() - 1));
    ASSERT_TRUE(got) << line;
    EXPECT_EQ(got->kind, kind);
    EXPECT_EQ(event_to_line(*got), line);
  }
}

TEST(Protocol, GarbageIsNeverAnEvent) {
  const char* lines[] = {"",
                         "hello",
                         "{",
                         "[]",
                         "null",
                         "7",
                         "\"ready\"",
                         "{}",
                         R"({"schema":"hbmark.worker/2","event":"done"})",
                         R"({"schema":"hbmark.worker/1"})",
                         R"({"schema":"hbmark.worker/1","event":"dance"})",
                         R"({"schema":"hbmark.worker/1","event":7})",
                         R"({"schema":"hbmark.worker/1","event":"case"})",
                         R"({"schema":"hbmark.worker/1","event":"case","case":"x"})",
                         R"({"schema":"hbmark.worker/1","event":"case","case":1e300})",
                         R"({"schema":"hbmark.worker/1","event":"case","case":0.5})",
                         R"({"schema":"hbmark.worker/1","event":"case","case":9223372036854775808})",
                         R"({"schema":"hbmark.worker/1","event":"ready","thread_pus":[0,2147483648]})",
                         R"({"schema":"hbmark.worker/1","event":"ready","thread_pus":{"a":0}})",
                         R"({"schema":"hbmark.worker/1","event":"phase","case":1})",
                         R"({"schema":"hbmark.worker/1","event":"result","case":1})",
                         R"({"schema":"hbmark.worker/1","event":"result","case":1,"result":{}})",
                         "\xff\xfe\x00",
                         R"({"schema":5,"event":"done"})"};
  for (const char* line : lines) {
    const auto got = event_from_line(line);
    EXPECT_FALSE(got) << line;
    if (!got) {
      EXPECT_FALSE(got.error().why.empty());
    }
  }
}

TEST(Protocol, ALineCutAnywhereIsNeverAnEvent) {
  const std::string line = event_to_line(result_event());
  for (std::size_t length = 0; length + 1 < line.size(); ++length) {
    EXPECT_FALSE(event_from_line(std::string_view(line).substr(0, length))) << length;
  }
}

TEST(Protocol, RandomBytesAreNeverAnEvent) {
  std::mt19937 random(1);
  for (int round = 0; round < 2000; ++round) {
    std::string line(random() % 60, '\0');
    for (char& c : line) c = static_cast<char>(random());
    EXPECT_FALSE(event_from_line(line));
  }
}

TEST(Protocol, AResultThatContradictsItselfIsRefused) {
  Event no_time = result_event();
  no_time.result.time.reset();
  Event failed_with_time = result_event();
  failed_with_time.result.outcome = Outcome::kFailed;
  Event zero = result_event();
  zero.samples[1] = 0;
  Event negative = result_event();
  negative.samples[1] = -1;
  for (const Event& event : {no_time, failed_with_time, zero, negative}) {
    const std::string line = event_to_line(event);
    EXPECT_FALSE(event_from_line(line)) << line;
  }
}

TEST(Protocol, WhatIsQuotedCannotReachTheTerminal) {
  const auto got = event_from_line("\x1b[2J" + std::string(500, 'x'));
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().why.find('\x1b'), std::string::npos);
  EXPECT_THAT(got.error().why, HasSubstr("..."));
}

TEST(LineReader, CutsLinesHoweverTheBytesCome) {
  const std::string stream = "one\n\ntwo three\nrest";
  for (std::size_t step = 1; step <= stream.size(); ++step) {
    LineReader reader;
    std::vector<std::string> lines;
    for (std::size_t at = 0; at < stream.size(); at += step) {
      reader.append(std::string_view(stream).substr(at, step));
      while (auto line = reader.next()) lines.push_back(*line);
    }
    EXPECT_THAT(lines, testing::ElementsAre("one", "", "two three")) << step;
    EXPECT_EQ(reader.rest(), "rest");
    EXPECT_FALSE(reader.overlong());
  }
}

TEST(LineReader, KnowsALineThatDoesNotEnd) {
  LineReader reader;
  const std::string piece(1 << 20, 'x');
  for (int i = 0; i < 9; ++i) {
    reader.append(piece);
    EXPECT_FALSE(reader.next());
  }
  EXPECT_TRUE(reader.overlong());
}

}  // namespace
}  // namespace hbmark
