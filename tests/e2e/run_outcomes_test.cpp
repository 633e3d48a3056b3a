// Every way a plugin can fail, each in the first of three cases of one run: it costs that case, with its outcome and reason.
#include <algorithm>

#include "tests/e2e/run_fixture.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using testing::Contains;
using testing::HasSubstr;
using testing::Not;

json rule_of(const char* problem, const json& fault) {
  return {{"match", problem}, {"times", json::array({1e-3})}, {"fault", fault}};
}

json candidate(const char* name, double time_s, std::uint64_t workspace_bytes = 0) {
  return {{"name", name}, {"times", json::array({time_s})}, {"workspace_bytes", workspace_bytes}};
}

struct Fault {
  const char* name;
  const char* json;
  Outcome outcome;
  const char* reason;
};

void PrintTo(const Fault& fault, std::ostream* out) { *out << fault.name; }

class FaultTest : public RunTest, public testing::WithParamInterface<Fault> {};

TEST_P(FaultTest, CostsItsCaseAndTheRunGoesOn) {
  const Fault& fault = GetParam();
  script({rule_of(kSecond, json::parse(fault.json))});
  const auto summary = run({kFirst, kSecond, kThird});
  ASSERT_TRUE(summary) << summary.error().what << ": " << summary.error().why;
  const auto all = results();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_EQ(all[1].outcome, fault.outcome) << all[1].reason;
  EXPECT_THAT(all[1].reason, HasSubstr(fault.reason));
  EXPECT_EQ(all[2].outcome, Outcome::kOk) << all[2].reason;
  EXPECT_FALSE(all[1].time.has_value());
  EXPECT_TRUE(open_store().samples(all[1].uuid)->empty());
  EXPECT_EQ(summary->ok, 2);
  EXPECT_EQ(last_run().state, "finished");
  EXPECT_FALSE(summary->interrupted);
}

INSTANTIATE_TEST_SUITE_P(
    Each, FaultTest,
    testing::Values(
        Fault{"segv", R"({"kind":"segv"})", Outcome::kCrashed, "signal SIGSEGV (Segmentation fault) during run"},
        Fault{"abort", R"({"kind":"abort"})", Outcome::kCrashed, "SIGABRT"},
        Fault{"ill", R"({"kind":"ill"})", Outcome::kCrashed, "newer CPU"},
        Fault{"fpe", R"({"kind":"fpe"})", Outcome::kCrashed, "SIGFPE"},
        Fault{"kill", R"({"kind":"kill"})", Outcome::kCrashed, "dmesg"},
        Fault{"segv_supports", R"({"kind":"segv","at":"supports"})", Outcome::kCrashed, "during supports"},
        Fault{"segv_prepare", R"({"kind":"segv","at":"prepare"})", Outcome::kCrashed, "during prepare"},
        Fault{"segv_alloc", R"({"kind":"segv","at":"alloc"})", Outcome::kCrashed, "during allocate"},
        Fault{"segv_write", R"({"kind":"segv","at":"write"})", Outcome::kCrashed, "during write inputs"},
        Fault{"segv_read", R"({"kind":"segv","at":"read"})", Outcome::kCrashed, "during read outputs"},
        Fault{"segv_later", R"({"kind":"segv","after":2})", Outcome::kCrashed, "during measure"},
        Fault{"segv_release", R"({"kind":"segv","at":"release"})", Outcome::kCrashed, "during release"},
        Fault{"exit_0", R"({"kind":"exit","status":0})", Outcome::kFailed,
              "the plugin ended the worker with exit code 0 during run"},
        Fault{"exit_3", R"({"kind":"exit","status":3})", Outcome::kFailed,
              "the plugin ended the worker with exit code 3 during run"},
        Fault{"hang", R"({"kind":"hang"})", Outcome::kTimeout, "during run"},
        Fault{"hang_prepare", R"({"kind":"hang","at":"prepare"})", Outcome::kTimeout, "during prepare"},
        Fault{"lying_supports", R"({"kind":"unsupported","at":"prepare","message":"not today"})", Outcome::kFailed,
              "said that it supports this problem, then refused it during prepare: not today"},
        Fault{"unsupported", R"({"kind":"unsupported","at":"supports","message":"no such type"})", Outcome::kUnsupported,
              "no such type"},
        Fault{"unsupported_without_reason", R"({"kind":"unsupported","at":"supports","message":""})", Outcome::kUnsupported,
              "the plugin gave no reason"},
        Fault{"unavailable", R"({"kind":"unavailable","at":"prepare","message":"the device is gone"})",
              Outcome::kUnavailable, "the device is gone"},
        Fault{"out_of_memory_alloc", R"({"kind":"out_of_memory","at":"alloc"})", Outcome::kUnavailable,
              "out of memory during allocate"},
        Fault{"out_of_memory_run", R"({"kind":"out_of_memory"})", Outcome::kUnavailable, "out of memory during run"},
        Fault{"invalid", R"({"kind":"invalid"})", Outcome::kFailed, "broke the contract"},
        Fault{"cancelled", R"({"kind":"cancelled"})", Outcome::kFailed, "cancelled"},
        Fault{"failed", R"({"kind":"failed","message":"no luck","vendor_code":1001})", Outcome::kFailed,
              "no luck (library code 1001)"},
        Fault{"failed_later", R"({"kind":"failed","message":"no luck","after":2})", Outcome::kFailed, "no luck"},
        Fault{"failed_read", R"({"kind":"failed","at":"read"})", Outcome::kFailed, "read outputs failed"},
        Fault{"failed_timer", R"({"kind":"failed","at":"elapsed"})", Outcome::kFailed, "timer"},
        Fault{"wrong_element", R"({"kind":"wrong_element"})", Outcome::kWrongResult, "c["},
        Fault{"wrong_tile", R"({"kind":"wrong_tile"})", Outcome::kWrongResult, "tolerance"},
        Fault{"wrong_column", R"({"kind":"wrong_column"})", Outcome::kWrongResult, "tolerance"},
        Fault{"transposed", R"({"kind":"transposed_operand"})", Outcome::kWrongResult, "tolerance"},
        Fault{"nan", R"({"kind":"nan"})", Outcome::kWrongResult, "nan"},
        Fault{"zeros", R"({"kind":"zeros"})", Outcome::kWrongResult, "tolerance"},
        Fault{"untouched", R"({"kind":"untouched"})", Outcome::kWrongResult, "nan"},
        Fault{"accumulate", R"({"kind":"accumulate"})", Outcome::kWrongResult, "nan"},
        Fault{"lazy_when_timed", R"({"kind":"untouched","after":1})", Outcome::kWrongResult, "right at first"},
        Fault{"wrong_when_timed", R"({"kind":"wrong_element","after":1})", Outcome::kWrongResult, "right at first"},
        Fault{"zero_clock", R"({"kind":"zero_clock","after":1})", Outcome::kFailed, "clock"},
        Fault{"negative_clock", R"({"kind":"negative_clock","after":1})", Outcome::kFailed, "clock"},
        Fault{"nan_clock", R"({"kind":"nan_clock","after":1})", Outcome::kFailed, "clock"}),
    [](const auto& fault) { return fault.param.name; });

class OutcomeTest : public RunTest {};

TEST_F(OutcomeTest, AnOkResultCarriesEverything) {
  script({{{"match", kFirst}, {"times", json::array({1e-3, 1.1e-3, 0.9e-3})}, {"conversion", 2e-4}}});
  const auto summary = run({kFirst});
  ASSERT_TRUE(summary);
  const auto all = results();
  ASSERT_EQ(all.size(), 1U);
  const ResultRecord& r = all[0];
  ASSERT_EQ(r.outcome, Outcome::kOk) << r.reason;
  EXPECT_EQ(r.reason, "");
  EXPECT_EQ(r.kernel, "gemm");
  EXPECT_EQ(r.backend, "fake");
  EXPECT_EQ(r.device, "cpu");
  EXPECT_EQ(r.memory_kind, "any");
  EXPECT_EQ(r.threads, 1);
  EXPECT_EQ(r.library, "Fakelib 1.0");
  EXPECT_EQ(r.isa, "avx9");
  EXPECT_EQ(r.implementation, "fake:scripted");
  EXPECT_EQ(r.layout, "canonical");
  ASSERT_TRUE(r.time);
  EXPECT_NEAR(r.time->median, 1e-3, 1e-4);
  EXPECT_DOUBLE_EQ(*r.flop, 2.0 * 16 * 16 * 16);
  EXPECT_DOUBLE_EQ(*r.bytes, 3.0 * 16 * 16 * 4);
  ASSERT_TRUE(r.verified);
  EXPECT_GT(r.verified->checked, 0);
  EXPECT_LE(r.verified->max_rel_error, r.verified->tolerance);
  EXPECT_NEAR(*r.reorder_s, 2e-4, 1e-9);
  EXPECT_EQ(r.thread_pus, (std::vector<int>{topology::plan_threads(node_, 1)->thread_pus}));
  double pages = 0;
  for (const auto& [node, share] : r.pages) pages += share;
  EXPECT_NEAR(pages, 1, 1e-9);
  EXPECT_GT(r.wall_s, 0);
  EXPECT_GT(r.timed_s, 0);
  EXPECT_FALSE(r.stopped_by.empty());
  EXPECT_EQ(r.log, "");
  EXPECT_EQ(open_store().samples(r.uuid)->size(), static_cast<std::size_t>(r.time->samples));
  EXPECT_EQ(open_store().configuration(r.configuration_uuid)->thread_pus, r.thread_pus);
  EXPECT_EQ(summary->ok, 1);
}

TEST_F(OutcomeTest, WhatALibraryPrintsIsKeptWithItsCase) {
  script({rule_of(kSecond, {{"kind", "print"}, {"stdout", "to stdout\n"}, {"stderr", "to stderr\n"}, {"count", 1}})});
  ASSERT_TRUE(run({kFirst, kSecond, kThird}));
  const auto all = results();
  ASSERT_EQ(all.size(), 3U);
  for (const ResultRecord& r : all) EXPECT_EQ(r.outcome, Outcome::kOk) << r.reason;
  EXPECT_THAT(all[1].log, HasSubstr("to stdout\n"));
  EXPECT_THAT(all[1].log, HasSubstr("to stderr\n"));
  EXPECT_THAT(all[1].flags, Contains("printed"));
  for (const std::size_t other : {0, 2}) {
    EXPECT_EQ(all[other].log, "");
    EXPECT_THAT(all[other].flags, Not(Contains("printed")));
  }
}

TEST_F(OutcomeTest, WhatIsPrintedBeforeACrashIsKept) {
  script({rule_of(kFirst, json::parse(R"([{"kind":"print","stdout":"assertion failed: x > 0\n"},{"kind":"segv"}])"))});
  ASSERT_TRUE(run({kFirst, kSecond}));
  const auto all = results();
  EXPECT_EQ(all[0].outcome, Outcome::kCrashed);
  EXPECT_THAT(all[0].log, HasSubstr("assertion failed"));
  EXPECT_EQ(all[1].log, "");
}

TEST_F(OutcomeTest, OfMuchPrintingTheEndIsKept) {
  const std::string much(20000, 'x');
  script({rule_of(kFirst, {{"kind", "print"}, {"stdout", much + " the end\n"}, {"count", 1}})});
  ASSERT_TRUE(run({kFirst}));
  const auto all = results();
  EXPECT_LE(all[0].log.size(), 4096U);
  EXPECT_THAT(all[0].log, testing::EndsWith(" the end\n"));
}

TEST_F(OutcomeTest, WhatDoesNotFitIsSkippedBeforeItIsTried) {
  const auto summary = run({"gemm:f32:nn:m4000000n4000000k1", kSecond});
  ASSERT_TRUE(summary);
  const auto all = results();
  EXPECT_EQ(all[0].outcome, Outcome::kSkipped);
  EXPECT_THAT(all[0].reason, HasSubstr("needs 116.4 TiB, has "));
  EXPECT_EQ(all[1].outcome, Outcome::kOk);
  EXPECT_EQ(summary->skipped, 1);
}

TEST_F(OutcomeTest, AWorkspaceThatDoesNotFitIsSkipped) {
  script({{{"match", kFirst}, {"candidates", json::array({candidate("greedy", 1e-3, std::uint64_t{1} << 50)})}}});
  ASSERT_TRUE(run({kFirst}));
  EXPECT_EQ(results()[0].outcome, Outcome::kSkipped);
  EXPECT_THAT(results()[0].reason, HasSubstr("needs 1 PiB"));
}

TEST_F(OutcomeTest, ABackendThatIsNotThereIsUnavailable) {
  Plan two = plan({kFirst, kSecond});
  two.cases[0].backend = "cudnn";
  const auto summary = carry_out_here(two, driver());
  ASSERT_TRUE(summary);
  const auto all = results();
  EXPECT_EQ(all[0].outcome, Outcome::kUnavailable);
  EXPECT_THAT(all[0].reason, HasSubstr("cudnn"));
  EXPECT_EQ(all[1].outcome, Outcome::kOk);
  EXPECT_EQ(summary->unavailable, 1);
}

TEST_F(OutcomeTest, ADeviceThatIsNotThereIsUnavailable) {
  Plan two = plan({kFirst, kSecond});
  two.cases[0].device = "gpu:7";
  ASSERT_TRUE(carry_out_here(two, driver()));
  const auto all = results();
  EXPECT_EQ(all[0].outcome, Outcome::kUnavailable) << all[0].reason;
  EXPECT_THAT(all[0].reason, HasSubstr("gpu:7"));
  EXPECT_EQ(all[1].outcome, Outcome::kOk);
}

TEST_F(OutcomeTest, DecidedCasesAreStoredAsTheyWerePlanned) {
  Plan three = plan({kFirst, kSecond, kThird});
  three.cases[1].decided = Outcome::kUnsupported;
  three.cases[1].decided_reason = "no such kernel";
  const auto summary = carry_out_here(three, driver());
  ASSERT_TRUE(summary);
  const auto all = results();
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[1].outcome, Outcome::kUnsupported);
  EXPECT_EQ(all[1].reason, "no such kernel");
  EXPECT_EQ(summary->ok, 2);
  EXPECT_EQ(summary->unsupported, 1);
}

TEST_F(OutcomeTest, ThreadsThatAreNotWhereAskedAreMisplaced) {
  if (topology::plan_threads(node_, 0)->thread_pus.size() < 2) GTEST_SKIP() << "needs two PUs";
  // A team of two, of which the worker is told that both belong where the environment put neither the one nor the other.
  Store store = open_store();
  RunRequest request;
  request.plan = plan({kFirst});
  request.run.uuid = new_uuid();
  request.run.node_uuid = digest_uuid("n");
  request.run.environment_uuid = digest_uuid("e");
  ASSERT_TRUE(store.save_node({request.run.node_uuid, "n", "{}"}));
  ASSERT_TRUE(store.save_environment({request.run.environment_uuid, {}}));
  request.worker_program = driver();
  request.node = &node_;
  request.placements = {*topology::plan_threads(node_, 2)};
  std::swap(request.placements[0].thread_pus[0], request.placements[0].thread_pus[1]);
  const auto summary = carry_out(request, store, {});
  ASSERT_TRUE(summary);
  const auto all = *store.results(request.run.uuid);
  EXPECT_EQ(all[0].outcome, Outcome::kMisplaced);
  EXPECT_THAT(all[0].reason, HasSubstr("thread 0"));
}

TEST_F(OutcomeTest, TheFastestCandidateIsChosen) {
  script({{{"match", kFirst},
           {"candidates",
            json::array({candidate("slow", 3e-3), candidate("quick", 1e-3, 4096), candidate("middling", 2e-3)})}}});
  ASSERT_TRUE(run({kFirst}));
  const auto all = results();
  ASSERT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  EXPECT_EQ(all[0].implementation, "fake:quick");
  EXPECT_NEAR(all[0].time->median, 1e-3, 1e-9);
  EXPECT_THAT(all[0].log, HasSubstr("chose quick"));
  EXPECT_THAT(all[0].flags, Not(Contains("printed")));
}

TEST_F(OutcomeTest, ResultsAreComparedWithTheCeilingsOfTheRun) {
  script({{{"times", json::array({1e-3})}}});
  ASSERT_TRUE(run({"peak:fma:f32", kFirst}));
  const auto all = results();
  ASSERT_EQ(all[0].outcome, Outcome::kOk) << all[0].reason;
  ASSERT_EQ(all[1].outcome, Outcome::kOk) << all[1].reason;
  EXPECT_FALSE(all[0].ceiling_fraction);
  ASSERT_TRUE(all[1].ceiling_fraction);
  EXPECT_NEAR(*all[1].ceiling_fraction, *all[1].flop / *all[0].flop, 1e-9);
}

TEST_F(OutcomeTest, EveryKernelOfTheFakeRunsOnTheWholeTeam) {
  Plan all_kernels = plan({"peak:fma:f64", "stream:triad:f64:1048576", "stream:copy:f64:1048576", "gemm:f32:tn:m8n9k10",
                           "conv:fwd:f32:n1c3h8w8k4r3s3sh1sw1ph1pw1", "conv:bwd_data:f32:n1c3h8w8k4r3s3sh1sw1ph1pw1",
                           "conv:bwd_weights:f32:n1c3h8w8k4r3s3sh1sw1ph1pw1"});
  all_kernels.threads = 0;
  ASSERT_TRUE(carry_out_here(all_kernels, driver()));
  for (const ResultRecord& r : results()) EXPECT_EQ(r.outcome, Outcome::kOk) << r.problem << ": " << r.reason;
}

TEST_F(OutcomeTest, TheFrontEndIsToldInOrder) {
  std::vector<std::string> told;
  double last_fraction = -1;
  RunObserver observer;
  observer.case_started = [&](const PlannedCase& c) { told.push_back("start " + c.problem); };
  observer.case_progress = [&](const PlannedCase&, const std::string& phase, double fraction) {
    if (phase == "measure" && fraction > 0) {
      EXPECT_GE(fraction, last_fraction);
      EXPECT_LE(fraction, 1);
      last_fraction = fraction;
    }
  };
  observer.case_finished = [&](const PlannedCase& c, const ResultRecord& r) {
    EXPECT_EQ(c.problem, r.problem);
    told.push_back("end " + c.problem);
    last_fraction = -1;
  };
  ASSERT_TRUE(carry_out_here(plan({kFirst, kSecond}), driver(), observer));
  EXPECT_THAT(told, testing::ElementsAre(std::string("start ") + kFirst, std::string("end ") + kFirst,
                                         std::string("start ") + kSecond, std::string("end ") + kSecond));
}

}  // namespace
}  // namespace hbmark::tests
