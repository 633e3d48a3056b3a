// Who carries a run out holds its lock, so that no second process resumes it meanwhile and stores the same cases.
//
// The lock is a name in the kernel's abstract socket namespace (unix(7)): it needs no file, so none is left behind, and it
// goes when its process ends, however that ends. It is told apart by the run's id alone and holds on one machine (one
// network namespace), which is where a run may be resumed. Workers do not inherit it. One thread.
#pragma once

#include <optional>
#include <string>

#include "bench/run/process.h"
#include "results/base/result.h"

namespace hbmark {

class RunLock {
 public:
  // Error (environment): another process carries that run out. Where the kernel gives no such socket for another reason,
  // the run goes on without a lock: the store still refuses to hold a case twice.
  static Result<RunLock> take(const std::string& run_uuid);
  // Does a process of this machine hold it? Takes nothing, so that looking never stands in a resume's way.
  // nullopt: it cannot be told, for the reason in errno (no descriptor is left).
  static std::optional<bool> is_held(const std::string& run_uuid);

 private:
  explicit RunLock(Fd socket) : socket_(std::move(socket)) {}
  Fd socket_;
};

}  // namespace hbmark
