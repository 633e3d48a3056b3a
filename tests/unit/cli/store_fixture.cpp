#include "tests/unit/cli/store_fixture.h"

#include <stdlib.h>

#include <utility>
#include <vector>

namespace hbmark::tests {
namespace {

constexpr const char* kNodeUuid = "11111111-0000-4000-8000-000000000001";
constexpr const char* kEnvironmentUuid = "22222222-0000-5000-8000-000000000001";
constexpr const char* kConfigurationUuid = "33333333-0000-5000-8000-000000000001";

ResultRecord base(std::int64_t index, const std::string& problem) {
  ResultRecord result;
  result.uuid = "44444444-0000-4000-8000-0000000000" + std::to_string(10 + index);
  result.run_uuid = kFixtureRun;
  result.configuration_uuid = kConfigurationUuid;
  result.case_index = index;
  result.problem = problem;
  result.kernel = problem.substr(0, problem.find(':'));
  result.backend = "onednn";
  result.device = "cpu";
  result.memory_kind = "any";
  result.threads = 4;
  result.outcome = Outcome::kOk;
  result.library = "oneDNN 2.6.3";
  result.isa = "avx512_core";
  result.pages = {{0, 1.0}};
  result.thread_pus = {0, 1, 2, 3};
  result.wall_s = 2;
  result.finished_at = "2026-11-30T20:42:00Z";
  return result;
}

ResultRecord measured(std::int64_t index, const std::string& problem, double median_s, double half_width) {
  ResultRecord result = base(index, problem);
  result.time = TimeSummary{median_s, median_s * (1 - half_width), median_s * (1 + half_width), median_s * 0.98, 40,
                            4,        "order statistics"};
  result.implementation = "brgemm:avx512_core";
  result.layout = "plain";
  result.verified = Verification{16384, 2e-6, 1e-5, "16384 sampled elements and a random projection of every element"};
  result.timed_s = 1.5;
  result.stopped_by = "precision";
  return result;
}

std::vector<ResultRecord> fixture_results() {
  std::vector<ResultRecord> all;
  all.push_back(measured(0, "peak:fma:f32", 1e-3, 0.004));
  all.back().flop = 5e8;
  all.back().library.clear();
  all.back().backend = "cpu";
  all.push_back(measured(1, "stream:triad:f64:268435456", 8.05e-2, 0.011));
  all.back().flop = 6.7e7;
  all.back().bytes = 8.05e8;
  all.back().library.clear();
  all.back().backend = "cpu";
  all.push_back(measured(2, "gemm:f32:nn:m1024n1024k1024", 5.2e-3, 0.0083));
  all.back().flop = 2.147e9;
  all.back().bytes = 1.26e7;
  all.back().ceiling_fraction = 0.826;
  all.push_back(measured(3, "conv:fwd:f32:n32c64h56w56k64r3s3sh1sw1ph1pw1", 1.999e-2, 0.019));
  all.back().flop = 7.4e9;
  all.back().ceiling_fraction = 1.04;
  all.back().flags = {"algorithmic"};
  all.back().reorder_s = 1.2e-3;
  all.push_back(measured(4, "conv:bwd_weights:f32:n32c2048h112w112k2048r11s11sh4sw4ph2pw2/g=32", 2.31, 0.06));
  all.back().flop = 9.9e11;
  all.back().ceiling_fraction = 0.5;
  all.back().flags = {"noisy", "drifting", "over_budget"};
  all.back().reorder_s = 0.11;
  all.push_back(measured(5, "gemm:f32:tt:m16n16k16", 4.1e-7, 0));
  all.back().time->ci_low.reset();
  all.back().time->ci_high.reset();
  all.back().time->samples = 4;
  all.back().time->interval_method = "4 samples, 6 needed";
  all.back().flop = 8192;
  all.push_back(measured(6, "gemm:f32:nt:m512n512k512", 9.99996e-4, 0.002));
  all.back().outcome = Outcome::kWrongResult;
  all.back().reason = "c[12,7] is 3.5, expected 1.25";
  all.push_back(base(7, "conv:bwd_data:f32:n32c64h56w56k64r3s3sh1sw1ph1pw1"));
  all.back().outcome = Outcome::kCrashed;
  all.back().reason = "the worker was ended by signal SIGSEGV (Segmentation fault) during measure";
  all.back().log = "free(): invalid \x1b[31mpointer";
  all.push_back(base(8, "gemm:f32:nn:m200000n200000k200000"));
  all.back().outcome = Outcome::kSkipped;
  all.back().reason = "would not fit: needs 447 GiB, has 14 GiB";
  return all;
}

}  // namespace

void StoreFixture::SetUp() {
  std::string name = (std::filesystem::temp_directory_path() / "hbmark_cli_XXXXXX").string();
  ASSERT_NE(mkdtemp(name.data()), nullptr);
  folder_ = name;
  db_ = folder_ / "results.db";
  auto store = Store::open(db_, OpenMode::kWrite);
  ASSERT_TRUE(store) << store.error().what << ": " << store.error().why;
  store_ = std::make_unique<Store>(std::move(*store));
  ASSERT_TRUE(store_->save_node({kNodeUuid, "node-07",
                                 R"({"schema":"hbmark.node/1","cpu_model":"Intel(R) Xeon(R) Gold 6148","cores":4,"pus":8,)"
                                 R"("numa":[{"os_index":0}],"memory_mode":{"value":"none","source":""}})"}));
  ASSERT_TRUE(store_->save_environment({kEnvironmentUuid, {{"kernel", "Linux 6.1.0"}, {"governor", "performance"}}}));
  ASSERT_TRUE(
      store_->save_configuration({kConfigurationUuid, kNodeUuid, "onednn", "cpu", {0, 1, 2, 3}, "any", "first_touch", 1}));
  RunRecord run;
  run.uuid = kFixtureRun;
  run.label = "before BIOS update";
  run.command = "hbmark run --label 'before BIOS update'";
  run.hbmark_version = "0.1.0";
  run.suite = "quick";
  run.plan = "{}";
  run.node_uuid = kNodeUuid;
  run.environment_uuid = kEnvironmentUuid;
  run.started_at = "2026-11-30T20:41:11Z";
  run.finished_at = "2026-11-30T20:43:00Z";
  run.state = "finished";
  ASSERT_TRUE(store_->save_run(run));
  for (const ResultRecord& result : fixture_results()) {
    std::vector<SampleRecord> samples;
    if (result.time) samples = {{result.uuid, 0, 0, result.time->median}, {result.uuid, 0, 1, result.time->median * 1.01}};
    const auto saved = store_->save_result(result, samples);
    ASSERT_TRUE(saved) << saved.error().what << ": " << saved.error().why;
  }
}

void StoreFixture::TearDown() {
  store_.reset();
  std::error_code ignored;
  if (!folder_.empty()) std::filesystem::remove_all(folder_, ignored);
}

}  // namespace hbmark::tests
