// A store of two runs of one node, in flat and in cache mode, each of eight launches, that holds every verdict there is.
#pragma once

#include <string>
#include <vector>

#include "tests/unit/cli/store_fixture.h"

namespace hbmark::tests {

inline constexpr const char* kFlatRun = "aaaa0001-0000-4000-8000-000000000001";
inline constexpr const char* kCacheRun = "bbbb0002-0000-4000-8000-000000000002";

class CompareFixture : public StoreFixture {
 protected:
  void SetUp() override;
  std::string db() const { return " --db '" + db_.string() + "' "; }
};

}  // namespace hbmark::tests
