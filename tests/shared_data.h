// Where the shared test data is: $HBMARK_SHARED, else ../shared beside the checkout. A user's checkout has none, and tests
// that need it skip with a plain reason; with HBMARK_SHARED set (CI), a missing file fails.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <string>

namespace hbmark::tests {

inline std::filesystem::path shared_dir() {
  const char* given = std::getenv("HBMARK_SHARED");
  return given != nullptr ? std::filesystem::path(given) : std::filesystem::path(HBMARK_SOURCE_DIR) / ".." / "shared";
}

inline bool shared_is_required() { return std::getenv("HBMARK_SHARED") != nullptr; }

}  // namespace hbmark::tests

// The first statement of a test that reads `relative` (a file or folder below shared/).
#define HBMARK_NEED_SHARED(relative)                                                                      \
  do {                                                                                                    \
    if (!std::filesystem::exists(::hbmark::tests::shared_dir() / (relative))) {                           \
      if (::hbmark::tests::shared_is_required()) FAIL() << "HBMARK_SHARED lacks " << (relative);          \
      GTEST_SKIP() << "needs the shared test data (" << (relative) << "), absent from a user's checkout"; \
    }                                                                                                     \
  } while (false)
