// Everything that differs between oneDNN 2.0-2.5, 2.6-2.7 and 3.x, and nothing else.
//
// 3.0 removed operation descriptors and the public members of memory descriptors; 2.6 removed the Knights Landing kernels
// and brought the floating-point math mode; the value 0xf of an instruction set means avx512_mic in 2.x and avx2_vnni
// in 3.x. Functions throw dnnl::error as the library does. Thread-safe.
#pragma once

#include <cstdint>
#include <cstdio>
#include <oneapi/dnnl/dnnl.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "backends/abi/kernel.h"

#define HBMARK_DNNL_AT_LEAST(major, minor) \
  (DNNL_VERSION_MAJOR > (major) || (DNNL_VERSION_MAJOR == (major) && DNNL_VERSION_MINOR >= (minor)))

namespace hbmark::onednn {

struct IsaName {
  int value;
  const char* name;
};

#if HBMARK_DNNL_AT_LEAST(3, 0)

// dnnl_cpu_isa_t of oneDNN 3.7's dnnl_types.h; later ones (AVX10.2) show as their number.
inline constexpr IsaName kIsaNames[] = {{0x0, "default"},
                                        {0x1, "sse41"},
                                        {0x3, "avx"},
                                        {0x7, "avx2"},
                                        {0xf, "avx2_vnni"},
                                        {0x1f, "avx2_vnni_2"},
                                        {0x27, "avx512_core"},
                                        {0x67, "avx512_core_vnni"},
                                        {0xe7, "avx512_core_bf16"},
                                        {0x1ef, "avx10_1_512"},
                                        {0xfef, "avx10_1_512_amx"},
                                        {0x1fef, "avx10_1_512_amx_fp16"}};

inline dnnl::primitive_desc matmul_desc(const dnnl::engine& engine, const dnnl::memory::desc& src,
                                        const dnnl::memory::desc& weights, const dnnl::memory::desc& dst,
                                        const dnnl::primitive_attr& attr) {
  return dnnl::matmul::primitive_desc(engine, src, weights, dst, attr);
}

#else

// dnnl_cpu_isa_t of oneDNN 2.0's and 2.7's dnnl_types.h. 2.0 to 2.3 count the f16 of Sapphire Rapids into amx.
inline constexpr IsaName kIsaNames[] = {{0x0, "all"},
                                        {0x1, "sse41"},
                                        {0x3, "avx"},
                                        {0x7, "avx2"},
                                        {0xf, "avx512_mic"},
                                        {0x1f, "avx512_mic_4ops"},
                                        {0x27, "avx512_core"},
                                        {0x67, "avx512_core_vnni"},
                                        {0xe7, "avx512_core_bf16"},
                                        {0x3e7, "avx512_core_amx"},
                                        {0x407, "avx2_vnni"}};

inline dnnl::primitive_desc matmul_desc(const dnnl::engine& engine, const dnnl::memory::desc& src,
                                        const dnnl::memory::desc& weights, const dnnl::memory::desc& dst,
                                        const dnnl::primitive_attr& attr) {
  return dnnl::matmul::primitive_desc(dnnl::matmul::desc(src, weights, dst), attr, engine);
}

#endif

// The three tensors of a convolution by what they are to the forward pass, whatever the pass; `any` or plain.
struct ConvolutionShape {
  dnnl::memory::desc src, weights, dst;
  dnnl::memory::dims strides, dilates, padding;  // dilates as oneDNN counts: 0 is dense
  dnnl::algorithm algorithm;
};

#if HBMARK_DNNL_AT_LEAST(3, 0)

inline dnnl::convolution_forward::primitive_desc forward_desc(const dnnl::engine& engine, const ConvolutionShape& s,
                                                              const dnnl::primitive_attr& attr) {
  return {engine,      dnnl::prop_kind::forward_training,
          s.algorithm, s.src,
          s.weights,   s.dst,
          s.strides,   s.dilates,
          s.padding,   s.padding,
          attr};
}
inline dnnl::primitive_desc backward_data_desc(const dnnl::engine& engine, const ConvolutionShape& s,
                                               const dnnl::primitive_attr& attr,
                                               const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_data::primitive_desc(engine, s.algorithm, s.src, s.weights, s.dst, s.strides, s.dilates,
                                                         s.padding, s.padding, hint, attr);
}
inline dnnl::primitive_desc backward_weights_desc(const dnnl::engine& engine, const ConvolutionShape& s,
                                                  const dnnl::primitive_attr& attr,
                                                  const dnnl::convolution_forward::primitive_desc& hint) {
  return dnnl::convolution_backward_weights::primitive_desc(engine, s.algorithm, s.src, s.weights, s.dst, s.strides,
                                                            s.dilates, s.padding, s.padding, hint, attr);
}

#else

inline dnnl::convolution_forward::primitive_desc forward_desc(const dnnl::engine& engine, const ConvolutionShape& s,
                                                              const dnnl::primitive_attr& attr) {
  const dnnl::convolution_forward::desc desc(dnnl::prop_kind::forward_training, s.algorithm, s.src, s.weights, s.dst,
                                             s.strides, s.dilates, s.padding, s.padding);
  return {desc, attr, engine};
}
inline dnnl::primitive_desc backward_data_desc(const dnnl::engine& engine, const ConvolutionShape& s,
                                               const dnnl::primitive_attr& attr,
                                               const dnnl::convolution_forward::primitive_desc& hint) {
  const dnnl::convolution_backward_data::desc desc(s.algorithm, s.src, s.weights, s.dst, s.strides, s.dilates, s.padding,
                                                   s.padding);
  return dnnl::convolution_backward_data::primitive_desc(desc, attr, engine, hint);
}
inline dnnl::primitive_desc backward_weights_desc(const dnnl::engine& engine, const ConvolutionShape& s,
                                                  const dnnl::primitive_attr& attr,
                                                  const dnnl::convolution_forward::primitive_desc& hint) {
  const dnnl::convolution_backward_weights::desc desc(s.algorithm, s.src, s.weights, s.dst, s.strides, s.dilates, s.padding,
                                                      s.padding);
  return dnnl::convolution_backward_weights::primitive_desc(desc, attr, engine, hint);
}

#endif

// The parts of a memory descriptor that describe its layout; nothing for a layout without strides (Winograd's).
struct Blocking {
  dnnl::memory::dims strides;      // between the outermost blocks, in elements
  dnnl::memory::dims inner_sizes;  // innermost blocks, outer to inner: {4, 16, 4} of OIhw4i16o4i
  dnnl::memory::dims inner_dims;   // which dimension each belongs to: {1, 0, 1}
};

inline std::optional<Blocking> blocking_of(const dnnl::memory::desc& desc) {
#if HBMARK_DNNL_AT_LEAST(3, 0)
  if (desc.get_format_kind() != dnnl::memory::format_kind::blocked) return std::nullopt;
  return Blocking{desc.get_strides(), desc.get_inner_blks(), desc.get_inner_idxs()};
#else
  if (desc.data.format_kind != dnnl_blocked) return std::nullopt;
  const dnnl_blocking_desc_t& blocking = desc.data.format_desc.blocking;
  return Blocking{{blocking.strides, blocking.strides + desc.data.ndims},
                  {blocking.inner_blks, blocking.inner_blks + blocking.inner_nblks},
                  {blocking.inner_idxs, blocking.inner_idxs + blocking.inner_nblks}};
#endif
}

inline std::optional<dnnl::memory::data_type> data_type_of(std::uint32_t type) {
  switch (type) {
    case HBMARK_F32:
      return dnnl::memory::data_type::f32;
    case HBMARK_BF16:
      return dnnl::memory::data_type::bf16;
    case HBMARK_F16:
      return dnnl::memory::data_type::f16;
    case HBMARK_S8:
      return dnnl::memory::data_type::s8;
    case HBMARK_S32:
      return dnnl::memory::data_type::s32;
#if HBMARK_DNNL_AT_LEAST(3, 0)
    case HBMARK_F64:
      return dnnl::memory::data_type::f64;
#endif
    default:
      return std::nullopt;
  }
}

// The caller's memory for everything, and f32 that is f32 whatever the environment says.
inline dnnl::primitive_attr strict_attributes() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
#if HBMARK_DNNL_AT_LEAST(2, 6)
  attr.set_fpmath_mode(dnnl::fpmath_mode::strict);
#endif
  return attr;
}

inline std::string isa_name() {
  const int value = static_cast<int>(dnnl_get_effective_cpu_isa());
  for (const IsaName& each : kIsaNames) {
    if (each.value == value) return each.name;
  }
  char text[32];
  std::snprintf(text, sizeof text, "isa 0x%x", static_cast<unsigned>(value));
  return text;
}

}  // namespace hbmark::onednn
