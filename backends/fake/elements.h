// Element types of the fake, read into double and written back as Eigen's types round. Pure, thread-safe.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace hbmark::fake {

std::vector<double> load(const void* from, std::uint64_t count, std::uint32_t type);
// What an integer type cannot hold (no number at all, say) becomes its lowest value.
void store(std::span<const double> values, std::uint32_t type, void* to);

}  // namespace hbmark::fake
