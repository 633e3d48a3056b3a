// The reference for "cold": every line of a buffer written back and thrown out of every cache of the machine.
// Thread-safe, nothing fails.
#pragma once

#include <cstddef>

namespace hbmark::perf {

bool can_flush_lines();  // x86-64 only
void flush_lines(const void* address, std::size_t bytes);

}  // namespace hbmark::perf
