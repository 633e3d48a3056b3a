#include <gmock/gmock.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>

#include "records.h"

namespace hbmark::tests {
namespace {

using nlohmann::json;
using ::testing::HasSubstr;

// Through text, as a line travels.
Result<ResultRecord> there_and_back(const ResultRecord& result) {
  return result_from_json(json::parse(result_to_json(result).dump()));
}

TEST(Json, HasEveryMemberOfTheSchema) {
  const json line = result_to_json(full_result());
  for (const char* name :
       {"schema",  "run",      "problem",    "kernel",      "backend",          "device",         "memory",
        "threads", "replicas", "launches",   "outcome",     "reason",           "flags",          "time_s",
        "flop",    "bytes",    "flop_per_s", "bytes_per_s", "ceiling_fraction", "implementation", "isa",
        "library", "verified", "pages",      "thread_pus",  "reorder_s",        "energy_j"}) {
    EXPECT_TRUE(line.contains(name)) << name;
    EXPECT_TRUE(result_to_json(empty_result()).contains(name)) << name << " must be null, not missing";
  }
  for (const char* name : {"median", "ci_low", "ci_high", "min", "samples"})
    EXPECT_TRUE(line["time_s"].contains(name)) << name;
  for (const char* name : {"checked", "max_rel_error", "tolerance"}) EXPECT_TRUE(line["verified"].contains(name)) << name;
  EXPECT_EQ(line["pages"], json::parse(R"({"0":0.25,"1":0.75})"));
  EXPECT_EQ(line["flop_per_s"], 2147483648.0 / 0.0123);
  EXPECT_FALSE(line["time_s"].contains("values"));
}

TEST(Json, AbsentIsNullAndNeverZero) {
  const json line = result_to_json(empty_result());
  for (const char* name : {"reason", "time_s", "flop", "bytes", "flop_per_s", "bytes_per_s", "ceiling_fraction", "verified",
                           "pages", "thread_pus", "reorder_s", "energy_j", "implementation"}) {
    EXPECT_TRUE(line[name].is_null()) << name;
  }
  EXPECT_EQ(line["flags"], json::array());
  EXPECT_EQ(line["outcome"], "not_run");
}

TEST(Json, ThereAndBack) {
  EXPECT_EQ(there_and_back(full_result()).value(), full_result());
  EXPECT_EQ(there_and_back(empty_result()).value(), empty_result());
  for (std::size_t i = 0; i < kOutcomeNames.size(); ++i) {
    ResultRecord result = full_result();
    result.outcome = static_cast<Outcome>(i);
    EXPECT_EQ(there_and_back(result)->outcome, result.outcome);
  }
}

TEST(Json, TroubleThereAndBack) {
  const ResultRecord before = troubled_result();
  ResultRecord after = there_and_back(before).value();
  EXPECT_TRUE(std::isnan(after.verified->max_rel_error));
  after.verified->max_rel_error = 0;
  ResultRecord expected = before;
  expected.verified->max_rel_error = 0;
  expected.reason = "he said \"no\",\r\nthen \xEF\xBF\xBD\xEF\xBF\xBD and été 漢 🙂";
  EXPECT_EQ(after, expected);
}

TEST(Json, RandomDoublesAreExact) {
  std::mt19937_64 random(1);
  for (int i = 0; i < 5'000; ++i) {
    const std::uint64_t bits = random();
    double value = 0;
    static_assert(sizeof value == sizeof bits);
    std::memcpy(&value, &bits, sizeof value);
    if (!std::isfinite(value)) continue;
    ResultRecord result = empty_result();
    result.flop = value;
    EXPECT_EQ(there_and_back(result)->flop, value) << bits;
  }
}

TEST(Json, RandomBytesNeverThrow) {
  std::mt19937 random(2);
  for (int i = 0; i < 2'000; ++i) {
    ResultRecord result = full_result();
    std::string bytes(1 + random() % 12, '\0');
    for (char& c : bytes) c = static_cast<char>(random());
    result.reason = result.problem = result.log = bytes;
    result.flags = {bytes};
    const auto after = there_and_back(result);
    ASSERT_TRUE(after);
    EXPECT_EQ(there_and_back(*after).value(), *after) << "what was replaced once stays";
  }
}

TEST(Json, SamplesTravelWithTheirLaunches) {
  const std::vector<SampleRecord> samples = {{"", 0, 0, 0.5}, {"", 1, 0, 0.25}};
  const json line = result_to_json(full_result(), &samples);
  EXPECT_EQ(line["time_s"]["values"], json::parse("[0.5,0.25]"));
  EXPECT_EQ(line["time_s"]["value_launches"], json::parse("[0,1]"));
  EXPECT_EQ(result_from_json(line).value(), full_result());
}

TEST(Json, UnknownMembersArePassedOver) {
  json line = result_to_json(full_result());
  line["later"] = {{"deep", json::array({1, 2})}};
  line["time_s"]["later"] = "x";
  EXPECT_EQ(result_from_json(line).value(), full_result());
}

TEST(Json, WholeNumbersMayBeWrittenAsDecimals) {
  json line = result_to_json(full_result());
  line["threads"] = 4.0;
  line["thread_pus"] = json::parse("[0.0, 2, 4e0, 6]");
  EXPECT_EQ(result_from_json(line).value(), full_result());
}

struct Fault {
  const char* pointer;
  const char* value;
  const char* said;
};

TEST(Json, FaultsAreNamed) {
  const Fault faults[] = {
      {"/schema", "null", "`schema` is null"},
      {"/schema", "\"hbmark.result/2\"", "hbmark.result/2"},
      {"/problem", "null", "`problem`"},
      {"/problem", "7", "`problem` is 7"},
      {"/outcome", "\"exploded\"", "`outcome` is \"exploded\""},
      {"/outcome", "{}", "`outcome` is {}"},
      {"/threads", "\"4\"", "`threads` is \"4\""},
      {"/threads", "1.5", "`threads` is 1.5"},
      {"/threads", "1e300", "`threads`"},
      {"/threads", "9223372036854775808", "`threads`"},
      {"/flop", "\"nan\"", "`flop` is \"nan\""},
      {"/flop", "true", "`flop` is true"},
      {"/time_s", "[]", "`time_s` is []"},
      {"/time_s/median", "\"fast\"", "`time_s.median`"},
      {"/verified/checked", "-1.5", "`verified.checked`"},
      {"/flags", "\"noisy\"", "`flags`"},
      {"/flags", "[1]", "`flags` is 1"},
      {"/thread_pus", "[2147483648]", "`thread_pus` is 2147483648"},
      {"/pages", "{\"x\":1}", "`pages` is \"x\""},
      {"/pages", "{\"0 \":1}", "`pages`"},
      {"/pages", "{\"0\":\"all\"}", "`pages`"},
      {"/log", "[\"x\"]", "`log`"},
  };
  for (const Fault& fault : faults) {
    json line = result_to_json(full_result());
    line[json::json_pointer(fault.pointer)] = json::parse(fault.value);
    const auto result = result_from_json(line);
    ASSERT_FALSE(result) << fault.pointer << " " << fault.value;
    EXPECT_EQ(result.error().kind, ErrorKind::kUsage);
    EXPECT_THAT(result.error().why, HasSubstr(fault.said));
    EXPECT_FALSE(result.error().next.empty());
  }
  for (const char* text : {"[]", "null", "3", "\"hbmark.result/1\"", "{}"})
    EXPECT_FALSE(result_from_json(json::parse(text))) << text;
}

TEST(Json, ARunsPlanIsJsonInside) {
  const json line = run_to_json(a_run());
  EXPECT_EQ(line["schema"], "hbmark.run/1");
  EXPECT_EQ(line["plan"]["precision"], 0.02);
  EXPECT_EQ(line["label"], "flat, bound");
}

}  // namespace
}  // namespace hbmark::tests
