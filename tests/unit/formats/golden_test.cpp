// What export writes, byte for byte. HBMARK_UPDATE_GOLDEN=1 writes the files anew: look at the difference before committing
// it.
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "records.h"

namespace hbmark::tests {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::filesystem::path file = std::filesystem::path(HBMARK_SOURCE_DIR) / "tests/golden/formats" / name;
  if (std::getenv("HBMARK_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file, std::ios::binary) << text;
  }
  std::ostringstream expected;
  std::ifstream in(file, std::ios::binary);
  ASSERT_TRUE(in) << file << " is missing: HBMARK_UPDATE_GOLDEN=1 writes it";
  expected << in.rdbuf();
  EXPECT_EQ(text, expected.str());
}

const Format& format(std::string_view name) {
  for (const Format& row : formats()) {
    if (row.name == name) return row;
  }
  ADD_FAILURE() << "no format " << name;
  return formats().front();
}

std::string exported(std::string_view name) {
  std::ostringstream out;
  const auto rows = golden_rows();
  format(name).write(out, rows);
  EXPECT_TRUE(out.good());
  return out.str();
}

TEST(Golden, Json) { expect_golden("results.jsonl", exported("json")); }
TEST(Golden, Csv) { expect_golden("results.csv", exported("csv")); }
TEST(Golden, Run) {
  RunRecord running;
  running.uuid = "x";
  running.plan = "not json \xff";
  running.state = "running";
  expect_golden("runs.jsonl", run_to_json(a_run()).dump() + "\n" + run_to_json(running).dump() + "\n");
}

TEST(Formats, EveryRowIsUsable) {
  std::vector<std::string> names;
  for (const Format& row : formats()) {
    EXPECT_FALSE(row.summary.empty());
    ASSERT_NE(row.write, nullptr);
    names.emplace_back(row.name);
    std::ostringstream out;
    row.write(out, {});
    EXPECT_TRUE(out.good());
  }
  EXPECT_THAT(names, ::testing::UnorderedElementsAre("json", "csv", "gbench"));
}

TEST(Formats, AFullDiskShowsInTheStream) {
  if (!std::filesystem::exists("/dev/full")) GTEST_SKIP() << "needs /dev/full";
  const auto rows = golden_rows();
  for (const Format& row : formats()) {
    std::ofstream out("/dev/full");
    ASSERT_TRUE(out.good());
    row.write(out, rows);
    EXPECT_FALSE(out.good()) << row.name;
  }
}

TEST(Formats, NothingIsWrittenPastAFailure) {
  const auto rows = golden_rows();
  for (const Format& row : formats()) {
    std::ostringstream out;
    out.setstate(std::ios::failbit);
    row.write(out, rows);
    EXPECT_EQ(out.str(), "") << row.name;
  }
}

TEST(Formats, JsonIsOneValidLineARow) {
  std::istringstream lines(exported("json"));
  int count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    const auto parsed = nlohmann::json::parse(line);
    EXPECT_EQ(parsed.at("schema"), "hbmark.result/1");
    EXPECT_TRUE(result_from_json(parsed));
  }
  EXPECT_EQ(count, 3);
}

}  // namespace
}  // namespace hbmark::tests
