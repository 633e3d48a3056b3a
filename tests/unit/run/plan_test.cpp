#include "bench/run/plan.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "bench/run/job.h"

namespace hbmark {
namespace {

using testing::HasSubstr;

Plan example() {
  Plan plan;
  plan.suite = "quick";
  plan.label = "KNL \"flat\"\nBärlauch";
  plan.precision = 0.1 + 0.2;
  plan.timeout_s = 1e-3;
  plan.seed = UINT64_MAX;
  plan.threads = 272;
  plan.launches = 8;
  plan.replicas = 4;
  plan.replicas_split = true;
  plan.placements = {{"default", 0}, {"fast-interleave", 4}};
  plan.pin = "compact";
  plan.pages = "2m";
  plan.cold_cache = true;
  plan.energy = true;
  plan.backend_paths = {"/a b/c", ""};
  plan.backend_files = {"/a b/c/hbmark_onednn.so"};
  PlannedCase measured;
  measured.index = 0;
  measured.problem = "gemm:f32:nn:m1n2k3";
  measured.backend = "onednn";
  measured.device = "cpu";
  measured.budget_s = 1.0 / 3;
  measured.occurrences = 2.5;
  PlannedCase decided = measured;
  decided.index = 1;
  decided.placement = 1;
  decided.decided = Outcome::kUnavailable;
  decided.decided_reason = "no driver";
  plan.cases = {measured, decided};
  return plan;
}

TEST(PlanJson, IsReadBackAsItWasWritten) {
  const Plan plan = example();
  const std::string text = plan_to_json(plan);
  EXPECT_EQ(text.find('\n'), std::string::npos);
  const auto read = plan_from_json(text);
  ASSERT_TRUE(read) << read.error().why;
  EXPECT_EQ(*read, plan);
  EXPECT_EQ(plan_to_json(*read), text);
}

TEST(PlanJson, EveryOutcomeCanBeDecided) {
  Plan plan = example();
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    plan.cases[1].decided = static_cast<Outcome>(i);
    const auto read = plan_from_json(plan_to_json(plan));
    ASSERT_TRUE(read);
    EXPECT_EQ(*read, plan);
  }
}

TEST(PlanJson, TextThatIsNotUtf8CostsItsBytesAndNothingElse) {
  Plan plan = example();
  plan.label = "caf\xE9";
  const auto read = plan_from_json(plan_to_json(plan));
  ASSERT_TRUE(read);
  EXPECT_THAT(read->label, HasSubstr("caf"));
  EXPECT_EQ(read->cases, plan.cases);
}

class BadPlan : public testing::TestWithParam<std::pair<const char*, const char*>> {};

TEST_P(BadPlan, IsRefusedWithItsReason) {
  const auto& [text, part_of_why] = GetParam();
  const auto read = plan_from_json(text);
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(read.error().why, HasSubstr(part_of_why));
}

INSTANTIATE_TEST_SUITE_P(
    Each, BadPlan,
    testing::Values(std::pair("", "parse error"), std::pair("{", "parse error"), std::pair("[]", "at()"),
                    std::pair("{}", "schema"), std::pair(R"({"schema":"hbmark.plan/2"})", "hbmark.plan/2"),
                    std::pair(R"({"schema":"hbmark.plan/1"})", "suite"), std::pair(R"({"schema":7})", "type"),
                    std::pair(R"({"schema":"hbmark.plan/1","suite":"","label":"","precision":"x"})", "number")));

TEST(PlanJson, AWholeNumberMustBeOneAndFit) {
  const std::string text = plan_to_json(example());
  for (const char* bad : {"1e300", "18446744073709551616", "-1", "1.5", "2147483648000000000000.0", "true", "null"}) {
    std::string changed = text;
    const std::string seed = std::to_string(UINT64_MAX);
    changed.replace(changed.find(seed), seed.size(), bad);
    const auto read = plan_from_json(changed);
    ASSERT_FALSE(read) << bad;
    EXPECT_THAT(read.error().why, HasSubstr("seed"));
  }
  std::string wide = text;
  wide.replace(wide.find("272"), 3, "2147483648");
  EXPECT_FALSE(plan_from_json(wide));
}

TEST(PlanJson, AnUnknownOutcomeIsRefused) {
  std::string text = plan_to_json(example());
  text.replace(text.find("unavailable"), 11, "unthinkable");
  const auto read = plan_from_json(text);
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().why, HasSubstr("unthinkable"));
}

TEST(PlanJson, AnOlderPlanHasOnePlacement) {
  Plan plan = example();
  plan.placements = {PlacementWish{}};
  plan.cases[1].placement = 0;
  plan.pin = "scatter";
  plan.pages = "";
  auto document = nlohmann::json::parse(plan_to_json(plan));
  for (const char* name : {"placements", "pin", "pages"}) document.erase(name);
  for (auto& line : document["cases"]) line.erase("placement");
  const auto read = plan_from_json(document.dump());
  ASSERT_TRUE(read) << read.error().why;
  EXPECT_EQ(*read, plan);
}

TEST(PlanJson, ACaseWithoutItsPlacementIsRefused) {
  Plan plan = example();
  plan.placements.pop_back();
  EXPECT_THAT(plan_from_json(plan_to_json(plan)).error().why, HasSubstr("case 1"));
}

TEST(Wishes, AreTheTopologysWords) {
  const Plan plan = example();
  EXPECT_EQ(thread_wish(plan, 1).threads, 272);
  EXPECT_EQ(thread_wish(plan, 1).per_core, 4);
  EXPECT_EQ(thread_wish(plan, 1).pin, topology::Pin::kCompact);
  EXPECT_EQ(huge_pages(plan), topology::HugePages::kPool);
  EXPECT_EQ(thread_wish(Plan{}, 0).pin, topology::Pin::kScatter);
  EXPECT_EQ(huge_pages(Plan{}), topology::HugePages::kAdvise);
}

TEST(JobJson, IsReadBackAsItWasWritten) {
  WorkerJob job;
  job.plan = example();
  job.thread_pus = {0, 4, 8};
  job.omp_places = "{0},{4},{8}";
  job.program = "/usr/bin/hbmark";
  job.memory = {"fast-preferred", "mcdram", topology::MemoryRule::kPreferred, {1, 5}};
  for (const auto& room : {std::optional<std::uint64_t>(), std::optional<std::uint64_t>(UINT64_MAX)}) {
    job.memory_room_bytes = room;
    const auto read = job_from_json(job_to_json(job));
    ASSERT_TRUE(read) << read.error().why;
    EXPECT_EQ(read->plan, job.plan);
    EXPECT_EQ(read->thread_pus, job.thread_pus);
    EXPECT_EQ(read->omp_places, job.omp_places);
    EXPECT_EQ(read->program, job.program);
    EXPECT_EQ(read->memory, job.memory);
    EXPECT_EQ(read->memory_room_bytes, room);
  }
}

TEST(JobJson, APlanIsNotAJob) {
  const auto read = job_from_json(plan_to_json(example()));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().next, HasSubstr("hbmark run"));
}

}  // namespace
}  // namespace hbmark
