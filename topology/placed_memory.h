// Host memory for operands: anonymous pages, small, huge where the kernel has them, or of the pool of huge ones.
//
// allocate() touches nothing: the caller's pinned threads touch it in parallel, and by that and by the policy the process is
// bound to (topology/memory_policy.h) decide where pages go. A PlacedMemory owns its mapping and unmaps it when destroyed.
// allocate is thread-safe; one object is for one thread at a time. Failures are values: out of memory, an empty pool.
#pragma once

#include <cstddef>
#include <string>

#include "results/base/result.h"

namespace hbmark::topology {

enum class HugePages {
  kAdvise,   // MADV_HUGEPAGE: 2 MiB pages where the kernel has them, so that translation costs the same everywhere
  kForbid,   // MADV_NOHUGEPAGE
  kPool,     // MAP_HUGETLB: 2 MiB pages of the pool the administrator filled (vm.nr_hugepages)
  kDefault,  // as the machine is set
};

class PlacedMemory {
 public:
  // bytes > 0; alignment a power of two (0: a page). The address is aligned to a huge page too when those are advised and
  // the size is at least one. Errors: usage (sizes), environment (no memory, refused by the kernel).
  static Result<PlacedMemory> allocate(std::size_t bytes, std::size_t alignment, HugePages huge_pages = HugePages::kAdvise);

  PlacedMemory() = default;
  PlacedMemory(PlacedMemory&& other) noexcept;
  PlacedMemory& operator=(PlacedMemory&& other) noexcept;
  ~PlacedMemory();

  void* address() const { return address_; }
  std::size_t size_bytes() const { return size_bytes_; }         // as asked
  const std::string& huge_pages() const { return huge_pages_; }  // "advised", "forbidden", "default", "pool", "refused: ..."

 private:
  void* mapping_ = nullptr;
  std::size_t mapped_bytes_ = 0;
  void* address_ = nullptr;
  std::size_t size_bytes_ = 0;
  std::string huge_pages_;
};

}  // namespace hbmark::topology
