// Errors by value: the one vocabulary every folder but the plugins shares.
//
// A function that can fail returns Result<T> (or Status); exceptions are for bugs only. An Error says what failed, why, and
// what to do next; the command line prints the three and turns the kind into the exit code, in one place (bench/cli).
// Header-only, no dependency but tl::expected. Values are plain data; nothing here locks or allocates globally.
#pragma once

#include <string>
#include <tl/expected.hpp>
#include <utility>

namespace hbmark {

enum class ErrorKind {
  kUsage,        // the caller's words are off: exit 2
  kEnvironment,  // something of the machine is missing, full or not permitted: exit 3
  kBusy,         // another process holds what is needed, and the same call may succeed later: exit 3
  kNothingRan,   // a selection left nothing to do: exit 4
  kInterrupted,  // SIGINT or SIGTERM: exit 130
  kInternal,     // a bug of ours: exit 3, with a request to report it
};

struct Error {
  ErrorKind kind = ErrorKind::kInternal;
  std::string what;  // "cannot open the store results.db"
  std::string why;   // "it is a directory"
  std::string next;  // "give a file name: --db results/node1.db"
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

inline tl::unexpected<Error> fail(ErrorKind kind, std::string what, std::string why, std::string next) {
  return tl::make_unexpected(Error{kind, std::move(what), std::move(why), std::move(next)});
}
inline tl::unexpected<Error> usage_error(std::string what, std::string why, std::string next) {
  return fail(ErrorKind::kUsage, std::move(what), std::move(why), std::move(next));
}
inline tl::unexpected<Error> environment_error(std::string what, std::string why, std::string next) {
  return fail(ErrorKind::kEnvironment, std::move(what), std::move(why), std::move(next));
}

}  // namespace hbmark
