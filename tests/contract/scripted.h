// The fake backend with a script, for one test.
#pragma once

#include <stdlib.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "tests/contract/driver.h"
#include "tests/contract/temp_folder.h"

namespace hbmark::tests {

class Script {
 public:
  explicit Script(const std::string& text) {
    const auto file = folder_.path() / "script.json";
    std::ofstream(file) << text;
    setenv("HBMARK_FAKE_SCRIPT", file.c_str(), 1);
  }
  explicit Script(const nlohmann::json& json) : Script(json.dump()) {}
  ~Script() { unsetenv("HBMARK_FAKE_SCRIPT"); }
  Script(const Script&) = delete;
  Script& operator=(const Script&) = delete;

 private:
  TempFolder folder_;
};

}  // namespace hbmark::tests
