// Problem strings: parse and print are inverses, and every error says which field, what stood there, and what may.
#include <gmock/gmock.h>

#include <functional>

#include "bench/kernels/kernel.h"
#include "bench/kernels/random.h"
#include "bench/problems/text.h"
#include "bench/problems/types.h"

namespace hbmark {
namespace {

using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kCanonical[] = {
    "gemm:f32:nn:m1024n1024k1024",
    "gemm:s8:tt:m1n2k3/batch=8",
    "gemm:tf32:nt:m2147483647n1k1",
    "conv:fwd:f32:n32c64h56w56k64r3s3sh1sw1ph1pw1",
    "conv:bwd_data:bf16:n1c2h3w4k2r1s2sh3sw4ph0pw0/g=2",
    "conv:bwd_weights:f16:n1c2h30w40k2r5s6sh3sw4ph1pw2/g=2/dh=3/dw=4",
    "conv:fwd:f64:n1c1h9w9k1r3s3sh1sw1ph0pw0/dw=2",
    "stream:copy:f32:4",
    "stream:triad:f64:268435456",
    "stream:read:f32:4",
    "stream:write:f64:8",
    "chase:128",
    "chase:137438953408",
    "peak:fma:f64",
};

TEST(ProblemString, ParseAndPrintAreInverses) {
  for (const char* text : kCanonical) {
    const auto problem = parse_problem(text);
    ASSERT_TRUE(problem) << text << ": " << problem.error().why;
    EXPECT_EQ(to_string(*problem), text);
    EXPECT_EQ(parse_problem(to_string(*problem)).value(), *problem);
  }
}

TEST(ProblemString, ParseAndPrintAreInversesForRandomProblems) {
  const random::Stream stream(1, "problems");
  std::uint64_t next = 0;
  int valid = 0;
  for (int trial = 0; trial < 4000; ++trial) {
    const auto& kernel = *kernels()[stream.below(next++, kernels().size())];
    Problem problem;
    problem.kernel = &kernel;
    for (const auto& field : kernel.grammar) {
      if (!field.allowed.empty()) {
        problem.words.emplace_back(field.name, field.allowed[stream.below(next++, field.allowed.size())]);
      } else {
        problem.numbers.emplace_back(field.name, field.min + static_cast<std::int64_t>(stream.below(next++, 9)));
      }
    }
    if (!kernel.validate(problem)) continue;
    ++valid;
    const auto text = to_string(problem);
    const auto again = parse_problem(text);
    ASSERT_TRUE(again) << text << ": " << again.error().why;
    EXPECT_EQ(*again, problem) << text;
  }
  EXPECT_GT(valid, 1000);
}

TEST(ProblemString, AnOptionAtItsDefaultIsReadAndNotPrinted) {
  const auto plain = parse_problem("gemm:f32:nn:m1n2k3").value();
  const auto explicit_default = parse_problem("gemm:f32:nn:m1n2k3/batch=1").value();
  EXPECT_EQ(plain, explicit_default);
  EXPECT_EQ(to_string(explicit_default), "gemm:f32:nn:m1n2k3");
  EXPECT_EQ(to_string(parse_problem("conv:fwd:f32:n1c1h3w3k1r1s1sh1sw1ph0pw0/g=1/dh=1/dw=1/layout=any").value()),
            "conv:fwd:f32:n1c1h3w3k1r1s1sh1sw1ph0pw0");
}

TEST(ProblemString, FieldsAreFoundByName) {
  const auto problem = parse_problem("conv:bwd_data:f32:n1c2h3w4k6r1s2sh3sw4ph5pw7/g=2").value();
  EXPECT_EQ(problem.word("pass"), "bwd_data");
  EXPECT_EQ(problem.number("s"), 2);
  EXPECT_EQ(problem.number("sh"), 3);
  EXPECT_EQ(problem.number("g"), 2);
  EXPECT_EQ(problem.number("dw"), 1);
  EXPECT_DEATH(static_cast<void>(problem.number("z")), "no field z");
}

struct Refused {
  std::string text;
  std::vector<std::string> says;  // all of these, in what + why + next
};

class Refuses : public testing::TestWithParam<Refused> {};

TEST_P(Refuses, WithTheReason) {
  const auto problem = parse_problem(GetParam().text);
  ASSERT_FALSE(problem) << GetParam().text;
  const auto& error = problem.error();
  EXPECT_EQ(error.kind, ErrorKind::kUsage);
  for (const auto* part : {&error.what, &error.why, &error.next}) {
    EXPECT_FALSE(part->empty());
    EXPECT_EQ(std::count_if(part->begin(), part->end(), [](char c) { return c < ' ' || c > '~'; }), 0)
        << "shown as it stood: " << *part;
    EXPECT_LT(part->size(), 700u);
  }
  for (const auto& expected : GetParam().says)
    EXPECT_THAT(error.what + " | " + error.why + " | " + error.next, HasSubstr(expected));
}

INSTANTIATE_TEST_SUITE_P(
    Malformed, Refuses,
    testing::Values(
        Refused{"", {"empty", "gemm"}},
        Refused{"gem:f32:nn:m1n1k1", {"\"gem\" is unknown", "did you mean \"gemm\"", "stream"}},
        Refused{"convolution:fwd", {"unknown"}}, Refused{"chess:268435456", {"\"chess\" is unknown"}},
        Refused{"chase", {"field array_bytes", "is missing"}}, Refused{"chase:64", {"\"64\", out of range", "from 128"}},
        Refused{"chase:100000", {"no multiple of 64", "99968"}},
        Refused{"stream:red:f64:800", {"field op", "did you mean \"read\"", "copy, scale, add, triad, read or write"}},
        Refused{":", {"kernel \"\""}}, Refused{"gemm", {"field type", "is missing", "the end"}},
        Refused{"gemm:", {"field type", "empty", "f32"}},
        Refused{"gemm:f23:nn:m1n1k1", {"field type", "\"f23\"", "did you mean \"f32\"", "bf16"}},
        Refused{"gemm:f32:xx:m1n1k1", {"field trans", "\"xx\"", "nn, nt, tn or tt"}},
        Refused{"gemm:f32:nn:n1m1k1", {"field m (rows of C)", "\"n1m1k1\"", "gemm:f32:nn:m1024n1024k1024"}},
        Refused{"gemm:f32:nn:m1k1", {"field n", "\"k1\""}}, Refused{"gemm:f32:nn:m1n1", {"field k", "the end"}},
        Refused{"gemm:f32:nn:m1n1k", {"field k", "empty", "a whole number from 1"}},
        Refused{"gemm:f32:nn:m0n1k1", {"field m", "\"0\", out of range", "from 1 to 2147483647"}},
        Refused{"gemm:f32:nn:m-1n1k1", {"field m", "\"-1\"", "negative"}},
        Refused{"gemm:f32:nn:m+1n1k1", {"field m", "\"+1\"", "not plain digits"}},
        Refused{"gemm:f32:nn:m007n1k1", {"field m", "\"007\"", "leading zero"}},
        Refused{"gemm:f32:nn:m1e30n1k1", {"field n", "\"e30n1k1\""}},
        Refused{"stream:triad:f64:1e30", {"field array_bytes", "\"1e30\", not plain digits"}},
        Refused{"stream:triad:f64:1.5", {"\"1.5\""}}, Refused{"stream:triad:f64:0x10", {"\"0x10\""}},
        Refused{"gemm:f32:nn:m2147483648n1k1", {"field m", "out of range"}},
        Refused{"gemm:f32:nn:m99999999999999999999999n1k1", {"field m", "out of range"}},
        Refused{"gemm:f32:nn:m1n1k1:", {"\":\"", "only options"}}, Refused{"gemm:f32:nn:m1n1k1x", {"\"x\" follows"}},
        Refused{"gemm:f32:nn:m1n1k1m1", {"\"m1\" follows"}}, Refused{"gemm:f32:nn:m1n1k1/", {"option \"\" is unknown"}},
        Refused{"gemm:f32:nn:m1n1k1/bach=2", {"\"bach\" is unknown", "did you mean \"batch\""}},
        Refused{"gemm:f32:nn:m1n1k1/batch", {"no value"}}, Refused{"gemm:f32:nn:m1n1k1/batch=", {"option batch", "empty"}},
        Refused{"gemm:f32:nn:m1n1k1/batch=0", {"option batch", "out of range"}},
        Refused{"gemm:f32:nn:m1n1k1/batch=2/batch=2", {"twice or out of order"}},
        Refused{"gemm:f32:nn:m1n1k1/batch=2=3", {"\"2=3\""}}, Refused{"peak:fma:f32/batch=2", {"unknown", "has none"}}));

INSTANTIATE_TEST_SUITE_P(HostileBytes, Refuses,
                         testing::Values(Refused{std::string("gemm:f32:nn:m1n1k1\0", 19), {"\\x00", "character 19"}},
                                         Refused{std::string("gemm\0:f32:nn:m1n1k1", 19), {"\\x00", "character 5"}},
                                         Refused{" gemm:f32:nn:m1n1k1", {"white space"}},
                                         Refused{"gemm:f32:nn:m1n1k1\n", {"\\x0a"}},
                                         Refused{"gemm:f32: nn:m1n1k1", {"white space", "character 10"}},
                                         Refused{"gemm:f32:nn:m1n1k1\x1b[31m", {"\\x1b"}},
                                         Refused{"gemm:f32:nn:m\xd9\xa1n1k1", {"\\xd9"}},
                                         Refused{"GEMM:f32:nn:m1n1k1", {"\"GEMM\" is unknown"}},
                                         Refused{"gemm:f32:nn:m1n1k1" + std::string(600, '1'), {"618 characters"}},
                                         Refused{std::string(1000000, 'a'), {"1000000 characters"}},
                                         Refused{"gemm:f32:nn:m1n1k1/" + std::string(400, 'b'), {"is unknown"}}));

INSTANTIATE_TEST_SUITE_P(
    Impossible, Refuses,
    testing::Values(Refused{"conv:fwd:f32:n1c1h2w9k1r3s3sh1sw1ph0pw0", {"no rows", "r=3", "covers 3", "has 2"}},
                    Refused{"conv:fwd:f32:n1c1h9w2k1r3s3sh1sw1ph0pw0", {"no columns"}},
                    Refused{"conv:fwd:f32:n1c1h6w9k1r3s3sh1sw1ph0pw0/dh=3", {"covers 7"}},
                    Refused{"conv:fwd:f32:n1c3h9w9k4r3s3sh1sw1ph0pw0/g=2", {"g=2 must divide c=3 and k=4"}},
                    Refused{"conv:fwd:f32:n1c1h9w9k1r3s3sh1sw1ph0pw0/dw=2/dh=2", {"out of order", "/g= /dh= /dw= /layout="}},
                    Refused{"conv:fwd:f32:n1c1h9w9k1r3s3sh1sw1ph0pw0/layout=nhwc", {"layout", "leave the option out"}},
                    Refused{"conv:fwd:f32:n1c1h9w9k1r3s3sh1sw1ph0pw0/layout=nhww", {"did you mean \"nhwc\""}},
                    Refused{"stream:triad:f64:12", {"no multiple of 8"}},
                    Refused{"stream:copy:f32:6", {"no multiple of 4", "give 4"}},
                    Refused{"gemm:s8:nn:m1n1k200000", {"overflow"}},
                    Refused{"gemm:f32:nn:m2147483647n2147483647k2147483647/batch=2147483647", {"2^62 bytes"}},
                    Refused{"conv:fwd:f32:n2147483647c2147483647h2147483647w2147483647k2147483647r1s1sh1sw1ph0pw0",
                            {"2^62"}},
                    Refused{"conv:bwd_weights:f64:n1c1h1w1k1r1s1sh1sw1ph2147483647pw2147483647", {"2^62"}},
                    Refused{"gemm:f64:nn:m2147483647n2147483647k1", {"2^62"}}));

TEST(ProblemString, TheLargestThatFitsIsAccepted) {
  // 2^60 elements of one byte each in A, and little in B; C of s32 is small: under 2^62 bytes.
  EXPECT_TRUE(parse_problem("gemm:f32:nn:m1073741824n1k536870912"));
  EXPECT_TRUE(parse_problem("conv:fwd:f32:n1c1h2147483647w1k1r2147483647s1sh1sw1ph0pw0"));
  EXPECT_TRUE(parse_problem("conv:fwd:f32:n1c1h7w7k1r1s1sh2sw2ph3pw3")) << "DeepBench pads 1x1 filters";
}

TEST(ProblemString, SurvivesEveryOneByteChange) {
  // No change may crash, and what is still accepted must be canonical or an option at its default.
  for (const std::string text : kCanonical) {
    for (std::size_t i = 0; i < text.size(); ++i) {
      for (int byte = 0; byte < 256; ++byte) {
        auto changed = text;
        changed[i] = static_cast<char>(byte);
        const auto problem = parse_problem(changed);
        if (problem && to_string(*problem) != changed) {
          EXPECT_THAT(changed, HasSubstr("=1")) << changed;
        }
      }
      const auto shorter = parse_problem(text.substr(0, i));
      if (shorter) {
        EXPECT_EQ(to_string(*shorter), text.substr(0, i));
      }
    }
  }
}

TEST(Text, QuotesWhatCannotBeShown) {
  EXPECT_EQ(text::quote("a\"b\\\n\xff"), "\"a\\\"b\\\\\\x0a\\xff\"");
  EXPECT_EQ(text::quote("abcdef", 3), "\"abc\"... (6 characters)");
}

TEST(Text, GuessesSlipsOnly) {
  const std::vector<std::string_view> words{"gemm", "conv", "stream", "peak"};
  EXPECT_EQ(text::nearest("gmem", words), "gemm");
  EXPECT_EQ(text::nearest("steram", words), "stream");
  EXPECT_EQ(text::nearest("convolution", words), "");
  EXPECT_EQ(text::nearest("", words), "");
  EXPECT_EQ(text::alternatives(words), "gemm, conv, stream or peak");
}

TEST(Types, AreOneTable) {
  for (const auto& type : types()) {
    EXPECT_EQ(find_type(type.name), &type);
    EXPECT_GE(element_bytes(type.output), 1u);
  }
  EXPECT_EQ(find_type("f8"), nullptr);
  EXPECT_EQ(element_bytes(find_type("bf16")->input), 2u);
  EXPECT_EQ(element_bytes(find_type("s8")->output), 4u);
  EXPECT_EQ(unit_roundoff(find_type("f32")->accumulator), 1.0 / (1 << 24));
}

}  // namespace
}  // namespace hbmark
