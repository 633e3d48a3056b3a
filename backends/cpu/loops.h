// The inner loops, one table an instruction set; everything compiled with more than the baseline stands behind one.
//
// Tables are constants and may be read on any machine; a loop may be called only where its instruction set is (isa.h).
// Loops are pure, thread-safe and allocate nothing. Pointers are aligned to 64 bytes.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace hbmark::cpu {

// z[i] from x[i] (and y[i]), or from neither, for `count` elements.
using StreamLoop = void (*)(const void* x, const void* y, void* z, double scalar, size_t count);

// Adds the 32-bit words of x to sums[16], the one at index i to sums[i % 16], modulo 2^32. `bytes` is a multiple of 4.
using ReadLoop = void (*)(const void* x, uint32_t* sums, size_t bytes);

// x = x * scale + offset, `steps` times, for the chains of one thread: from x, to z.
using PeakLoop = void (*)(const void* x, void* z, double scale, double offset, uint64_t steps);

enum Element { kFloat = 0, kDouble = 1 };
enum Store { kTemporal = 0, kNonTemporal = 1 };

struct Loops {
  StreamLoop stream[4][2][2];  // copy to triad: by HBMARK_STREAM_* - 1, Element, Store
  StreamLoop write[2][2];      // by Element, Store
  ReadLoop read;
  PeakLoop peak[2];       // by Element
  uint32_t peak_vectors;  // independent chains of vectors a thread
  uint32_t vector_bytes;
};

extern const Loops kLoopsSse2;     // no fused multiply-add: a product, then a sum
extern const Loops kLoopsAvx2;     // with FMA
extern const Loops kLoopsAvx512f;  // F only, so that it runs on Knights Landing

}  // namespace hbmark::cpu
