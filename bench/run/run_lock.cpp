#include "bench/run/run_lock.h"

#include <fmt/format.h>
#include <sys/socket.h>
#include <sys/un.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>

namespace hbmark {

namespace {

struct Address {
  sockaddr_un name{};
  socklen_t size = 0;
  const sockaddr* get() const { return reinterpret_cast<const sockaddr*>(&name); }
};

Address address_of(const std::string& run_uuid) {
  Address address;
  address.name.sun_family = AF_UNIX;
  const std::string name = ("hbmark-run-" + run_uuid).substr(0, sizeof address.name.sun_path - 1);
  std::copy(name.begin(), name.end(), address.name.sun_path + 1);  // a leading NUL: the abstract namespace
  address.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
  return address;
}

Fd datagram_socket() { return Fd(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0)); }

}  // namespace

std::optional<bool> RunLock::is_held(const std::string& run_uuid) {
  const Fd socket = datagram_socket();
  const Address address = address_of(run_uuid);
  if (socket.get() < 0) return std::nullopt;
  return connect(socket.get(), address.get(), address.size) == 0 || errno != ECONNREFUSED;
}

Result<RunLock> RunLock::take(const std::string& run_uuid) {
  Fd socket = datagram_socket();
  if (socket.get() < 0) return RunLock(Fd());
  const Address address = address_of(run_uuid);
  if (bind(socket.get(), address.get(), address.size) == 0) return RunLock(std::move(socket));
  if (errno != EADDRINUSE) return RunLock(Fd());
  return environment_error(fmt::format("cannot carry out the run {}", run_uuid.substr(0, 8)),
                           "another hbmark is carrying it out at this moment",
                           "wait for it to end (ps -C hbmark shows it), then --resume what is missing");
}

}  // namespace hbmark
