#include "bench/run/run_lock.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace hbmark {

Result<RunLock> RunLock::take(const std::string& run_uuid) {
  Fd socket(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  if (socket.get() < 0) return RunLock(Fd());
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  const std::string name = ("hbmark-run-" + run_uuid).substr(0, sizeof address.sun_path - 1);
  std::copy(name.begin(), name.end(), address.sun_path + 1);  // a leading NUL: the abstract namespace
  const auto size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  if (bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), size) == 0) return RunLock(std::move(socket));
  if (errno != EADDRINUSE) return RunLock(Fd());
  return environment_error(fmt::format("cannot carry out the run {}", run_uuid.substr(0, 8)),
                           "another hbmark is carrying it out at this moment",
                           "wait for it to end (ps -C hbmark shows it), then --resume what is missing");
}

}  // namespace hbmark
