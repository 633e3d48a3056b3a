// What the checks of all kernels share: reading canonical arrays as doubles, error models, and the tally of comparisons.
//
// The error model holds for inputs from fill_random: independent, with mean zero. There the error of a float sum of L
// products a_i b_i behaves as u * sum|a_i b_i| whatever L is (Higham and Mary, Sharper probabilistic backward error analysis
// for basic linear algebra kernels with random data, SIAM J. Sci. Comput. 42(5), 2020), in whatever order it is summed: the
// partial sums grow as sqrt(L), so that the root mean square is about 0.55 u sum|a_i b_i| for the worst order, one after the
// other. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>

#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark::check {

// The product, or the largest uint64 when it is 2^62 or more.
std::uint64_t product(std::initializer_list<std::int64_t> factors);

// Elements [offset, offset + count) as doubles.
void load(const HostArray& array, std::uint64_t offset, std::uint64_t count, double* out);
double at(const HostArray& array, std::uint64_t index);

// Index of the first NaN or infinity, or of the end.
std::uint64_t first_not_finite(const HostArray& array);

// Three measures of one sum of products, or (the root of the sum of squares of each) of a random +-1 sum of many.
struct Magnitude {
  double absolute = 0;  // sum |a b|, or a bound of it by Cauchy and Schwarz
  double square = 0;    // sqrt(sum a^2 b^2): also the expected size of the sum itself
};

// Largest difference that rounding explains.
class ErrorModel {
 public:
  ErrorModel(const TypeSpec& type, std::uint32_t algorithm_class, double reduction_length);
  double element(const Magnitude& magnitude, double expected) const;
  // Of a +-1 sum of `terms` elements with the random signs of a projection.
  double projection(const Magnitude& magnitude, double terms) const;
  double tolerance() const { return tolerance_; }  // of an element, relative to sum |a b|

 private:
  double accumulate_ = 0;  // factor of Magnitude::absolute, for random signs
  double worst_ = 0;       // the same where no sum can be worse; caps that of an element
  double input_ = 0;       // factor of Magnitude::square
  double output_ = 0;      // rounding of the result to its type
  double tolerance_ = 0;
};

// Collects comparisons into a CheckReport.
class Tally {
 public:
  explicit Tally(double tolerance) { report_.tolerance = tolerance; }
  // False when wrong (not a number included).
  bool compare(double got, double expected, double allowed);
  void wrong(std::string text);  // only the first is kept
  bool found() const { return !report_.first_wrong.empty(); }
  CheckReport finish(std::int64_t checked, std::string method);

 private:
  CheckReport report_;
};

// `c[12,7] is 3.5, expected 1.25`.
std::string mismatch(std::string_view name, std::initializer_list<std::int64_t> index, double got, double expected);

// The arrays are there and as large as the problem says; else the bug or broken plugin in words.
std::string missing_arrays(const CheckInput& input);

// `method`, and the range of the inputs where it was chosen so that sums are exact: "...; inputs from -127 to 127".
std::string with_input_range(std::string method, const TypeSpec& type);

// Elements to recompute one by one: enough to find a wrong kernel at once, few enough to cost some million products.
std::int64_t sample_count(double reduction_length, std::uint64_t elements);

CheckReport gemm(const CheckInput& input);
CheckReport conv(const CheckInput& input);

}  // namespace hbmark::check
