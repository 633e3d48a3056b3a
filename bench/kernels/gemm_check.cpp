// Is C = op(A) op(B)? Sampled elements one by one, and Freivalds' check of all of them: C x against op(A) (op(B) x) for a
// random +-1 vector x costs one pass over each matrix, and one wrong element of C changes one element of C x.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/kernels/check.h"
#include "bench/kernels/random.h"

namespace hbmark::check {
namespace {

using Vector = std::vector<double>;

// op(M) with `rows` rows and `columns` columns, a part of a canonical array.
struct Matrix {
  const HostArray& array;
  std::uint64_t offset;
  std::int64_t rows, columns;
  bool transposed;

  std::uint64_t index(std::int64_t i, std::int64_t j) const {
    return offset + static_cast<std::uint64_t>(transposed ? j + i * columns : i + j * rows);
  }
  double at(std::int64_t i, std::int64_t j) const { return check::at(array, index(i, j)); }
};

struct Projected {
  Vector value;   // M x
  Vector square;  // (M . M) weight
  Vector energy;  // (M . M) 1
};

Projected project(const Matrix& m, const Vector& x, const Vector& weight) {
  const auto rows = static_cast<std::size_t>(m.rows);
  Projected out{Vector(rows), Vector(rows), Vector(rows)};
  const std::int64_t stored_columns = m.transposed ? m.rows : m.columns;
  const auto length = static_cast<std::size_t>(m.transposed ? m.columns : m.rows);
  Vector line(length);
  for (std::int64_t j = 0; j < stored_columns; ++j) {
    load(m.array, m.offset + static_cast<std::uint64_t>(j) * length, length, line.data());
    const auto at_j = static_cast<std::size_t>(j);
    double value = 0, square = 0, energy = 0;
    for (std::size_t i = 0; i < length; ++i) {
      const double element = line[i], squared = element * element;
      if (m.transposed) {
        value += element * x[i];
        square += squared * weight[i];
        energy += squared;
      } else {
        out.value[i] += element * x[at_j];
        out.square[i] += squared * weight[at_j];
        out.energy[i] += squared;
      }
    }
    if (m.transposed) {
      out.value[at_j] = value;
      out.square[at_j] = square;
      out.energy[at_j] = energy;
    }
  }
  return out;
}

class GemmCheck {
 public:
  explicit GemmCheck(const CheckInput& input)
      : input_(input),
        type_(*find_type(input.problem.word("type"))),
        m_(input.problem.number("m")),
        n_(input.problem.number("n")),
        k_(input.problem.number("k")),
        batch_(input.problem.number("batch")),
        model_(type_, input.algorithm_class, static_cast<double>(k_)),
        tally_(model_.tolerance()) {}

  CheckReport run() {
    if (auto missing = missing_arrays(input_); !missing.empty()) {
      tally_.wrong(std::move(missing));
      return tally_.finish(0, "none");
    }
    check_finite();
    if (!tally_.found()) check_samples();
    for (std::int64_t b = 0; b < batch_ && !tally_.found(); ++b) check_projection(b);
    return tally_.finish(m_ * n_ * batch_, with_input_range("sampled elements and Freivalds projection", type_));
  }

 private:
  Matrix a(std::int64_t b) const {
    return {input_.inputs[0], static_cast<std::uint64_t>(b * m_ * k_), m_, k_, input_.problem.word("trans")[0] == 't'};
  }
  Matrix b(std::int64_t b) const {
    return {input_.inputs[1], static_cast<std::uint64_t>(b * k_ * n_), k_, n_, input_.problem.word("trans")[1] == 't'};
  }
  Matrix c(std::int64_t b) const { return {input_.outputs[0], static_cast<std::uint64_t>(b * m_ * n_), m_, n_, false}; }

  void report(std::int64_t b, std::int64_t i, std::int64_t j, double got, double expected) {
    tally_.wrong(batch_ == 1 ? mismatch("c", {i, j}, got, expected) : mismatch("c", {b, i, j}, got, expected));
  }

  bool check_element(std::int64_t batch, std::int64_t i, std::int64_t j) {
    const auto left = a(batch), right = b(batch);
    double sum = 0, square = 0;
    Magnitude magnitude;
    for (std::int64_t l = 0; l < k_; ++l) {
      const double term = left.at(i, l) * right.at(l, j);
      sum += term;
      magnitude.absolute += std::abs(term);
      square += term * term;
    }
    magnitude.square = std::sqrt(square);
    const double got = c(batch).at(i, j);
    if (tally_.compare(got, sum, model_.element(magnitude, sum))) return true;
    report(batch, i, j, got, sum);
    return false;
  }

  void check_finite() {
    const auto& output = input_.outputs[0];
    const auto index = static_cast<std::int64_t>(first_not_finite(output));
    if (index == m_ * n_ * batch_) return;
    const auto inside = index % (m_ * n_);
    tally_.compare(at(output, static_cast<std::uint64_t>(index)), 0, 0);
    tally_.wrong(fmt::format("c[{}{},{}] is {}: not written, or computed from something that is no number",
                             batch_ == 1 ? "" : fmt::format("{},", index / (m_ * n_)), inside % m_, inside / m_,
                             at(output, static_cast<std::uint64_t>(index))));
  }

  // Both corners, where blocked code handles its remainders, and random ones.
  void check_samples() {
    const random::Stream stream(input_.seed, "gemm samples");
    const auto total = static_cast<std::uint64_t>(m_ * n_ * batch_);
    const auto count = sample_count(static_cast<double>(k_), total);
    for (std::int64_t sample = 0; sample < count && !tally_.found(); ++sample) {
      const auto index = static_cast<std::int64_t>(sample == 0   ? 0
                                                   : sample == 1 ? total - 1
                                                                 : stream.below(static_cast<std::uint64_t>(sample), total));
      const auto inside = index % (m_ * n_);
      check_element(index / (m_ * n_), inside % m_, inside / m_);
    }
  }

  void check_projection(std::int64_t batch) {
    const auto x = random::signs(input_.seed, fmt::format("gemm signs {}", batch), static_cast<std::size_t>(n_));
    const Vector ones(static_cast<std::size_t>(n_), 1.0);
    const auto right = project(b(batch), x, ones);
    const auto left = project(a(batch), right.value, right.energy);
    const auto got = project(c(batch), x, ones);
    double norm_b = 0;  // squared
    for (const double energy : right.energy) norm_b += energy;
    for (std::size_t i = 0; i < static_cast<std::size_t>(m_) && !tally_.found(); ++i) {
      // By Cauchy and Schwarz the sums |a||b| of row i are together at most |a_i| |B|.
      const Magnitude magnitude{std::sqrt(left.energy[i] * norm_b), std::sqrt(left.square[i])};
      if (tally_.compare(got.value[i], left.value[i], model_.projection(magnitude, static_cast<double>(n_)))) continue;
      locate(batch, static_cast<std::int64_t>(i), got.value[i], left.value[i]);
    }
  }

  // Names the element behind a row whose sums differ, if that takes no longer than a second or so.
  void locate(std::int64_t batch, std::int64_t i, double got, double expected) {
    constexpr std::int64_t kProducts = std::int64_t{1} << 27;
    const auto columns = std::min(n_, std::max(std::int64_t{1}, kProducts / k_));
    for (std::int64_t j = 0; j < columns; ++j) {
      if (!check_element(batch, i, j)) return;
    }
    tally_.wrong(fmt::format("row {} of c{} is wrong: its random +-1 sum is {:.9g}, expected {:.9g}", i,
                             batch_ == 1 ? "" : fmt::format(" (product {})", batch), got, expected));
  }

  const CheckInput& input_;
  const TypeSpec& type_;
  std::int64_t m_, n_, k_, batch_;
  ErrorModel model_;
  Tally tally_;
};

}  // namespace

CheckReport gemm(const CheckInput& input) { return GemmCheck(input).run(); }

}  // namespace hbmark::check
