#include "bench/run/replica_team.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <ctime>
#include <new>
#include <utility>

namespace hbmark {

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::uint64_t kLastStep = 0xFFFFFFFF;  // of a case: what a replica that has left it stands at
// Runs of one sample that are remembered, the last of them growing when there are more.
constexpr std::size_t kStamps = 64;
// A replica whose calls are over calls on in pieces of this share of a sample, so that the first end comes soon after the
// slowest has finished.
constexpr std::int64_t kPieces = 8;
constexpr auto kSpin = std::chrono::milliseconds(2);  // replicas of equal parts are together within a sample
constexpr long kPauseNs = 50'000;                     // then the core is left to others
constexpr std::size_t kLineBytes = 64;

std::uint64_t place_of(std::uint64_t number, std::uint64_t step) { return number << 32U | step; }

tl::unexpected<Error> no_block(const char* step) {
  return environment_error("cannot share memory between replicas", fmt::format("{}: {}", step, std::strerror(errno)),
                           "free memory or raise the limits (ulimit -n, ulimit -v), or measure without --replicas");
}

}  // namespace

struct alignas(kLineBytes) ReplicaTeam::Member {
  std::atomic<std::uint64_t> arrived;   // place of the last meeting it came to
  std::atomic<std::uint64_t> finished;  // place of the last run_together whose calls it made
  std::uint64_t stamp_count;
  std::array<ReplicaStamp, kStamps> stamps;
};

// Zeroes, as a new memfd is, are a block at rest. The members stand behind it.
struct alignas(kLineBytes) ReplicaTeam::Block {
  std::atomic<std::uint64_t> failed_case;  // the last that some replica failed in
  // Of two meetings in turn: rank 0 may speak at the next while another has yet to read what was said at this.
  std::array<std::atomic<std::int64_t>, 2> said;

  static_assert(std::atomic<std::uint64_t>::is_always_lock_free, "processes share no locks");
  static std::size_t bytes(int replicas) { return sizeof(Block) + static_cast<std::size_t>(replicas) * sizeof(Member); }
  std::span<Member> members(int replicas) {
    return {reinterpret_cast<Member*>(this + 1), static_cast<std::size_t>(replicas)};
  }
};

Result<Fd> ReplicaTeam::make_block(int replicas) {
  if (replicas < 1 || replicas > kMostReplicas) {
    return usage_error(fmt::format("cannot start {} replicas", replicas), fmt::format("it must be 1 to {}", kMostReplicas),
                       "give fewer");
  }
  Fd block(memfd_create("hbmark-replicas", MFD_CLOEXEC));
  // The child's standard descriptors go to 0, 1 and 2 before it executes.
  if (block.get() >= 0 && block.get() <= 2) block = Fd(fcntl(block.get(), F_DUPFD_CLOEXEC, 3));
  if (block.get() < 0) return no_block("memfd_create");
  // Memory that is not there shows now, and not as SIGBUS in a worker.
  if (const int error = posix_fallocate(block.get(), 0, static_cast<off_t>(Block::bytes(replicas))); error != 0) {
    errno = error;
    return no_block("posix_fallocate");
  }
  return block;
}

Result<ReplicaTeam> ReplicaTeam::join(int block, int rank, int replicas, std::function<bool()> cancelled) {
  struct stat facts {};
  if (fstat(block, &facts) != 0) return no_block("fstat");
  const std::size_t bytes = Block::bytes(std::max(replicas, 1));
  if (rank >= replicas || static_cast<std::size_t>(facts.st_size) < bytes) {
    errno = EINVAL;
    return no_block("its size");
  }
  void* mapped = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, block, 0);
  if (mapped == MAP_FAILED) return no_block("mmap");
  return ReplicaTeam(mapped, bytes, rank, replicas, std::move(cancelled));
}

ReplicaTeam::ReplicaTeam(void* block, std::size_t bytes, int rank, int replicas, std::function<bool()> cancelled)
    : block_(static_cast<Block*>(block)),
      bytes_(bytes),
      rank_(rank),
      replicas_(replicas),
      cancelled_(std::move(cancelled)) {}

ReplicaTeam::ReplicaTeam(ReplicaTeam&& other) noexcept
    : block_(std::exchange(other.block_, nullptr)),
      bytes_(other.bytes_),
      rank_(other.rank_),
      replicas_(other.replicas_),
      case_(other.case_),
      step_(other.step_),
      cancelled_(std::move(other.cancelled_)) {}

ReplicaTeam::~ReplicaTeam() {
  if (block_ != nullptr) munmap(block_, bytes_);
}

// Short waits spin: a replica that slept would start late. Long ones leave the core alone.
bool ReplicaTeam::wait(const std::function<bool()>& over) const {
  const Clock::time_point start = Clock::now();
  while (!over()) {
    if (cancelled_ && cancelled_()) return false;
    if (Clock::now() - start < kSpin) {
      sched_yield();
    } else {
      const timespec pause{0, kPauseNs};
      nanosleep(&pause, nullptr);
    }
  }
  return true;
}

bool ReplicaTeam::anyone_failed() const { return block_->failed_case.load(std::memory_order_acquire) >= case_; }

bool ReplicaTeam::meet_at(std::uint64_t step) {
  const std::uint64_t here = place_of(case_, step);
  const auto members = block_->members(replicas_);
  members[static_cast<std::size_t>(rank_)].arrived.store(here, std::memory_order_release);
  return wait([&] {
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& one) { return one.arrived.load(std::memory_order_acquire) >= here; });
  });
}

bool ReplicaTeam::begin_case() {
  ++case_;
  step_ = 0;
  return meet_at(++step_);
}

void ReplicaTeam::leave_case(bool failed) {
  if (failed) block_->failed_case.store(case_, std::memory_order_release);
  Member& me = block_->members(replicas_)[static_cast<std::size_t>(rank_)];
  me.finished.store(place_of(case_, kLastStep), std::memory_order_release);
  me.arrived.store(place_of(case_, kLastStep), std::memory_order_release);
}

bool ReplicaTeam::meet() { return meet_at(++step_) && !anyone_failed(); }

std::optional<std::int64_t> ReplicaTeam::follow_first(std::int64_t said) {
  auto& word = block_->said[(step_ + 1) % 2];
  if (rank_ == 0) word.store(said, std::memory_order_relaxed);  // its arrival publishes it
  if (!meet()) return std::nullopt;
  return word.load(std::memory_order_relaxed);
}

// A device's own clock may run ahead of the host's (a scripted one does): runs follow one another on it all the same.
void ReplicaTeam::stamp(double seconds, std::int64_t calls, double started_s) {
  Member& me = block_->members(replicas_)[static_cast<std::size_t>(rank_)];
  const double after_s = me.stamp_count > 0 ? me.stamps[me.stamp_count - 1].end_s : started_s;
  const double start_s = std::max(started_s, after_s);
  if (me.stamp_count < kStamps) {
    me.stamps[me.stamp_count++] = {start_s, start_s + seconds, calls};
  } else {
    me.stamps.back().end_s = start_s + seconds;
    me.stamps.back().calls += calls;
  }
}

Result<double> ReplicaTeam::run_together(std::int64_t calls, const std::function<Result<double>(std::int64_t calls)>& run) {
  const std::uint64_t here = place_of(case_, step_);
  const auto members = block_->members(replicas_);
  Member& me = members[static_cast<std::size_t>(rank_)];
  me.stamp_count = 0;
  const auto stamped = [&](std::int64_t count) -> Result<double> {
    const double started_s = std::chrono::duration<double>(Clock::now().time_since_epoch()).count();
    Result<double> seconds = run(count);
    if (seconds) stamp(*seconds, count, started_s);
    return seconds;
  };
  Result<double> own = stamped(calls);
  if (!own) return own;
  me.finished.store(here, std::memory_order_release);
  const auto all_finished = [&] {
    return std::all_of(members.begin(), members.end(),
                       [&](const Member& one) { return one.finished.load(std::memory_order_acquire) >= here; });
  };
  while (!all_finished() && !anyone_failed() && !(cancelled_ && cancelled_())) {
    if (Result<double> more = stamped(std::max<std::int64_t>(1, calls / kPieces)); !more) return more;
  }
  if (meet()) return own;
  return environment_error("sampling ended", "another replica ended the case", "");
}

std::vector<std::span<const ReplicaStamp>> ReplicaTeam::stamps() const {
  std::vector<std::span<const ReplicaStamp>> all;
  for (const Member& one : block_->members(replicas_)) {
    all.emplace_back(one.stamps.data(), std::min<std::uint64_t>(one.stamp_count, kStamps));
  }
  return all;
}

std::optional<int> ReplicaTeam::last_behind() const {
  using Progress = std::pair<std::uint64_t, std::uint64_t>;
  std::vector<Progress> all;
  for (const Member& one : block_->members(replicas_)) all.emplace_back(one.arrived.load(), one.finished.load());
  const auto least = std::min_element(all.begin(), all.end());
  if (std::count(all.begin(), all.end(), *least) != 1) return std::nullopt;
  return static_cast<int>(least - all.begin());
}

}  // namespace hbmark
