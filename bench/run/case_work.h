// What one case of a CaseRunner holds while it runs. Internal to bench/run.
//
// Plain data of one thread; the plugin's case is released first, before the arrays its buffers were filled from.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/run/bound_case.h"
#include "bench/run/case_runner.h"

namespace hbmark {

struct CaseRunner::Work {
  const PlannedCase& planned;
  Problem problem;
  OpenBackend* backend = nullptr;
  std::vector<std::byte> abi_problem;
  std::vector<OperandSpec> specs;
  std::vector<HostArray> inputs;
  std::vector<HostArray> outputs;
  std::vector<std::size_t> right_digests;  // of the outputs as they were found right: a copy could be gigabytes
  std::unique_ptr<BoundCase> bound;        // last: released first
};

}  // namespace hbmark
