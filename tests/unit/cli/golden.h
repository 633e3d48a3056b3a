// Comparing a text with its file under tests/golden/cli. HBMARK_UPDATE_GOLDEN=1 writes the files anew: look at the
// difference before you commit it.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace hbmark::tests {

inline void expect_golden(const std::string& name, const std::string& text) {
  const auto file = std::filesystem::path(HBMARK_SOURCE_DIR) / "tests/golden/cli" / name;
  const char* update = std::getenv("HBMARK_UPDATE_GOLDEN");
  if (update != nullptr && std::string(update) == "1") {
    std::ofstream(file, std::ios::binary) << text;
    GTEST_SKIP() << "wrote " << file;
  }
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(in) << file << " is missing; HBMARK_UPDATE_GOLDEN=1 writes it";
  const std::string expected((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  EXPECT_EQ(text, expected) << file << " differs; HBMARK_UPDATE_GOLDEN=1 writes it anew";
}

}  // namespace hbmark::tests
