#include "bench/run/case_runner.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <new>
#include <optional>
#include <string_view>

#include "bench/measure/sampler.h"
#include "bench/problems/text.h"
#include "bench/problems/types.h"
#include "bench/run/candidate_search.h"
#include "bench/run/case_work.h"
#include "bench/run/host_services.h"
#include "bench/run/replica_results.h"
#include "bench/run/replica_split.h"
#include "results/stats/summary.h"

namespace hbmark {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// Bytes of the operands in their canonical layout; those whose size only the plugin knows count nothing yet.
std::uint64_t canonical_bytes(std::span<const OperandSpec> operands) {
  std::uint64_t bytes = 0;
  for (const OperandSpec& operand : operands) bytes += operand.elements * element_bytes(operand.type);
  return bytes;
}

// What `ulimit -v` has to do with it; empty when it is not set.
std::string memory_limit() {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return "";
  return fmt::format(": a process may have {} of memory in this shell; raise it (ulimit -v unlimited)",
                     text::bytes_text(limit.rlim_cur));
}

void poison(std::vector<HostArray>& arrays) {
  for (HostArray& array : arrays) std::memset(array.bytes.data(), 0xFF, array.bytes.size());
}

std::vector<std::size_t> digests_of(const std::vector<HostArray>& arrays) {
  std::vector<std::size_t> digests;
  for (const HostArray& array : arrays) {
    digests.push_back(
        std::hash<std::string_view>{}({reinterpret_cast<const char*>(array.bytes.data()), array.bytes.size()}));
  }
  return digests;
}

}  // namespace

CaseRunner::CaseRunner(Backends& backends, const WorkerJob& job, Status placed, const WorkerProbes& probes,
                       CaseListener listener, ReplicaTeam* team)
    : backends_(backends),
      job_(job),
      placed_(std::move(placed)),
      probes_(probes),
      clock_at_start_(probes.clock()),
      listener_(std::move(listener)),
      team_(team) {
  if (job.plan.energy && job.replica == 0) energy_ = probes.energy();
  placement_.thread_pus = job.thread_pus;
  placement_.omp_places = job.omp_places;
}

Event CaseRunner::run(const PlannedCase& planned) {
  const auto start = Clock::now();
  Event event;
  event.kind = EventKind::kResult;
  event.case_index = planned.index;
  event.result.problem = planned.problem;
  event.result.thread_pus = job_.thread_pus;
  Step<void> done;
  try {
    done = team_ == nullptr || team_->begin_case() ? carry_out(planned, event)
                                                   : case_ends(Outcome::kNotRun, "the run was interrupted");
  } catch (const std::bad_alloc&) {
    done = case_ends(Outcome::kUnavailable, "out of memory for the operands on the host" + memory_limit());
  }
  if (team_ != nullptr) team_->leave_case(!done);
  event.result.outcome = done ? Outcome::kOk : done.error().outcome;
  if (!done) {
    // Times of a case that did not hold are not shown to anybody.
    event.result.reason = done.error().reason.empty() ? "no reason was given" : done.error().reason;
    event.result.time.reset();
    event.result.replica_times_s.clear();
    event.result.replica_alone_s.reset();
    event.samples.clear();
  }
  event.result.wall_s = seconds_since(start);
  return event;
}

Step<void> CaseRunner::carry_out(const PlannedCase& planned, Event& event) {
  auto problem = parse_problem(planned.problem);
  if (!problem)
    return case_ends(Outcome::kFailed, fmt::format("the planned problem cannot be read: {}", problem.error().why));
  if (job_.plan.replicas_split) {
    auto part = split_problem(*problem, job_.plan.replicas);
    if (!part) return case_ends(Outcome::kUnsupported, part.error().why + "; " + part.error().next);
    if (*part != *problem) event.result.flags.emplace_back("split");
    problem = std::move(part);
  }
  Work work{planned, std::move(*problem), nullptr, {}, {}, {}, {}, {}, nullptr};
  event.result.kernel = work.problem.kernel->name;
  if (!placed_) return case_ends(Outcome::kMisplaced, fmt::format("{}: {}", placed_.error().what, placed_.error().why));
  auto backend = open(planned);
  if (!backend) return tl::make_unexpected(backend.error());
  work.backend = *backend;
  event.result.library = work.backend->library();

  const hbmark_kernel* kernel = work.backend->kernel(std::string(work.problem.kernel->capability));
  if (kernel == nullptr) {
    return case_ends(Outcome::kUnsupported,
                     fmt::format("backend '{}' has no {} kernel", planned.backend, work.problem.kernel->name));
  }
  work.specs = work.problem.kernel->operands(work.problem);
  work.abi_problem = work.problem.kernel->to_abi(work.problem);
  auto bound = BoundCase::prepare(*work.backend, *kernel, work.abi_problem, listener_.phase, [&] {
    // Canonical on the host and once more in the library's layout: before anything of that size is allocated.
    return must_fit(2 * canonical_bytes(work.specs));
  });
  if (!bound) return tl::make_unexpected(bound.error());
  work.bound = std::move(*bound);

  return make_arrays(work)
      .and_then([&] { return search(work, event); })
      .and_then([&] { return place(work, event); })
      .and_then([&] { return check_outputs(work, event, false); })
      .and_then([&] { return measure(work, event); })
      .and_then([&] { return check_pages(*work.bound, event, "after the last sample"); })
      .and_then([&] { return measure_energy(work, event); })
      .and_then([&] { return check_outputs(work, event, true); })
      .and_then([&] { return check_team(event); })
      .and_then([&] { return describe(work, event); });
}

Step<OpenBackend*> CaseRunner::open(const PlannedCase& planned) {
  listener_.phase("open");
  bool newly_opened = false;
  auto backend = backends_.get(planned.backend, planned.device, newly_opened);
  if (backend && newly_opened && !(*backend)->warning().empty()) listener_.warning((*backend)->warning());
  return backend;
}

Step<void> CaseRunner::make_arrays(Work& work) {
  const auto device_bytes = work.bound->load_operands();
  if (!device_bytes) return tl::make_unexpected(device_bytes.error());
  if (auto same = work.bound->compare_operands(work.specs); !same) return same;
  std::size_t next = 0;
  for (const hbmark_operand& operand : work.bound->operands()) {
    if (operand.role == HBMARK_WORKSPACE) continue;
    OperandSpec& spec = work.specs[next++];
    if (spec.elements == 0) spec.elements = operand.canonical_bytes / element_bytes(spec.type);
  }
  if (auto fits = must_fit(canonical_bytes(work.specs) + *device_bytes); !fits) return fits;
  if (auto fits = must_fit_pool(*work.bound); !fits) return fits;
  // All ask before any of them takes: each counts for all.
  if (auto met = meet_replicas(); !met) return met;
  listener_.phase("fill");
  for (const OperandSpec& spec : work.specs) {
    HostArray array{spec, std::vector<std::byte>(spec.elements * element_bytes(spec.type))};
    if (spec.output) {
      work.outputs.push_back(std::move(array));
    } else {
      fill_input(work.problem, array, job_.plan.seed);
      work.inputs.push_back(std::move(array));
    }
  }
  return {};
}

Step<void> CaseRunner::search(Work& work, Event& event) {
  listener_.phase("search");
  auto found = search_candidates(*work.bound, work.inputs, work.planned.budget_s);
  if (!found) return tl::make_unexpected(found.error());
  if (!found->note.empty()) event.result.log += found->note + '\n';
  if (auto agreed = agree_on_candidate(work, found->candidate); !agreed) return agreed;
  const auto device_bytes = work.bound->load_operands();  // of the candidate that was selected
  if (!device_bytes) return tl::make_unexpected(device_bytes.error());
  event.facts.working_set_bytes = *device_bytes;
  return work.bound->compare_operands(work.specs);
}

Step<void> CaseRunner::place(Work& work, Event& event) {
  if (auto bound = work.bound->allocate_and_bind(); !bound) return bound;
  if (auto written = work.bound->write_inputs(work.inputs); !written) return written;
  work.bound->poison_outputs();
  listener_.phase("run");
  if (auto first = work.bound->run(1); !first) return tl::make_unexpected(first.error());
  if (auto right = check_pages(*work.bound, event, "after first touch"); !right) return right;
  const auto info = work.bound->info();
  if (!info) return tl::make_unexpected(info.error());
  event.facts.algorithm_class = info->algorithm_class;
  return {};
}

Step<void> CaseRunner::check_outputs(Work& work, Event& event, bool again) {
  poison(work.outputs);  // a read that writes nothing must not pass for the last one
  if (auto read = work.bound->read_outputs(work.outputs); !read) return read;
  listener_.phase(again ? "check again" : "check");
  std::vector<std::size_t> digests = digests_of(work.outputs);
  if (again && digests == work.right_digests) return {};
  const CheckReport report = work.problem.kernel->check(
      CheckInput{work.problem, work.inputs, work.outputs, event.facts.algorithm_class, job_.plan.seed});
  event.result.verified = Verification{report.checked, report.max_rel_error, report.tolerance, report.method};
  if (!report.ok()) {
    return case_ends(Outcome::kWrongResult, fmt::format("{}{} (largest error {:.3g}, tolerance {:.3g})",
                                                        again ? "right at first and wrong after sampling: " : "",
                                                        report.first_wrong, report.max_rel_error, report.tolerance));
  }
  if (!again) {
    work.right_digests = std::move(digests);
    // Sampling must compute them anew: calls that do nothing leave the poison.
    work.bound->poison_outputs();
  }
  return {};
}

Step<void> CaseRunner::ready_flusher(const Work& work) {
  if (!work.bound->on_host()) {
    return case_ends(
        Outcome::kUnsupported,
        fmt::format("--cold-cache: the operands of device '{}' are not in host memory, whose caches alone can be "
                    "flushed; measure it without",
                    work.planned.device));
  }
  if (flusher_) return {};
  auto made = CacheFlusher::make(job_.sweep_bytes, static_cast<int>(job_.thread_pus.size()));
  if (!made)
    return case_ends(Outcome::kSkipped, fmt::format("{}: {}; {}", made.error().what, made.error().why, made.error().next));
  flusher_ = std::move(*made);
  return {};
}

// Calls that end the case when they fail; `end` then says how.
RunCalls CaseRunner::calls_of(Work& work, std::optional<CaseEnd>& end) {
  return [&](std::int64_t calls) -> Result<double> {
    Step<double> elapsed_s = cancel_requested() ? case_ends(Outcome::kNotRun, "the run was interrupted")
                                                : work.bound->run(static_cast<std::uint64_t>(calls));
    if (elapsed_s) return *elapsed_s;
    end = elapsed_s.error();
    return fail(ErrorKind::kEnvironment, "sampling ended", end->reason, "");
  };
}

Step<Measurement> CaseRunner::sample_alone(Work& work, const SamplingOptions& options, const SamplingProgress& progress) {
  std::optional<CaseEnd> end;
  const RunCalls run_calls = calls_of(work, end);
  auto measured = sample(run_calls, options, progress);
  if (end) return tl::make_unexpected(*end);
  if (!measured) return case_ends(Outcome::kFailed, fmt::format("{}: {}", measured.error().what, measured.error().why));
  return std::move(*measured);
}

Step<void> CaseRunner::measure(Work& work, Event& event) {
  listener_.phase("measure");
  SamplingOptions options;
  options.precision = job_.plan.precision;
  options.budget_s = work.planned.budget_s;
  options.device_clock = work.backend->timer() != nullptr;
  const bool cold = runs_cold(job_.plan, work.planned.problem);
  if (cold) {
    if (auto ready = ready_flusher(work); !ready) return ready;
    options.before_sample = [this, buffers = work.bound->buffers()] { flusher_->flush(buffers); };
  }
  if (team_ != nullptr && !work.bound->on_host()) {
    return case_ends(Outcome::kUnsupported,
                     fmt::format("--replicas: device '{}' keeps its operands in memory of its own, and parts of this node's "
                                 "CPUs are not parts of it; measure it without",
                                 work.planned.device));
  }
  if (auto met = meet_replicas(); !met) return met;
  if (job_.replica > 0) return serve(work, &event);
  const ClockReading before = probes_.clock();
  auto measured = team_ != nullptr ? sample_together(work, options, event) : sample_alone(work, options, listener_.progress);
  if (!measured) return tl::make_unexpected(measured.error());
  event.result.time = measured->summary;
  event.result.flags.insert(event.result.flags.end(), measured->flags.begin(), measured->flags.end());
  event.result.stopped_by = measured->stopped_by;
  event.result.timed_s = measured->timed_s;
  event.samples = std::move(measured->samples);
  if (cold) event.result.flags.emplace_back("cold");
  note_clock(before, event);
  return {};
}

void CaseRunner::note_clock(const ClockReading& before, Event& event) const {
  const ClockReading after = probes_.clock();
  event.result.clock_before_hz = before.hz;
  event.result.clock_after_hz = after.hz;
  event.result.clock_note = before.hz ? after.note : before.note;
  if (is_throttled(clock_at_start_.hz, before.hz, after.hz)) event.result.flags.emplace_back("throttled");
}

Step<void> CaseRunner::measure_energy(Work& work, Event& event) {
  if (!job_.plan.energy) return {};
  if (team_ == nullptr) return read_meter(work, event);
  if (auto met = meet_replicas(); !met) return met;
  if (job_.replica > 0) return serve(work, nullptr);
  return read_meter(work, event).and_then([&] { return follow_first(0); }).map([](std::int64_t) {});
}

// A meter that fails costs the energy, not the case; calls that fail end it.
Step<void> CaseRunner::read_meter(Work& work, Event& event) {
  ResultRecord& result = event.result;
  if (!*energy_) {
    result.energy_note = fmt::format("not readable: {}", energy_->error().why);
  } else if (!work.bound->on_host()) {
    result.energy_note = "not measured: the meter counts CPUs, and this ran on another device";
  } else if (runs_cold(job_.plan, work.planned.problem)) {
    result.energy_note = "not measured: it would count the cache flushes between the calls";
  } else {
    listener_.phase("energy");
    std::optional<CaseEnd> end;
    ReplicaRates rates;
    const RunCalls run_calls = team_ != nullptr ? calls_of_all(work, end, rates) : calls_of(work, end);
    const EnergyProbe& probe = **energy_;
    auto window = hbmark::measure_energy(run_calls, probe, result.time->median, probes_.energy_window_s);
    if (end) return tl::make_unexpected(*end);
    if (!window) {
      result.energy_note = fmt::format("not readable: {}", window.error().why);
      return {};
    }
    if (team_ != nullptr) {  // those that waited for the slowest called on meanwhile
      const double rounds = rates.calls / job_.plan.replicas;
      window->call_j *= static_cast<double>(window->calls) / rounds;
    }
    result.energy_j = window->call_j;
    result.energy_scope = probe.scope;
    result.energy_note =
        fmt::format("{} calls in {:.3g} s, all that the node used meanwhile", window->calls, window->window_s);
  }
  return {};
}

Step<void> CaseRunner::check_team(Event& event) {
  const auto team = find_team(static_cast<int>(job_.thread_pus.size()));
  event.result.thread_pus.clear();
  for (const topology::ThreadFinding& thread : team) event.result.thread_pus.push_back(thread.running_on);
  const Status placed = check_threads(placement_, team);
  if (placed) return {};
  return case_ends(Outcome::kMisplaced,
                   fmt::format("threads were moved while measuring: {}: {}", placed.error().what, placed.error().why));
}

Step<void> CaseRunner::describe(Work& work, Event& event) {
  const auto info = work.bound->info();
  if (!info) return tl::make_unexpected(info.error());
  ResultRecord& result = event.result;
  result.implementation = info->implementation;
  result.isa = info->isa[0] != '\0' ? info->isa : work.backend->isa();
  result.layout = info->layout;
  result.flop = work.problem.kernel->flop(work.problem);
  result.bytes = work.problem.kernel->bytes(work.problem);
  if (work.problem.kernel->loads != nullptr) result.loads = work.problem.kernel->loads(work.problem);
  if (info->flop_per_call > 0) result.flop = info->flop_per_call;
  if (info->bytes_per_call > 0) result.bytes = info->bytes_per_call;
  if (info->has_conversion != 0) time_conversion(work, event);
  return {};
}

void CaseRunner::time_conversion(Work& work, Event& event) {
  // A median of a few: it stands beside the result as a cost to know of, and is not ranked. The first is warm-up.
  constexpr int kConversions = 5;
  constexpr double kEnoughS = 0.2;
  listener_.phase("convert");
  std::vector<double> times;
  double total_s = 0;
  for (int i = 0; i <= kConversions && (times.empty() || total_s < kEnoughS); ++i) {
    const auto elapsed_s = work.bound->convert(1);
    if (!elapsed_s) {
      event.result.log += fmt::format("layout conversion was not timed: {}\n", elapsed_s.error().reason);
      return;
    }
    total_s += *elapsed_s;
    if (i > 0) times.push_back(*elapsed_s);
  }
  event.result.reorder_s = stats::median(times);
}

}  // namespace hbmark
