// Levels of a curve that is flat between sudden rises: latency or bandwidth over the bytes in use, one level a cache.
//
// Pure, thread-safe, nothing fails: a curve too short for a level has none. Values are compared as ratios (logarithms), with
// medians, so that one disturbed size or a ramp between two levels makes no level of its own.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace hbmark::stats {

struct CurvePoint {
  double x = 0;      // positive: bytes
  double value = 0;  // positive: seconds, or bytes a second
};

struct CurveLevel {
  std::size_t first = 0, last = 0;  // indexes into the points given, both in the level
  double value = 0;                 // median of its points
  double low = 0, high = 0;         // least and greatest of them
};

// `points` sorted by x; those that are not positive and finite end the search (no levels). Every level has two points or
// more; neighbours differ by more than `ratio` in their medians.
std::vector<CurveLevel> curve_levels(std::span<const CurvePoint> points, double ratio = 1.15);

}  // namespace hbmark::stats
