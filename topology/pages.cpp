// Where pages are: move_pages(2) without a target only asks. The raw call, since libnuma's wrapper would be all of libnuma.
#include <fmt/format.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "topology/placement.h"

namespace hbmark::topology {
namespace {

constexpr std::size_t kChunkPages = 2048;  // addresses and answers of one call: 24 KiB of stack

tl::unexpected<Error> refused(int error) {
  const bool seccomp = error == EPERM || error == ENOSYS;
  return environment_error(
      "cannot find out where pages are", fmt::format("move_pages: {}", std::strerror(error)),
      seccomp ? "a container's seccomp profile or a kernel without NUMA forbids it: start the container with "
                "--cap-add SYS_NICE, or expect no proof of memory placement"
              : "report this with the kernel's version (uname -r)");
}

// Status of one page: a node, or a negated error. The shared zero page (read, never written) answers -EFAULT, an untouched
// page -ENOENT (move_pages(2)); both hold none of the caller's data.
Status count(int status, PageFinding& finding) {
  if (status >= 0) {
    ++finding.pages_by_node[status];
  } else if (status == -ENOENT || status == -EFAULT) {
    ++finding.not_present;
  } else {
    return tl::make_unexpected(refused(-status).value());
  }
  return {};
}

}  // namespace

Result<PageFinding> find_pages(const void* address, std::size_t bytes) {
  PageFinding finding;
  if (bytes == 0) return finding;
  const auto page = static_cast<std::uintptr_t>(sysconf(_SC_PAGESIZE));
  const auto begin = reinterpret_cast<std::uintptr_t>(address) / page * page;
  const auto end = reinterpret_cast<std::uintptr_t>(address) + bytes;
  const std::size_t total = (end - begin + page - 1) / page;
  std::array<void*, kChunkPages> pages;
  std::array<int, kChunkPages> status;
  for (std::size_t done = 0; done < total;) {
    const std::size_t chunk = std::min(kChunkPages, total - done);
    for (std::size_t i = 0; i < chunk; ++i) pages[i] = reinterpret_cast<void*>(begin + (done + i) * page);
    status.fill(0);
    if (syscall(SYS_move_pages, 0, chunk, pages.data(), nullptr, status.data(), 0) != 0) {
      return refused(errno);
    }
    for (std::size_t i = 0; i < chunk; ++i) {
      if (auto counted = count(status[i], finding); !counted) return tl::make_unexpected(counted.error());
    }
    done += chunk;
  }
  return finding;
}

}  // namespace hbmark::topology
