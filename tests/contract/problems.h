// The problems that the contract suite puts to every backend: small, and awkward where backends go wrong (sizes that are no
// multiple of anything, one element, strides that leave a remainder, groups, dilation).
#pragma once

#include <cmath>
#include <cstddef>
#include <cstring>
#include <string>
#include <vector>

#include "backends/abi/chase.h"
#include "backends/abi/conv.h"
#include "backends/abi/gemm.h"
#include "backends/abi/peak.h"
#include "backends/abi/stream.h"
#include "tests/contract/driver.h"

namespace hbmark::tests {

struct ContractProblem {
  std::string text;  // for a person who reads a failure
  Bytes bytes;
  std::uint32_t type = HBMARK_F32;
  double reduction = 1;  // products that go into one element of the output
  std::uint32_t least_size =
      0;  // of the struct of a host that knows no options; 0: there are none, or this problem uses them
};

struct ContractKernel {
  std::string name;
  const char* capability;
  std::vector<ContractProblem> problems;
  std::vector<ContractProblem> broken;  // none of these may be supported or prepared
};

template <class T>
Bytes to_bytes(T problem, std::uint32_t size = sizeof(T)) {
  problem.struct_size = size;
  Bytes bytes(sizeof problem);
  std::memcpy(bytes.data(), &problem, sizeof problem);
  return bytes;
}

inline std::string type_text(std::uint32_t type) {
  constexpr const char* kNames[] = {"?", "f32", "f64", "bf16", "f16", "s8", "u8", "s32", "tf32"};
  return type < std::size(kNames) ? kNames[type] : std::to_string(type);
}

inline hbmark_gemm_problem gemm(std::int64_t m, std::int64_t n, std::int64_t k) {
  return {sizeof(hbmark_gemm_problem), HBMARK_F32, 0, 0, m, n, k, 1};
}

inline hbmark_conv_problem conv(std::uint32_t pass, std::int64_t n, std::int64_t c, std::int64_t h, std::int64_t w,
                                std::int64_t k, std::int64_t r, std::int64_t s) {
  hbmark_conv_problem x{};
  x.struct_size = sizeof x;
  x.type = HBMARK_F32;
  x.pass = pass;
  x.n = n, x.c = c, x.h = h, x.w = w, x.k = k, x.r = r, x.s = s;
  x.sh = x.sw = x.g = x.dh = x.dw = 1;
  return x;
}

inline ContractProblem describe(const hbmark_gemm_problem& p) {
  return {
      "gemm:" + type_text(p.type) + ":" + (p.trans_a ? "t" : "n") + (p.trans_b ? "t" : "n") + ":m" + std::to_string(p.m) +
          "n" + std::to_string(p.n) + "k" + std::to_string(p.k) + "/batch=" + std::to_string(p.batch),
      to_bytes(p), p.type, static_cast<double>(p.k), p.batch == 1 ? std::uint32_t{offsetof(hbmark_gemm_problem, batch)} : 0};
}

inline ContractProblem describe(const hbmark_conv_problem& x) {
  const auto length = [](std::int64_t in, std::int64_t pad, std::int64_t d, std::int64_t f, std::int64_t stride) {
    return (in + 2 * pad - d * (f - 1) - 1) / stride + 1;
  };
  const double out = static_cast<double>(length(x.h, x.ph, x.dh, x.r, x.sh) * length(x.w, x.pw, x.dw, x.s, x.sw) * x.n);
  const double taps = static_cast<double>(x.r * x.s);
  const double reduction = x.pass == HBMARK_CONV_FWD        ? taps * static_cast<double>(x.c / x.g)
                           : x.pass == HBMARK_CONV_BWD_DATA ? taps * static_cast<double>(x.k / x.g)
                                                            : out;
  std::string text = "conv pass " + std::to_string(x.pass) + " " + type_text(x.type);
  for (const auto value : {x.n, x.c, x.h, x.w, x.k, x.r, x.s, x.sh, x.sw, x.ph, x.pw, x.g, x.dh, x.dw}) {
    text += " " + std::to_string(value);
  }
  const bool plain = x.g == 1 && x.dh == 1 && x.dw == 1;
  return {text + " (n c h w k r s sh sw ph pw g dh dw)", to_bytes(x), x.type, reduction,
          plain ? std::uint32_t{offsetof(hbmark_conv_problem, g)} : 0};
}

inline ContractKernel gemm_kernel() {
  ContractKernel kernel{"gemm", HBMARK_GEMM_V1, {}, {}};
  const hbmark_gemm_problem shapes[] = {gemm(1, 1, 1), gemm(5, 7, 3), gemm(64, 64, 64), gemm(33, 17, 129), gemm(1, 40, 13)};
  for (const std::uint32_t type : {HBMARK_F32, HBMARK_F64, HBMARK_BF16, HBMARK_F16, HBMARK_S8, HBMARK_TF32}) {
    for (std::uint32_t trans = 0; trans < 4; ++trans) {
      for (hbmark_gemm_problem p : shapes) {
        p.type = type, p.trans_a = trans & 1, p.trans_b = trans >> 1;
        kernel.problems.push_back(describe(p));
      }
      hbmark_gemm_problem batched = gemm(9, 6, 11);
      batched.type = type, batched.trans_a = trans & 1, batched.trans_b = trans >> 1, batched.batch = 3;
      kernel.problems.push_back(describe(batched));
    }
  }
  const auto broken = [&](std::string text, const hbmark_gemm_problem& p, std::uint32_t size = sizeof(hbmark_gemm_problem)) {
    kernel.broken.push_back({std::move(text), to_bytes(p, size), p.type, 1, 0});
  };
  hbmark_gemm_problem p = gemm(4, 4, 4);
  broken("struct_size 0", p, 0);
  broken("struct_size 4", p, 4);
  p.type = 999;
  broken("type 999", p);
  for (const auto& shape :
       {gemm(0, 4, 4), gemm(4, -1, 4), gemm(4, 4, 0), gemm(std::int64_t{1} << 40, std::int64_t{1} << 40, 4)}) {
    broken("m " + std::to_string(shape.m) + " n " + std::to_string(shape.n) + " k " + std::to_string(shape.k), shape);
  }
  return kernel;
}

inline ContractKernel conv_kernel() {
  ContractKernel kernel{"conv", HBMARK_CONV_V1, {}, {}};
  for (const std::uint32_t pass : {HBMARK_CONV_FWD, HBMARK_CONV_BWD_DATA, HBMARK_CONV_BWD_WEIGHTS}) {
    std::vector<hbmark_conv_problem> shapes;
    shapes.push_back(conv(pass, 1, 1, 1, 1, 1, 1, 1));
    auto x = shapes.emplace_back(conv(pass, 2, 3, 9, 7, 5, 3, 3));
    x.ph = x.pw = 1;
    shapes.push_back(x);
    x.sh = 2, x.sw = 3;
    shapes.push_back(x);  // (9 + 2 - 3) / 2 and (7 + 2 - 3) / 3: with and without a remainder
    x = conv(pass, 1, 16, 14, 14, 32, 1, 1);
    shapes.push_back(x);
    x = conv(pass, 1, 3, 23, 20, 8, 7, 5);
    x.sh = x.sw = 2, x.ph = 3, x.pw = 2;
    shapes.push_back(x);
    x = conv(pass, 2, 8, 6, 6, 12, 3, 3);
    x.g = 4, x.ph = x.pw = 1;
    shapes.push_back(x);
    x = conv(pass, 1, 6, 8, 8, 6, 3, 3);
    x.g = 6;  // depthwise
    shapes.push_back(x);
    x = conv(pass, 1, 4, 11, 12, 3, 3, 2);
    x.dh = 2, x.dw = 3, x.ph = 2;
    shapes.push_back(x);
    x = conv(pass, 2, 16, 12, 12, 16, 3, 3);
    x.ph = x.pw = 1;  // what Winograd is made for
    shapes.push_back(x);
    for (const std::uint32_t type : {HBMARK_F32, HBMARK_F64, HBMARK_BF16, HBMARK_F16, HBMARK_S8, HBMARK_TF32}) {
      for (hbmark_conv_problem shape : shapes) {
        shape.type = type;
        kernel.problems.push_back(describe(shape));
      }
    }
  }
  const auto broken = [&](std::string text, const hbmark_conv_problem& p, std::uint32_t size = sizeof(hbmark_conv_problem)) {
    kernel.broken.push_back({std::move(text), to_bytes(p, size), p.type, 1, 0});
  };
  const hbmark_conv_problem good = conv(HBMARK_CONV_FWD, 1, 4, 5, 5, 4, 3, 3);
  broken("struct_size 0", good, 0);
  broken("struct_size 4", good, 4);
  hbmark_conv_problem x = good;
  broken("type 999", (x.type = 999, x)), x = good;
  broken("pass 999", (x.pass = 999, x)), x = good;
  broken("no channels", (x.c = 0, x)), x = good;
  broken("negative height", (x.h = -5, x)), x = good;
  broken("stride 0", (x.sh = 0, x)), x = good;
  broken("negative padding", (x.pw = -1, x)), x = good;
  broken("groups that do not divide", (x.g = 3, x)), x = good;
  broken("negative groups", (x.g = -1, x)), x = good;
  broken("negative dilation", (x.dh = -1, x)), x = good;
  broken("filter larger than the input", (x.r = 6, x)), x = good;
  broken("larger than any memory", (x.n = x.h = x.w = std::int64_t{1} << 30, x));
  return kernel;
}

inline ContractKernel stream_kernel() {
  ContractKernel kernel{"stream", HBMARK_STREAM_V1, {}, {}};
  for (const std::uint32_t type : {HBMARK_F32, HBMARK_F64, HBMARK_BF16}) {
    for (std::uint32_t op = HBMARK_STREAM_COPY; op <= HBMARK_STREAM_WRITE; ++op) {
      for (const std::uint64_t bytes : {8u, 64u, 1000u, 65536u, 1000008u}) {
        const hbmark_stream_problem p = {sizeof p, op, type, 0, bytes, 0.75};
        const std::uint32_t judged = op == HBMARK_STREAM_READ ? std::uint32_t{HBMARK_S32} : type;  // its sums are exact
        kernel.problems.push_back(
            {"stream op " + std::to_string(op) + " " + type_text(type) + " " + std::to_string(bytes) + " bytes", to_bytes(p),
             judged, 2, 0});
      }
    }
  }
  const auto broken = [&](std::string text, const hbmark_stream_problem& p,
                          std::uint32_t size = sizeof(hbmark_stream_problem)) {
    kernel.broken.push_back({std::move(text), to_bytes(p, size), p.type, 1, 0});
  };
  const hbmark_stream_problem good = {sizeof good, HBMARK_STREAM_COPY, HBMARK_F64, 0, 64, 1};
  broken("struct_size 0", good, 0);
  broken("struct_size 4", good, 4);
  hbmark_stream_problem p = good;
  broken("type 999", (p.type = 999, p)), p = good;
  broken("op 999", (p.op = 999, p)), p = good;
  broken("op 0", (p.op = 0, p)), p = good;
  broken("no bytes", (p.array_bytes = 0, p)), p = good;
  broken("half an element", (p.array_bytes = 12, p));
  return kernel;
}

inline ContractKernel chase_kernel() {
  ContractKernel kernel{"chase", HBMARK_CHASE_V1, {}, {}};
  const auto add = [](std::vector<ContractProblem>& list, std::string text, std::uint64_t bytes, std::uint64_t loads,
                      std::uint32_t size = sizeof(hbmark_chase_problem)) {
    list.push_back({std::move(text), to_bytes(hbmark_chase_problem{0, 0, bytes, loads}, size), HBMARK_S32, 1, 0});
  };
  for (const std::uint64_t bytes : {128u, 192u, 4096u, 65600u, 1048576u}) {
    for (const std::uint64_t loads : {1u, 1000u, 20011u}) {
      add(kernel.problems, "chase " + std::to_string(bytes) + " bytes, " + std::to_string(loads) + " loads", bytes, loads);
    }
  }
  add(kernel.broken, "struct_size 0", 4096, 10, 0);
  add(kernel.broken, "struct_size 4", 4096, 10, 4);
  add(kernel.broken, "no bytes", 0, 10);
  add(kernel.broken, "one line", 64, 10);
  add(kernel.broken, "half a line", 4096 + 32, 10);
  add(kernel.broken, "no loads", 4096, 0);
  add(kernel.broken, "more lines than 32 bits count", std::uint64_t{64} << 32, 10);
  return kernel;
}

inline ContractKernel peak_kernel() {
  ContractKernel kernel{"peak", HBMARK_PEAK_V1, {}, {}};
  for (const std::uint32_t type : {HBMARK_F32, HBMARK_F64, HBMARK_S8}) {
    for (const double scale : {0.5, 0.9, -0.25}) {
      const hbmark_peak_problem p = {sizeof p, HBMARK_PEAK_FMA, type, 0, scale, 0.375};
      kernel.problems.push_back(
          {"peak " + type_text(type) + " scale " + std::to_string(scale), to_bytes(p), type, 4 / (1 - std::fabs(scale)), 0});
    }
  }
  const auto broken = [&](std::string text, const hbmark_peak_problem& p, std::uint32_t size = sizeof(hbmark_peak_problem)) {
    kernel.broken.push_back({std::move(text), to_bytes(p, size), p.type, 1, 0});
  };
  const hbmark_peak_problem good = {sizeof good, HBMARK_PEAK_FMA, HBMARK_F32, 0, 0.5, 0.5};
  broken("struct_size 0", good, 0);
  broken("struct_size 4", good, 4);
  hbmark_peak_problem p = good;
  broken("type 999", (p.type = 999, p)), p = good;
  broken("op 999", (p.op = 999, p));
  return kernel;
}

inline const std::vector<ContractKernel>& contract_kernels() {
  static const std::vector<ContractKernel> kernels = {gemm_kernel(), conv_kernel(), stream_kernel(), chase_kernel(),
                                                      peak_kernel()};
  return kernels;
}

}  // namespace hbmark::tests
