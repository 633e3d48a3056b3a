#include "bench/run/plugin_calls.h"

#include <gmock/gmock.h>

#include <cstring>

#include "bench/problems/text.h"

namespace hbmark {
namespace {

using testing::HasSubstr;

hbmark_status status(const char* message, std::int64_t vendor_code = 0) {
  hbmark_status s = new_status();
  std::strncpy(s.message, message, sizeof s.message - 1);
  s.vendor_code = vendor_code;
  return s;
}

TEST(EndOfCall, UnsupportedIsAnOutcomeOnlyOfSupports) {
  EXPECT_EQ(end_of_call(HBMARK_UNSUPPORTED, status("no bf16"), "supports").outcome, Outcome::kUnsupported);
  EXPECT_EQ(end_of_call(HBMARK_UNSUPPORTED, status("no bf16"), "supports").reason, "no bf16");
  const CaseEnd later = end_of_call(HBMARK_UNSUPPORTED, status("no bf16"), "prepare");
  EXPECT_EQ(later.outcome, Outcome::kFailed);
  EXPECT_THAT(later.reason, HasSubstr("said that it supports"));
}

TEST(EndOfCall, EachCodeHasItsOutcome) {
  EXPECT_EQ(end_of_call(HBMARK_UNAVAILABLE, status("x"), "open").outcome, Outcome::kUnavailable);
  EXPECT_EQ(end_of_call(HBMARK_OUT_OF_MEMORY, status("x"), "allocate").outcome, Outcome::kUnavailable);
  EXPECT_EQ(end_of_call(HBMARK_CANCELLED, status("x"), "run").outcome, Outcome::kFailed);
  EXPECT_EQ(end_of_call(HBMARK_INVALID, status("x"), "run").outcome, Outcome::kFailed);
  EXPECT_EQ(end_of_call(HBMARK_FAILED, status("x"), "run").outcome, Outcome::kFailed);
  const CaseEnd unknown = end_of_call(-77, status("x"), "run");
  EXPECT_EQ(unknown.outcome, Outcome::kFailed);
  EXPECT_THAT(unknown.reason, HasSubstr("-77"));
}

TEST(EndOfCall, TheReasonIsNeverEmptyAndNamesTheVendorsCode) {
  for (const std::int32_t code : {1, 2, 3, 4, 5, 6, 99}) {
    EXPECT_THAT(end_of_call(code, status(""), "supports").reason, HasSubstr("the plugin gave no reason"));
  }
  EXPECT_THAT(end_of_call(HBMARK_FAILED, status("boom", 35), "run").reason, HasSubstr("boom (library code 35)"));
}

TEST(EndOfCall, AMessageWithoutAnEndIsCut) {
  hbmark_status s = new_status();
  std::memset(s.message, 'x', sizeof s.message);
  EXPECT_EQ(status_text(s), std::string(sizeof s.message, 'x'));
}

TEST(BytesText, ChoosesItsUnit) {
  EXPECT_EQ(text::bytes_text(0), "0 B");
  EXPECT_EQ(text::bytes_text(1023), "1023 B");
  EXPECT_EQ(text::bytes_text(1024), "1 KiB");
  EXPECT_EQ(text::bytes_text(std::uint64_t{3} << 29), "1.5 GiB");
  EXPECT_EQ(text::bytes_text(UINT64_MAX), "16 EiB");
}

}  // namespace
}  // namespace hbmark
