// Is it this convolution? A convolution is bilinear, and each pass leaves two indices free (forward: image and output
// channel; backward data: image and input channel; backward weights: both channels). The output summed over both with random
// signs is the convolution of the operands summed with the same signs: one image and one filter (for backward weights: one
// channel of each image), so that every output element is covered for little more than a pass over the arrays. A wrong
// element moves one sum by its whole error. Sampled elements are recomputed one by one beside it.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "bench/kernels/check.h"
#include "bench/kernels/conv_shape.h"
#include "bench/kernels/random.h"

namespace hbmark::check {
namespace {

using Vector = std::vector<double>;

struct Plane {
  std::int64_t rows, columns;
  std::size_t size() const { return static_cast<std::size_t>(rows * columns); }
};

// Adds one channel's contraction of input plane, filter plane and output plane: the two that are operands are read, the
// third is added to. The same taps for all three passes.
void contract(const ConvShape& shape, const double* input, const double* filter, const double* output, double* sum) {
  for (std::int64_t r = 0; r < shape.r; ++r) {
    const auto [p_first, p_end] = shape.rows_met(r);
    for (std::int64_t s = 0; s < shape.s; ++s) {
      const auto [q_first, q_end] = shape.columns_met(s);
      const std::int64_t tap = r * shape.s + s;
      for (std::int64_t p = p_first; p < p_end; ++p) {
        const std::int64_t in = shape.row(p, r) * shape.w + shape.column(0, s), out = p * shape.q;
        double tap_sum = 0;
        switch (shape.pass) {
          case ConvPass::kForward:
            for (std::int64_t q = q_first; q < q_end; ++q) sum[out + q] += input[in + q * shape.sw] * filter[tap];
            break;
          case ConvPass::kBackwardData:
            for (std::int64_t q = q_first; q < q_end; ++q) sum[in + q * shape.sw] += output[out + q] * filter[tap];
            break;
          case ConvPass::kBackwardWeights:
            for (std::int64_t q = q_first; q < q_end; ++q) tap_sum += input[in + q * shape.sw] * output[out + q];
            sum[tap] += tap_sum;
            break;
        }
      }
    }
  }
}

class ConvCheck {
 public:
  explicit ConvCheck(const CheckInput& input)
      : input_(input),
        type_(*find_type(input.problem.word("type"))),
        shape_(input.problem),
        model_(type_, input.algorithm_class, reduction_length()),
        tally_(model_.tolerance()) {}

  CheckReport run() {
    if (auto missing = missing_arrays(input_); !missing.empty()) {
      tally_.wrong(std::move(missing));
      return tally_.finish(0, "none");
    }
    check_finite();
    if (!tally_.found()) check_samples();
    if (!tally_.found()) check_projection();
    return tally_.finish(static_cast<std::int64_t>(out().spec.elements),
                         with_input_range("sampled elements and projection over both free indices", type_));
  }

 private:
  double reduction_length() const {
    const auto& v = shape_;
    switch (v.pass) {
      case ConvPass::kForward:
        return static_cast<double>(v.channels_in()) * static_cast<double>(v.r * v.s);
      case ConvPass::kBackwardData:
        return static_cast<double>(v.channels_out()) * static_cast<double>(v.r * v.s);
      default:
        return static_cast<double>(v.n) * static_cast<double>(v.p * v.q);
    }
  }

  // The arrays by what they are, whichever of them this pass writes.
  const HostArray& out() const { return input_.outputs[0]; }
  const HostArray& images() const { return shape_.pass == ConvPass::kBackwardData ? out() : input_.inputs[0]; }
  const HostArray& filters() const { return shape_.pass == ConvPass::kBackwardWeights ? out() : input_.inputs[1]; }
  const HostArray& results() const {
    return shape_.pass == ConvPass::kForward ? out() : input_.inputs[shape_.pass == ConvPass::kBackwardData ? 0 : 1];
  }

  Plane image_plane() const { return {shape_.h, shape_.w}; }
  Plane filter_plane() const { return {shape_.r, shape_.s}; }
  Plane result_plane() const { return {shape_.p, shape_.q}; }
  Plane out_plane() const {
    return shape_.pass == ConvPass::kForward        ? result_plane()
           : shape_.pass == ConvPass::kBackwardData ? image_plane()
                                                    : filter_plane();
  }
  // Channels in the output's second index, each with its plane.
  std::int64_t out_channels() const {
    return shape_.pass == ConvPass::kForward        ? shape_.k
           : shape_.pass == ConvPass::kBackwardData ? shape_.c
                                                    : shape_.channels_in();
  }

  std::array<std::int64_t, 4> index_of(std::int64_t element) const {
    const auto plane = out_plane();
    const auto inside = element % (plane.rows * plane.columns), outer = element / (plane.rows * plane.columns);
    return {outer / out_channels(), outer % out_channels(), inside / plane.columns, inside % plane.columns};
  }

  void report(std::int64_t element, double got, double expected) {
    const auto i = index_of(element);
    tally_.wrong(mismatch(out().spec.name, {i[0], i[1], i[2], i[3]}, got, expected));
  }

  void check_finite() {
    const auto element = first_not_finite(out());
    if (element == out().spec.elements) return;
    const auto got = at(out(), element);
    tally_.compare(got, 0, 0);
    tally_.wrong(fmt::format("{}[{}] is {}: not written, or computed from something that is no number", out().spec.name,
                             fmt::join(index_of(static_cast<std::int64_t>(element)), ","), got));
  }

  struct Sum {
    double value = 0, absolute = 0, square = 0;
    void add(double a, double b) {
      value += a * b;
      absolute += std::abs(a * b);
      square += a * b * a * b;
    }
  };

  double image(std::int64_t n, std::int64_t c, std::int64_t row, std::int64_t column) const {
    return at(images(), static_cast<std::uint64_t>(((n * shape_.c + c) * shape_.h + row) * shape_.w + column));
  }
  double filter(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) const {
    return at(filters(), static_cast<std::uint64_t>(((k * shape_.channels_in() + c) * shape_.r + r) * shape_.s + s));
  }
  double result(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) const {
    return at(results(), static_cast<std::uint64_t>(((n * shape_.k + k) * shape_.p + p) * shape_.q + q));
  }

  Sum forward(std::int64_t n, std::int64_t k, std::int64_t p, std::int64_t q) const {
    Sum sum;
    const std::int64_t first = k / shape_.channels_out() * shape_.channels_in();
    for (std::int64_t c = 0; c < shape_.channels_in(); ++c) {
      for (std::int64_t r = 0; r < shape_.r; ++r) {
        const auto row = shape_.row(p, r);
        if (row < 0 || row >= shape_.h) continue;
        for (std::int64_t s = 0; s < shape_.s; ++s) {
          const auto column = shape_.column(q, s);
          if (column >= 0 && column < shape_.w) sum.add(image(n, first + c, row, column), filter(k, c, r, s));
        }
      }
    }
    return sum;
  }

  Sum backward_data(std::int64_t n, std::int64_t c, std::int64_t row, std::int64_t column) const {
    Sum sum;
    const std::int64_t group = c / shape_.channels_in(), first = group * shape_.channels_out();
    for (std::int64_t r = 0; r < shape_.r; ++r) {
      const auto p = row + shape_.ph - r * shape_.dh;
      if (p < 0 || p % shape_.sh != 0 || p / shape_.sh >= shape_.p) continue;
      for (std::int64_t s = 0; s < shape_.s; ++s) {
        const auto q = column + shape_.pw - s * shape_.dw;
        if (q < 0 || q % shape_.sw != 0 || q / shape_.sw >= shape_.q) continue;
        for (std::int64_t k = 0; k < shape_.channels_out(); ++k) {
          sum.add(result(n, first + k, p / shape_.sh, q / shape_.sw), filter(first + k, c % shape_.channels_in(), r, s));
        }
      }
    }
    return sum;
  }

  Sum backward_weights(std::int64_t k, std::int64_t c, std::int64_t r, std::int64_t s) const {
    Sum sum;
    const std::int64_t channel = k / shape_.channels_out() * shape_.channels_in() + c;
    const auto [p_first, p_end] = shape_.rows_met(r);
    const auto [q_first, q_end] = shape_.columns_met(s);
    for (std::int64_t n = 0; n < shape_.n; ++n) {
      for (std::int64_t p = p_first; p < p_end; ++p) {
        for (std::int64_t q = q_first; q < q_end; ++q) {
          sum.add(image(n, channel, shape_.row(p, r), shape_.column(q, s)), result(n, k, p, q));
        }
      }
    }
    return sum;
  }

  bool check_element(std::int64_t element) {
    const auto i = index_of(element);
    const Sum sum = shape_.pass == ConvPass::kForward        ? forward(i[0], i[1], i[2], i[3])
                    : shape_.pass == ConvPass::kBackwardData ? backward_data(i[0], i[1], i[2], i[3])
                                                             : backward_weights(i[0], i[1], i[2], i[3]);
    const double got = at(out(), static_cast<std::uint64_t>(element));
    if (tally_.compare(got, sum.value, model_.element({sum.absolute, std::sqrt(sum.square)}, sum.value))) return true;
    report(element, got, sum.value);
    return false;
  }

  // The first and the last, where padding and remainders are, and random ones.
  void check_samples() {
    const random::Stream stream(input_.seed, "conv samples");
    const auto total = out().spec.elements;
    const auto count = sample_count(reduction_length(), total);
    for (std::int64_t sample = 0; sample < count && !tally_.found(); ++sample) {
      check_element(static_cast<std::int64_t>(sample == 0   ? 0
                                              : sample == 1 ? total - 1
                                                            : stream.below(static_cast<std::uint64_t>(sample), total)));
    }
  }

  // An array summed down to `planes` planes: plane i of the array goes to plane target(i) with sign(i).
  struct Folded {
    Vector value;   // with signs
    Vector energy;  // of squares, a plane a group
  };
  template <class Sign, class Target, class Group>
  static Folded fold(const HostArray& array, std::int64_t first, std::int64_t count, Plane plane, std::int64_t planes,
                     std::int64_t groups, Sign sign, Target target, Group group) {
    Folded out{Vector(static_cast<std::size_t>(planes) * plane.size()),
               Vector(static_cast<std::size_t>(groups) * plane.size())};
    Vector line(plane.size());
    for (std::int64_t i = first; i < first + count; ++i) {
      load(array, static_cast<std::uint64_t>(i) * plane.size(), plane.size(), line.data());
      double* value = out.value.data() + static_cast<std::size_t>(target(i)) * plane.size();
      double* energy = groups == 0 ? nullptr : out.energy.data() + static_cast<std::size_t>(group(i)) * plane.size();
      const double factor = sign(i);
      for (std::size_t j = 0; j < plane.size(); ++j) value[j] += factor * line[j];
      if (energy == nullptr) continue;
      for (std::size_t j = 0; j < plane.size(); ++j) energy[j] += line[j] * line[j];
    }
    return out;
  }

  // The operands summed over the free indices, and the output as it should then be.
  struct Projection {
    Vector expected;
    Vector image_energy, filter_energy, result_energy;  // a plane a group; that of the output is empty
  };

  const double* plane_of(const Vector& planes, std::int64_t i, Plane plane) const {
    return planes.empty() ? nullptr : planes.data() + static_cast<std::size_t>(i) * plane.size();
  }

  Projection project_forward(const Vector& u, const Vector& v) const {
    const auto& d = shape_;
    auto x = fold(
        images(), 0, d.n * d.c, image_plane(), d.c, d.g,
        [&](std::int64_t i) { return u[static_cast<std::size_t>(i / d.c)]; }, [&](std::int64_t i) { return i % d.c; },
        [&](std::int64_t i) { return i % d.c / d.channels_in(); });
    const auto group = [&](std::int64_t i) { return i / d.channels_in() / d.channels_out(); };
    auto f = fold(
        filters(), 0, d.k * d.channels_in(), filter_plane(), d.c, d.g,
        [&](std::int64_t i) { return v[static_cast<std::size_t>(i / d.channels_in())]; },
        [&](std::int64_t i) { return group(i) * d.channels_in() + i % d.channels_in(); }, group);
    Projection out{Vector(out_plane().size()), std::move(x.energy), std::move(f.energy), {}};
    for (std::int64_t c = 0; c < d.c; ++c) {
      contract(d, plane_of(x.value, c, image_plane()), plane_of(f.value, c, filter_plane()), nullptr, out.expected.data());
    }
    return out;
  }

  Projection project_backward_data(const Vector& u, const Vector& v) const {
    const auto& d = shape_;
    auto y = fold(
        results(), 0, d.n * d.k, result_plane(), d.k, d.g,
        [&](std::int64_t i) { return u[static_cast<std::size_t>(i / d.k)]; }, [&](std::int64_t i) { return i % d.k; },
        [&](std::int64_t i) { return i % d.k / d.channels_out(); });
    const auto group = [&](std::int64_t i) { return i / d.channels_in() / d.channels_out(); };
    auto f = fold(
        filters(), 0, d.k * d.channels_in(), filter_plane(), d.k, d.g,
        [&](std::int64_t i) { return v[static_cast<std::size_t>(group(i) * d.channels_in() + i % d.channels_in())]; },
        [&](std::int64_t i) { return i / d.channels_in(); }, group);
    Projection out{Vector(out_plane().size()), {}, std::move(f.energy), std::move(y.energy)};
    for (std::int64_t k = 0; k < d.k; ++k) {
      contract(d, nullptr, plane_of(f.value, k, filter_plane()), plane_of(y.value, k, result_plane()), out.expected.data());
    }
    return out;
  }

  Projection project_backward_weights(const Vector& u, const Vector& v) const {
    const auto& d = shape_;
    const auto in_group = [&](std::int64_t i) { return i % d.c / d.channels_in(); };
    const auto out_group = [&](std::int64_t i) { return i % d.k / d.channels_out(); };
    Projection out{Vector(out_plane().size()),
                   Vector(static_cast<std::size_t>(d.g) * image_plane().size()),
                   {},
                   Vector(static_cast<std::size_t>(d.g) * result_plane().size())};
    const auto add = [](Vector& sum, const Vector& part) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += part[i];
    };
    for (std::int64_t n = 0; n < d.n; ++n) {
      const auto x = fold(
          images(), n * d.c, d.c, image_plane(), d.g, d.g,
          [&](std::int64_t i) { return v[static_cast<std::size_t>(i % d.c % d.channels_in())]; }, in_group, in_group);
      const auto y = fold(
          results(), n * d.k, d.k, result_plane(), d.g, d.g,
          [&](std::int64_t i) { return u[static_cast<std::size_t>(i % d.k)]; }, out_group, out_group);
      add(out.image_energy, x.energy);
      add(out.result_energy, y.energy);
      for (std::int64_t g = 0; g < d.g; ++g) {
        contract(d, plane_of(x.value, g, image_plane()), nullptr, plane_of(y.value, g, result_plane()), out.expected.data());
      }
    }
    return out;
  }

  // Squared magnitudes of every projected sum. The sums |a||b| of elements with the same position are together at most the
  // product of the operands' norms over the taps that meet there (Cauchy and Schwarz), group by group.
  std::pair<Vector, Vector> magnitudes(const Projection& projection) const {
    const auto size = out_plane().size();
    const Vector one_image(image_plane().size(), 1.0), one_filter(filter_plane().size(), 1.0),
        one_result(result_plane().size(), 1.0);
    const double shared = shape_.pass == ConvPass::kForward        ? static_cast<double>(shape_.channels_in())
                          : shape_.pass == ConvPass::kBackwardData ? static_cast<double>(shape_.channels_out())
                                                                   : static_cast<double>(shape_.n);
    Vector absolute(size), square(size);
    for (std::int64_t g = 0; g < shape_.g; ++g) {
      const double* x = plane_of(projection.image_energy, g, image_plane());
      const double* f = plane_of(projection.filter_energy, g, filter_plane());
      const double* y = plane_of(projection.result_energy, g, result_plane());
      Vector first(size), second(size), both(size);
      contract(shape_, x, f, y, both.data());
      // Each operand alone, ones in place of the other. Images and results are first operands, filters and results second.
      const bool weights = shape_.pass == ConvPass::kBackwardWeights, data = shape_.pass == ConvPass::kBackwardData;
      contract(shape_, data ? nullptr : x, one_filter.data(), data ? y : one_result.data(), first.data());
      contract(shape_, one_image.data(), weights ? nullptr : f, weights ? y : one_result.data(), second.data());
      for (std::size_t i = 0; i < size; ++i) {
        absolute[i] += first[i] * second[i];
        square[i] += both[i] / shared;
      }
    }
    return {std::move(absolute), std::move(square)};
  }

  void check_projection() {
    const auto& d = shape_;
    const bool weights = d.pass == ConvPass::kBackwardWeights;
    const auto u = random::signs(input_.seed, "conv signs, first", static_cast<std::size_t>(weights ? d.k : d.n));
    const auto v = random::signs(input_.seed, "conv signs, second", static_cast<std::size_t>(out_channels()));
    const auto projection = d.pass == ConvPass::kForward        ? project_forward(u, v)
                            : d.pass == ConvPass::kBackwardData ? project_backward_data(u, v)
                                                                : project_backward_weights(u, v);
    const auto [absolute, square] = magnitudes(projection);
    const auto channels = out_channels();
    const auto outer = static_cast<std::int64_t>(u.size()) * channels;
    const auto got = fold(
        out(), 0, outer, out_plane(), 1, 0,
        [&](std::int64_t i) {
          return u[static_cast<std::size_t>(i / channels)] * v[static_cast<std::size_t>(i % channels)];
        },
        [](std::int64_t) { return 0; }, [](std::int64_t) { return 0; });
    for (std::size_t i = 0; i < got.value.size() && !tally_.found(); ++i) {
      const Magnitude magnitude{std::sqrt(absolute[i]), std::sqrt(square[i])};
      if (tally_.compare(got.value[i], projection.expected[i], model_.projection(magnitude, static_cast<double>(outer))))
        continue;
      locate(static_cast<std::int64_t>(i), outer, got.value[i], projection.expected[i]);
    }
  }

  // Names the element behind a position whose sums differ, if that takes no longer than a second or so.
  void locate(std::int64_t position, std::int64_t outer, double got, double expected) {
    constexpr double kProducts = 1 << 26;
    const auto plane = out_plane();
    const auto tries = std::min(static_cast<double>(outer), std::max(1.0, kProducts / reduction_length()));
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(tries); ++i) {
      if (!check_element(i * static_cast<std::int64_t>(plane.size()) + position)) return;
    }
    tally_.wrong(fmt::format("{}[*,*,{},{}] is wrong: its random +-1 sum is {:.9g}, expected {:.9g}", out().spec.name,
                             position / plane.columns, position % plane.columns, got, expected));
  }

  const CheckInput& input_;
  const TypeSpec& type_;
  ConvShape shape_;
  ErrorModel model_;
  Tally tally_;
};

}  // namespace

CheckReport conv(const CheckInput& input) { return ConvCheck(input).run(); }

}  // namespace hbmark::check
