// The triad loop a person would write by hand: z = x + scalar y on every thread of the OpenMP team. Memory is borrowed.
#pragma once

#include <cstddef>
#include <cstdint>

namespace hbmark::perf {

// Seconds that so many passes over `count` elements took. `streaming`: non-temporal stores, where the machine has them.
double time_plain_triad(const double* x, const double* y, double* z, double scalar, std::size_t count, bool streaming,
                        std::int64_t calls);

}  // namespace hbmark::perf
