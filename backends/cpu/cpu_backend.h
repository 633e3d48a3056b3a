// The cpu backend's session: stream and peak on the OpenMP threads of this process, chase on the calling one.
//
// Threads: as backends/sdk/backend.h says; run() of stream and peak forks an OpenMP team of omp_get_max_threads().
#pragma once

#include <memory>
#include <vector>

#include "backends/abi/chase.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "backends/cpu/isa.h"
#include "backends/sdk/backend.h"

namespace hbmark::cpu {

sdk::Status stream_supported(const hbmark_stream_problem& problem);
sdk::Status chase_supported(const hbmark_chase_problem& problem);
sdk::Status peak_supported(const hbmark_peak_problem& problem);
std::unique_ptr<sdk::Case> make_stream_case(const hbmark_stream_problem& problem, const Isa& isa, const sdk::Host& host);
std::unique_ptr<sdk::Case> make_chase_case(const hbmark_chase_problem& problem, const sdk::Host& host);
std::unique_ptr<sdk::Case> make_peak_case(const hbmark_peak_problem& problem, const Isa& isa, const sdk::Host& host);

class CpuSession final : public sdk::Session {
 public:
  CpuSession(const sdk::Host& host, const Isa& isa) : Session(host), isa_(isa) {}

  sdk::Status supports(const hbmark_stream_problem& problem) const { return stream_supported(problem); }
  sdk::Status supports(const hbmark_chase_problem& problem) const { return chase_supported(problem); }
  sdk::Status supports(const hbmark_peak_problem& problem) const { return peak_supported(problem); }
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const hbmark_stream_problem& problem);
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const hbmark_chase_problem& problem);
  sdk::Expected<std::unique_ptr<sdk::Case>> prepare(const hbmark_peak_problem& problem);
  sdk::Expected<sdk::SessionInfo> describe() const override;

 private:
  Isa isa_;
};

}  // namespace hbmark::cpu
