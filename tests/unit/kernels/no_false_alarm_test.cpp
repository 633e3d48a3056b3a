// The checks accuse nothing that is right: many shapes, with sums taken in every order.
#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "bench/kernels/random.h"
#include "tests/unit/kernels/naive.h"

namespace hbmark {
namespace {

using tests::Arrays;
using tests::compute;
using tests::Order;

TEST(NoFalseAlarm, GemmOfManyShapesInEveryOrder) {
  const random::Stream stream(11, "shapes");
  std::uint64_t next = 0;
  const char* trans[] = {"nn", "nt", "tn", "tt"};
  int checks = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const auto size = [&](std::uint64_t limit) { return 1 + stream.below(next++, limit); };
    const auto m = size(40), n = size(trial % 5 == 0 ? 600 : 40), k = size(trial % 3 == 0 ? 700 : 12);
    const auto text = "gemm:" + std::string(trial % 4 == 3 ? "f64" : "f32") + ":" + trans[trial % 4] + ":m" +
                      std::to_string(m) + "n" + std::to_string(n) + "k" + std::to_string(k);
    Arrays arrays(text, static_cast<std::uint64_t>(trial));
    for (const auto order : tests::kOrders) {
      compute(arrays, order);
      for (std::uint64_t seed = 0; seed < 10; ++seed, ++checks) {
        const auto report = arrays.check(seed);
        ASSERT_TRUE(report.ok()) << text << ": " << report.first_wrong;
      }
    }
  }
  EXPECT_EQ(checks, 3000);
}

TEST(NoFalseAlarm, ConvolutionOfManyShapesInEveryOrder) {
  const random::Stream stream(12, "shapes");
  std::uint64_t next = 0;
  int checks = 0;
  for (int trial = 0; trial < 60; ++trial) {
    const auto number = [&](std::uint64_t low, std::uint64_t high) { return low + stream.below(next++, high - low + 1); };
    const auto g = number(1, 3);
    const char* pass[] = {"fwd", "bwd_data", "bwd_weights"};
    std::string text = "conv:" + std::string(pass[trial % 3]) + (trial % 7 == 6 ? ":f64:" : ":f32:");
    const std::pair<const char*, std::uint64_t> dimensions[] = {
        {"n", number(1, 4)},     {"c", g * number(1, 8)}, {"h", number(8, 13)}, {"w", number(8, 13)},
        {"k", g * number(1, 6)}, {"r", number(1, 4)},     {"s", number(1, 4)},  {"sh", number(1, 3)},
        {"sw", number(1, 3)},    {"ph", number(0, 2)},    {"pw", number(0, 2)}};
    for (const auto& [name, value] : dimensions) text += name + std::to_string(value);
    if (g != 1) text += "/g=" + std::to_string(g);
    if (trial % 4 == 1) text += "/dh=2";
    Arrays arrays(text, static_cast<std::uint64_t>(trial));
    for (const auto order : tests::kOrders) {
      compute(arrays, order);
      for (std::uint64_t seed = 0; seed < 10; ++seed, ++checks) {
        const auto report = arrays.check(seed);
        ASSERT_TRUE(report.ok()) << text << ": " << report.first_wrong;
      }
    }
  }
  EXPECT_EQ(checks, 3000);
}

// The margin that is left shows that the tolerance is neither idle nor about to cry wolf.
TEST(NoFalseAlarm, LongSumsStayWellInside) {
  Arrays arrays("gemm:f32:nn:m8n16k20000");
  for (const auto order : tests::kOrders) {
    compute(arrays, order);
    const auto report = arrays.check();
    EXPECT_TRUE(report.ok()) << report.first_wrong;
    EXPECT_LT(report.max_rel_error, 0.6 * report.tolerance);
    if (order == Order::kForward) {
      EXPECT_GT(report.max_rel_error, 0.01 * report.tolerance);
    }
  }
}

}  // namespace
}  // namespace hbmark
