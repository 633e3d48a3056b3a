// The replicas of a configuration, each a process, as they meet in a block of shared memory (docs/adr/0011-replicas.md).
//
// The parent makes the block and hands its descriptor to every worker; a worker joins with its rank. One thread a process.
// A ReplicaTeam owns its mapping; the memory goes with the last of them. Nobody waits for a replica that has left a case;
// one that died is waited for until the parent ends all, or until `cancelled` says yes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "bench/run/process.h"
#include "bench/run/replica_window.h"
#include "results/base/result.h"

namespace hbmark {

inline constexpr int kMostReplicas = 1024;  // more than the cores of any node that hbmark was made for

class ReplicaTeam {
 public:
  // A new block for so many. Errors: no memory for it (environment), too many (usage).
  static Result<Fd> make_block(int replicas);
  // rank -1: only looks on (the parent). `cancelled` ends every wait. Errors (environment): no such block.
  static Result<ReplicaTeam> join(int block, int rank, int replicas, std::function<bool()> cancelled);
  ReplicaTeam(ReplicaTeam&& other) noexcept;
  ReplicaTeam& operator=(ReplicaTeam&&) = delete;
  ~ReplicaTeam();

  int rank() const { return rank_; }
  int replicas() const { return replicas_; }

  // All come to the start of their next case (they have the same, in the same order). False: cancelled.
  bool begin_case();
  // This replica has nothing more to do in the case; `failed`: then the others shall end it too.
  void leave_case(bool failed);
  // All come here. False: one of them failed in this case, or the wait was cancelled.
  bool meet();
  // All come here, and take with them what rank 0 says. nullopt as meet's false.
  std::optional<std::int64_t> follow_first(std::int64_t said = 0);

  // All start together (the caller has just come from follow_first) and each goes on until all have made `calls`; then all
  // meet. `run` runs so many calls and returns the seconds they took. Returns those of this replica's own `calls`.
  // Errors: run's own; the case was ended by another replica or cancelled.
  Result<double> run_together(std::int64_t calls, const std::function<Result<double>(std::int64_t calls)>& run);
  // What each did in the last run_together; for rank 0, until it says the next word.
  std::vector<std::span<const ReplicaStamp>> stamps() const;

  // The replica that is behind all others in what it has done; nullopt: none, or all are as far. For the parent.
  std::optional<int> last_behind() const;

 private:
  struct Member;
  struct Block;
  ReplicaTeam(void* block, std::size_t bytes, int rank, int replicas, std::function<bool()> cancelled);
  bool wait(const std::function<bool()>& over) const;
  bool meet_at(std::uint64_t step);
  bool anyone_failed() const;
  void stamp(double seconds, std::int64_t calls, double started_s);

  Block* block_;
  std::size_t bytes_;
  int rank_;
  int replicas_;
  std::uint64_t case_ = 0;  // counted from 1
  std::uint64_t step_ = 0;  // meetings of the case so far
  std::function<bool()> cancelled_;
};

}  // namespace hbmark
