#include "bench/run/cache_flusher.h"

#include <gmock/gmock.h>

#include <cstddef>
#include <vector>

namespace hbmark {
namespace {

using testing::HasSubstr;

topology::Node node_with(std::vector<topology::Cache> caches) {
  topology::Node node;
  node.caches = std::move(caches);
  return node;
}

TEST(CacheFlusher, ReadsFourTimesTheLargestCacheThatOneCoreReaches) {
  const topology::Node two_sockets =
      node_with({{1, "data", 48 << 10, 64, 1}, {2, "unified", 2 << 20, 64, 1}, {3, "unified", 96 << 20, 2, 32}});
  EXPECT_EQ(sweep_bytes_for(two_sockets), std::uint64_t{4} * (96 << 20)) << "one of the two, not their sum";
  const topology::Node knl = node_with({{1, "data", 32 << 10, 64, 4}, {2, "unified", 1 << 20, 32, 8}});
  EXPECT_EQ(sweep_bytes_for(knl), std::uint64_t{4} << 20);
  EXPECT_EQ(sweep_bytes_for(node_with({})), std::uint64_t{4} * (32 << 20)) << "unknown: as for ceilings";
}

TEST(CacheFlusher, AMemorySideCacheIsNamedAsWarm) {
  topology::Node node = node_with({{2, "unified", 1 << 20, 32, 8}});
  EXPECT_THAT(describe_cold(node), testing::Not(HasSubstr("memory-side")));
  node.memory_side_caches.push_back({std::uint64_t{16} << 30, 0});
  EXPECT_THAT(describe_cold(node), HasSubstr("the memory-side cache of 16 GiB (NUMA node 0) stays warm"));
}

TEST(CacheFlusher, WhatDoesNotFitIsAnErrorBeforeItIsTried) {
  const auto made = CacheFlusher::by_sweep(std::uint64_t{1} << 60, 1);
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, ErrorKind::kEnvironment);
  EXPECT_THAT(made.error().why, HasSubstr("needs 1 EiB"));
  EXPECT_THAT(made.error().next, HasSubstr("--cold-cache"));
}

// What is flushed is still what it was: nothing is lost with a line, and nothing beyond a buffer is touched.
TEST(CacheFlusher, ChangesNothingWhateverTheSizes) {
  auto sweep = CacheFlusher::by_sweep(4096, 3);
  ASSERT_TRUE(sweep) << sweep.error().why;
  auto best = CacheFlusher::make(4096, 3);
  ASSERT_TRUE(best) << best.error().why;
  const CacheFlusher flushers[] = {std::move(*sweep), std::move(*best)};
  for (const CacheFlusher& flusher : flushers) {
    for (const std::size_t bytes : {0, 1, 63, 64, 65, 4095, 4097, 100'000}) {
      std::vector<std::byte> data(bytes + 1);  // at an odd address
      for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<std::byte>(i % 251);
      const std::vector<std::byte> before = data;
      const CacheFlusher::Buffer buffers[] = {{data.data() + 1, bytes}, {}};
      flusher.flush(buffers);
      EXPECT_EQ(data, before) << bytes;
    }
  }
}

}  // namespace
}  // namespace hbmark
