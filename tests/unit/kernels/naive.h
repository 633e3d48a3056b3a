// The kernels computed by plain loops, in the element type of the problem and in several summation orders: what correct
// implementations may give. Shares no code with the checks. For tests only.
#pragma once

#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "bench/kernels/kernel.h"
#include "bench/problems/types.h"

namespace hbmark::tests {

enum class Order { kForward, kBackward, kPairwise, kEightLanes, kBlocks64 };
constexpr Order kOrders[] = {Order::kForward, Order::kBackward, Order::kPairwise, Order::kEightLanes, Order::kBlocks64};

template <class T>
T sum(std::span<const T> terms, Order order) {
  T total = 0;
  switch (order) {
    case Order::kForward:
      for (const T term : terms) total += term;
      return total;
    case Order::kBackward:
      for (std::size_t i = terms.size(); i-- > 0;) total += terms[i];
      return total;
    case Order::kPairwise:
      if (terms.size() <= 2) return sum(terms, Order::kForward);
      return sum(terms.first(terms.size() / 2), order) + sum(terms.subspan(terms.size() / 2), order);
    case Order::kEightLanes: {
      T lanes[8] = {};
      for (std::size_t i = 0; i < terms.size(); ++i) lanes[i % 8] += terms[i];
      for (const T lane : lanes) total += lane;
      return total;
    }
    case Order::kBlocks64:
      for (std::size_t i = 0; i < terms.size(); i += 64) {
        total += sum(terms.subspan(i, std::min<std::size_t>(64, terms.size() - i)), Order::kForward);
      }
      return total;
  }
  return total;
}

// A case with its arrays: inputs random, output filled with NaN.
struct Arrays {
  explicit Arrays(const std::string& text, std::uint64_t data_seed = 1, std::uint64_t plugin_elements = 4096)
      : problem(parse_problem(text).value()) {
    for (auto spec : problem.kernel->operands(problem)) {
      if (spec.elements == 0) spec.elements = plugin_elements;
      HostArray array{spec, {}};
      spec.output ? fill_random(array, data_seed) : fill_input(problem, array, data_seed);
      if (spec.output) std::memset(array.bytes.data(), 0xff, array.bytes.size());
      (spec.output ? outputs : inputs).push_back(std::move(array));
    }
  }

  CheckReport check(std::uint64_t check_seed = 7, std::uint32_t algorithm_class = 0) const {
    return problem.kernel->check({problem, inputs, outputs, algorithm_class, check_seed});
  }

  template <class T>
  static T* data(HostArray& array) {
    return reinterpret_cast<T*>(array.bytes.data());
  }
  template <class T>
  T* in(std::size_t i) {
    return data<T>(inputs[i]);
  }
  template <class T = float>
  T* out() {
    return data<T>(outputs[0]);
  }

  Problem problem;
  std::vector<HostArray> inputs, outputs;
};

template <class T>
void naive_gemm(Arrays& arrays, Order order) {
  const auto& p = arrays.problem;
  const auto m = p.number("m"), n = p.number("n"), k = p.number("k"), batch = p.number("batch");
  const bool ta = p.word("trans")[0] == 't', tb = p.word("trans")[1] == 't';
  std::vector<T> terms(static_cast<std::size_t>(k));
  for (std::int64_t b = 0; b < batch; ++b) {
    const T* left = arrays.in<T>(0) + b * m * k;
    const T* right = arrays.in<T>(1) + b * k * n;
    for (std::int64_t i = 0; i < m; ++i) {
      for (std::int64_t j = 0; j < n; ++j) {
        for (std::int64_t l = 0; l < k; ++l) {
          terms[static_cast<std::size_t>(l)] =
              (ta ? left[l + i * k] : left[i + l * m]) * (tb ? right[j + l * n] : right[l + j * k]);
        }
        arrays.out<T>()[b * m * n + i + j * m] = sum<T>(terms, order);
      }
    }
  }
}

// Every pass by the same seven loops: the products that meet in an output element are gathered, then summed.
template <class T>
void naive_conv(Arrays& arrays, Order order) {
  const auto& d = arrays.problem;
  const auto n = d.number("n"), c = d.number("c"), h = d.number("h"), w = d.number("w"), k = d.number("k"),
             r = d.number("r"), s = d.number("s"), g = d.number("g");
  const auto span_h = d.number("dh") * (r - 1) + 1, span_w = d.number("dw") * (s - 1) + 1;
  const auto p = (h + 2 * d.number("ph") - span_h) / d.number("sh") + 1,
             q = (w + 2 * d.number("pw") - span_w) / d.number("sw") + 1;
  const bool fwd = d.word("pass") == "fwd", data = d.word("pass") == "bwd_data";
  const T* first = arrays.in<T>(0);
  const T* second = arrays.in<T>(1);
  std::vector<std::vector<T>> terms(arrays.outputs[0].spec.elements);
  for (std::int64_t in = 0; in < n; ++in)
    for (std::int64_t ik = 0; ik < k; ++ik)
      for (std::int64_t ip = 0; ip < p; ++ip)
        for (std::int64_t iq = 0; iq < q; ++iq)
          for (std::int64_t ic = 0; ic < c / g; ++ic)
            for (std::int64_t ir = 0; ir < r; ++ir)
              for (std::int64_t is = 0; is < s; ++is) {
                const auto row = ip * d.number("sh") - d.number("ph") + ir * d.number("dh");
                const auto column = iq * d.number("sw") - d.number("pw") + is * d.number("dw");
                if (row < 0 || row >= h || column < 0 || column >= w) continue;
                const auto channel = ik / (k / g) * (c / g) + ic;
                const auto image = static_cast<std::size_t>(((in * c + channel) * h + row) * w + column);
                const auto filter = static_cast<std::size_t>(((ik * (c / g) + ic) * r + ir) * s + is);
                const auto result = static_cast<std::size_t>(((in * k + ik) * p + ip) * q + iq);
                if (fwd) {
                  terms[result].push_back(first[image] * second[filter]);
                } else if (data) {
                  terms[image].push_back(first[result] * second[filter]);
                } else {
                  terms[filter].push_back(first[image] * second[result]);
                }
              }
  for (std::size_t i = 0; i < terms.size(); ++i) arrays.out<T>()[i] = sum<T>(terms[i], order);
}

// 16 sums of 32-bit words, each element split into its words by division: no copy of bytes as in the check.
inline void naive_read(Arrays& arrays) {
  const bool wide = arrays.problem.word("type") == "f64";
  std::vector<std::uint64_t> sums(16);
  for (std::size_t i = 0; i < arrays.inputs[0].spec.elements; ++i) {
    const std::uint64_t bits = wide ? arrays.in<std::uint64_t>(0)[i] : arrays.in<std::uint32_t>(0)[i];
    if (wide) {
      sums[2 * i % 16] += bits % (std::uint64_t{1} << 32);
      sums[(2 * i + 1) % 16] += bits >> 32;
    } else {
      sums[i % 16] += bits;
    }
  }
  for (std::size_t j = 0; j < 16; ++j) arrays.out<std::uint32_t>()[j] = static_cast<std::uint32_t>(sums[j] & 0xffffffffU);
}

template <class T>
void naive_stream(Arrays& arrays) {
  const auto& op = arrays.problem.word("op");
  if (op == "read") return naive_read(arrays);
  const T* x = arrays.inputs.empty() ? nullptr : arrays.in<T>(0);
  const T* y = arrays.inputs.size() > 1 ? arrays.in<T>(1) : nullptr;
  T* z = arrays.out<T>();
  for (std::size_t i = 0; i < arrays.outputs[0].spec.elements; ++i) {
    z[i] = op == "write"   ? T(3)
           : op == "copy"  ? x[i]
           : op == "scale" ? T(3) * x[i]
           : op == "add"   ? x[i] + y[i]
                           : x[i] + T(3) * y[i];
  }
}

// As after `calls` calls.
inline void naive_chase(Arrays& arrays, int calls = 1) {
  const auto loads = static_cast<std::int64_t>(arrays.problem.kernel->loads(arrays.problem));
  auto* z = arrays.out<std::int32_t>();
  z[1] = 0;
  for (int call = 0; call < calls; ++call) {
    z[0] = z[1];
    for (std::int64_t load = 0; load < loads; ++load) z[1] = arrays.in<std::int32_t>(0)[z[1]];
  }
}

template <class T>
void naive_peak(Arrays& arrays, int steps) {
  for (std::size_t i = 0; i < arrays.outputs[0].spec.elements; ++i) {
    T x = arrays.in<T>(0)[i];
    for (int step = 0; step < steps; ++step) x = x * T(0.99) + T(0.013);
    arrays.out<T>()[i] = x;
  }
}

// Whatever the problem is, its output by the loops above.
inline void compute(Arrays& arrays, Order order = Order::kForward) {
  const auto name = arrays.problem.kernel->name;
  if (name == "chase") return naive_chase(arrays, 3);
  const bool twice = arrays.problem.word("type") == "f64";
  if (name == "gemm") {
    twice ? naive_gemm<double>(arrays, order) : naive_gemm<float>(arrays, order);
  } else if (name == "conv") {
    twice ? naive_conv<double>(arrays, order) : naive_conv<float>(arrays, order);
  } else if (name == "stream") {
    twice ? naive_stream<double>(arrays) : naive_stream<float>(arrays);
  } else {
    twice ? naive_peak<double>(arrays, 5000) : naive_peak<float>(arrays, 5000);
  }
}

}  // namespace hbmark::tests
