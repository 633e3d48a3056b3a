#include "topology/placed_memory.h"

#include <fmt/format.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <limits>
#include <utility>

#include "topology/text_files.h"

namespace hbmark::topology {
namespace {

constexpr std::size_t kPoolPageBytes = std::size_t{2} << 20;
constexpr int kPoolPageFlag = 21 << MAP_HUGE_SHIFT;  // log2 of the size (mmap(2), MAP_HUGE_2MB)

std::size_t page_bytes() { return static_cast<std::size_t>(sysconf(_SC_PAGESIZE)); }

std::size_t huge_page_bytes() {
  constexpr std::int64_t kUsual = 2 << 20;  // x86-64, and Arm with 4 KiB pages
  const auto read = read_text("", "/sys/kernel/mm/transparent_hugepage/hpage_pmd_size");
  const std::int64_t size = read.ok ? to_integer(read.text).value_or(kUsual) : kUsual;
  return size > 0 ? static_cast<std::size_t>(size) : static_cast<std::size_t>(kUsual);
}

std::string megabytes(std::uint64_t bytes) { return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20)); }

std::string advise(void* address, std::size_t bytes, HugePages choice) {
  if (choice == HugePages::kDefault) return "default";
  if (choice == HugePages::kPool) return "pool";
  const bool wanted = choice == HugePages::kAdvise;
  if (madvise(address, bytes, wanted ? MADV_HUGEPAGE : MADV_NOHUGEPAGE) == 0) return wanted ? "advised" : "forbidden";
  return fmt::format("refused: {}", std::strerror(errno));  // a kernel without transparent huge pages: memory as it is
}

tl::unexpected<Error> no_memory(std::size_t bytes, int error) {
  return environment_error(fmt::format("cannot allocate {}", megabytes(bytes)), std::strerror(error),
                           "use a smaller problem, or free memory (see `hbmark doctor`)");
}

tl::unexpected<Error> no_pool(std::size_t bytes, int error) {
  return environment_error(fmt::format("cannot allocate {} of 2 MiB pages", megabytes(bytes)), std::strerror(error),
                           fmt::format("fill the pool as root: sysctl vm.nr_hugepages={}", bytes / kPoolPageBytes + 1));
}

}  // namespace

Result<PlacedMemory> PlacedMemory::allocate(std::size_t bytes, std::size_t alignment, HugePages huge_pages) {
  if (bytes == 0) return usage_error("cannot allocate 0 bytes", "a problem without operands", "give sizes of at least 1");
  if (alignment != 0 && !std::has_single_bit(alignment)) {
    return usage_error(fmt::format("cannot align memory to {} bytes", alignment), "no power of two", "give a power of two");
  }
  const bool pool = huge_pages == HugePages::kPool;
  const std::size_t page = pool ? kPoolPageBytes : page_bytes();
  std::size_t align = std::max(alignment, page);
  if (huge_pages == HugePages::kAdvise && bytes >= huge_page_bytes()) align = std::max(align, huge_page_bytes());
  const std::size_t spare = align > page ? align : 0;
  if (bytes > std::numeric_limits<std::size_t>::max() - spare - page) return no_memory(bytes, ENOMEM);
  PlacedMemory memory;
  const std::size_t length = (bytes + page - 1) / page * page + spare;
  const int flags = MAP_PRIVATE | MAP_ANONYMOUS | (pool ? MAP_HUGETLB | kPoolPageFlag : 0);
  void* mapping = mmap(nullptr, length, PROT_READ | PROT_WRITE, flags, -1, 0);
  if (mapping == MAP_FAILED) return pool ? no_pool(bytes, errno) : no_memory(bytes, errno);
  memory.mapping_ = mapping;
  memory.mapped_bytes_ = length;
  memory.address_ = reinterpret_cast<void*>((reinterpret_cast<std::uintptr_t>(mapping) + align - 1) / align * align);
  memory.size_bytes_ = bytes;
  memory.huge_pages_ = advise(mapping, length, huge_pages);
  return memory;
}

PlacedMemory::PlacedMemory(PlacedMemory&& other) noexcept { *this = std::move(other); }

PlacedMemory& PlacedMemory::operator=(PlacedMemory&& other) noexcept {
  std::swap(mapping_, other.mapping_);
  std::swap(mapped_bytes_, other.mapped_bytes_);
  std::swap(address_, other.address_);
  std::swap(size_bytes_, other.size_bytes_);
  std::swap(huge_pages_, other.huge_pages_);
  return *this;
}

PlacedMemory::~PlacedMemory() {
  if (mapping_ != nullptr) munmap(mapping_, mapped_bytes_);
}

}  // namespace hbmark::topology
