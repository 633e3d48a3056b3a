// A store of one run that holds every kind of result a reader can meet, made anew for each test.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <memory>
#include <string>

#include "results/store/store.h"

namespace hbmark::tests {

class StoreFixture : public testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  std::filesystem::path folder_;
  std::filesystem::path db_;
  std::unique_ptr<Store> store_;
};

inline constexpr const char* kFixtureRun = "3f2a9c1e-0000-4000-8000-000000000001";

}  // namespace hbmark::tests
