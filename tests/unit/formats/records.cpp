#include "records.h"

#include <limits>

namespace hbmark::tests {

RunRecord a_run() {
  RunRecord run;
  run.uuid = "5f0c2a34-9f58-4d0e-8d29-7b1f3f2d9a01";
  run.label = "flat, bound";
  run.command = "hbmark run --suite quick --label 'flat, bound'";
  run.hbmark_version = "0.1.0";
  run.suite = "quick";
  run.plan = R"({"cases":[{"index":0}],"precision":0.02})";
  run.node_uuid = "c1f8b9de-21b4-5a0e-9b3c-5a7e8f1d2c03";
  run.environment_uuid = "d2a9c8ef-32c5-5b1f-8c4d-6b8f9a2e3d04";
  run.started_at = "2026-11-30T20:41:11Z";
  run.finished_at = "2026-11-30T20:43:00Z";
  run.state = "finished";
  run.boot_id = "0cc37b1d-3e39-42c1-aef0-f383c6458139";
  return run;
}

ResultRecord full_result() {
  ResultRecord result;
  result.uuid = "0b6f7a52-1c0d-4e9f-a1b2-c3d4e5f60718";
  result.run_uuid = a_run().uuid;
  result.configuration_uuid = "e3bad9f0-43d6-5c20-9d5e-7c90ab3f4e05";
  result.case_index = 0;
  result.problem = "gemm:f32:nn:m1024n1024k1024";
  result.kernel = "gemm";
  result.backend = "onednn";
  result.device = "cpu";
  result.memory_kind = "mcdram";
  result.threads = 4;
  result.replicas = 2;
  result.launches = 3;
  result.outcome = Outcome::kOk;
  result.flags = {"noisy", "cold"};
  result.time = TimeSummary{0.0123, 0.0121, 0.0125000000001, 0.012, 3, 7, "order statistics"};
  result.flop = 2147483648.0;
  result.loads = 32771;
  result.bytes = 12582912.0;
  result.ceiling_flop_per_s = 2.0e11;
  result.ceiling_bytes_per_s = 1.0e10;
  result.ceiling_fraction = 0.1 + 0.2;
  result.implementation = "jit:avx2";
  result.isa = "avx2";
  result.library = "oneDNN 2.6.3";
  result.layout = "plain";
  result.verified =
      Verification{16385, 1.1920929e-07, 1e-4, "16384 sampled elements and a random projection of every element"};
  result.pages = {{0, 0.25}, {1, 0.75}};
  result.worker_pages = {{0, 0.125}, {1, 0.875}};
  result.huge_pages = 0.5;
  result.replica_times_s = {{0, 0.0123}, {1, 0.0125}};
  result.replica_alone_s = 0.012;
  result.thread_pus = {0, 2, 4, 6};
  result.reorder_s = 0.0004;
  result.energy_j = 1.5;
  result.energy_scope = "package 0, dram 0";
  result.energy_note = "of 431 calls in 2.01 s";
  result.clock_before_hz = 2.6e9;
  result.clock_after_hz = 2.4e9;
  result.clock_note = "a note";
  result.wall_s = 3.5;
  result.timed_s = 2.25;
  result.stopped_by = "precision";
  result.log = "dnnl_verbose,info\n";
  result.finished_at = "2026-11-30T20:42:00Z";
  return result;
}

ResultRecord empty_result() {
  ResultRecord result;
  result.uuid = "1c7f8b63-2d1e-4f0a-b2c3-d4e5f6071829";
  result.run_uuid = a_run().uuid;
  result.case_index = 1;
  result.problem = "chase:268435456";
  return result;
}

ResultRecord troubled_result() {
  ResultRecord result = full_result();
  result.uuid = "2d809c74-3e2f-4a1b-83d4-e5f607182930";
  result.case_index = 2;
  result.outcome = Outcome::kWrongResult;
  result.reason = "he said \"no\",\r\nthen \xff\xfe and été 漢 🙂";
  result.log = std::string("a\0b", 3);
  result.implementation = std::string("x\0y", 3);
  result.flags = {};
  result.verified->max_rel_error = std::numeric_limits<double>::quiet_NaN();
  result.verified->tolerance = std::numeric_limits<double>::infinity();
  result.energy_j = -std::numeric_limits<double>::infinity();
  result.time->median = 0;  // no rate can be told
  result.time->ci_low.reset();
  result.time->ci_high.reset();
  result.time->interval_method = "too few samples";
  result.flop = std::numeric_limits<double>::denorm_min();
  result.bytes = std::numeric_limits<double>::max();
  return result;
}

std::vector<ExportRow> golden_rows() {
  const ResultRecord full = full_result();
  RunRecord unlabelled = a_run();
  unlabelled.label.clear();
  return {{a_run(), full, {{full.uuid, 0, 0, 0.0123}, {full.uuid, 0, 1, 0.0121}, {full.uuid, 1, 0, 0.1 + 0.2}}},
          {unlabelled, empty_result(), {}},
          {a_run(), troubled_result(), {{troubled_result().uuid, 0, 0, std::numeric_limits<double>::quiet_NaN()}}}};
}

}  // namespace hbmark::tests
