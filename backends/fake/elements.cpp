#include "backends/fake/elements.h"

#include <Eigen/Core>
#include <limits>
#include <type_traits>

#include "backends/abi/kernel.h"

namespace hbmark::fake {
namespace {

template <class T>
T narrow(double value) {
  if constexpr (std::is_integral_v<T>) {
    const bool fits = value >= std::numeric_limits<T>::lowest() && value <= std::numeric_limits<T>::max();
    return fits ? static_cast<T>(value) : std::numeric_limits<T>::lowest();
  } else if constexpr (std::is_floating_point_v<T>) {
    return static_cast<T>(value);
  } else {
    return T(static_cast<float>(value));
  }
}

template <class Visitor>
void visit(std::uint32_t type, Visitor&& visitor) {
  switch (type) {
    case HBMARK_F64:
      return visitor(double{});
    case HBMARK_BF16:
      return visitor(Eigen::bfloat16{});
    case HBMARK_F16:
      return visitor(Eigen::half{});
    case HBMARK_S8:
      return visitor(std::int8_t{});
    case HBMARK_S32:
      return visitor(std::int32_t{});
    default:
      return visitor(float{});
  }
}

}  // namespace

std::vector<double> load(const void* from, std::uint64_t count, std::uint32_t type) {
  std::vector<double> values(count);
  visit(type, [&]<class T>(T) {
    const T* elements = static_cast<const T*>(from);
    for (std::uint64_t i = 0; i < count; ++i) values[i] = static_cast<double>(elements[i]);
  });
  return values;
}

void store(std::span<const double> values, std::uint32_t type, void* to) {
  visit(type, [&]<class T>(T) {
    T* elements = static_cast<T*>(to);
    for (std::size_t i = 0; i < values.size(); ++i) elements[i] = narrow<T>(values[i]);
  });
}

}  // namespace hbmark::fake
