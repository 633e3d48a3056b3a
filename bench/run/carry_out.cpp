#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>
#include <deque>
#include <iterator>

#include "bench/run/interrupt.h"
#include "bench/run/launches.h"
#include "bench/run/recorder.h"
#include "bench/run/run.h"
#include "bench/run/supervisor.h"
#include "results/store/store.h"

namespace hbmark {

namespace {

bool same_configuration(const PlannedCase& a, const PlannedCase& b) {
  return a.backend == b.backend && a.device == b.device && a.placement == b.placement;
}

std::deque<PlannedCase> unfinished_cases(const RunRequest& request) {
  std::deque<PlannedCase> cases;
  for (const PlannedCase& planned : request.plan.cases) {
    const auto& finished = request.finished_cases;
    if (std::find(finished.begin(), finished.end(), planned.index) == finished.end()) cases.push_back(planned);
  }
  return cases;
}

// The next cases of one configuration, taken from the front.
std::deque<PlannedCase> take_row(std::deque<PlannedCase>& cases) {
  std::deque<PlannedCase> row;
  while (!cases.empty() && !cases.front().decided && (row.empty() || same_configuration(row.front(), cases.front()))) {
    row.push_back(cases.front());
    cases.pop_front();
  }
  return row;
}

Status run_cases(std::deque<PlannedCase>& cases, Supervisor& supervisor, Recorder& recorder,
                 const InterruptWatch& interrupts) {
  while (!cases.empty() && interrupts.signal() == 0) {
    const PlannedCase first = cases.front();
    if (first.decided) {
      if (auto saved = recorder.finish(first, *first.decided, first.decided_reason); !saved) return saved;
      cases.pop_front();
      continue;
    }
    std::deque<PlannedCase> row = take_row(cases);
    for (const PlannedCase& planned : row) {  // a peak's is another than that of the cold cases beside it
      if (auto saved = recorder.use_configuration(planned); !saved) return saved;
    }
    Status ran = supervisor.run(row);
    cases.insert(cases.begin(), row.begin(), row.end());
    if (!ran) return ran;
  }
  return {};
}

// Every case once a round, each round in new workers and in an order of its own.
Status run_rounds(std::deque<PlannedCase>& cases, Supervisor& supervisor, Recorder& recorder,
                  const InterruptWatch& interrupts, const Plan& plan) {
  std::deque<PlannedCase> decided;
  std::copy_if(cases.begin(), cases.end(), std::back_inserter(decided), [](const PlannedCase& one) { return one.decided; });
  std::erase_if(cases, [](const PlannedCase& one) { return one.decided; });
  Status done = run_cases(decided, supervisor, recorder, interrupts);
  for (std::int64_t round = 0; done && round < plan.launches; ++round) {
    std::vector<std::vector<PlannedCase>> rows;
    for (std::deque<PlannedCase> left = cases; !left.empty();) {
      const std::deque<PlannedCase> row = take_row(left);
      rows.emplace_back(row.begin(), row.end());
    }
    for (const std::vector<PlannedCase>& row : shuffled_round(std::move(rows), plan.seed, round)) {
      std::deque<PlannedCase> pending(row.begin(), row.end());
      for (PlannedCase& planned : pending) planned.budget_s /= static_cast<double>(plan.launches);
      if (done) done = run_cases(pending, supervisor, recorder, interrupts);
    }
    std::erase_if(cases, [&](const PlannedCase& one) { return recorder.is_over(one); });
  }
  cases.insert(cases.end(), decided.begin(), decided.end());
  return done;
}

Status record_interruption(const std::deque<PlannedCase>& cases, int signal, const RunRequest& request, Recorder& recorder) {
  const std::string reason =
      fmt::format("the run was interrupted by SIG{} before this case had ended; `hbmark run --resume {}` carries it out",
                  sigabbrev_np(signal), request.run.uuid.substr(0, 8));
  for (const PlannedCase& planned : cases) {
    if (const std::int64_t launches = recorder.launches_so_far(planned); launches > 0) {
      recorder.warn(fmt::format("{}: {} of {} launches were made and are kept; --resume makes no more of them",
                                planned.problem, launches, request.plan.launches));
      continue;
    }
    if (auto saved = recorder.finish(planned, Outcome::kNotRun, reason); !saved) return saved;
  }
  return {};
}

}  // namespace

Result<RunSummary> carry_out(const RunRequest& request, Store& store, const RunObserver& observer) {
  const auto start = std::chrono::steady_clock::now();
  auto interrupts = InterruptWatch::start();
  if (!interrupts) return tl::make_unexpected(interrupts.error());
  Recorder recorder(request, store, observer, [&] { return interrupts->signal() != 0; });
  if (auto begun = recorder.begin(); !begun) return tl::make_unexpected(begun.error());

  std::deque<PlannedCase> cases = unfinished_cases(request);
  Supervisor supervisor(request, *interrupts, recorder);
  Status done = request.plan.launches > 1 ? run_rounds(cases, supervisor, recorder, *interrupts, request.plan)
                                          : run_cases(cases, supervisor, recorder, *interrupts);
  const bool interrupted = interrupts->signal() != 0 && !cases.empty();
  if (done && interrupted) done = record_interruption(cases, interrupts->signal(), request, recorder);
  const Status ended = recorder.end(done && !interrupted ? "finished" : "interrupted");
  // The first error says more than that the end could not be recorded either.
  if (!done) return tl::make_unexpected(done.error());
  if (!ended) return tl::make_unexpected(ended.error());
  RunSummary& summary = recorder.summary();
  summary.interrupted = interrupted;
  summary.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return summary;
}

}  // namespace hbmark
