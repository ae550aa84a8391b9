// Sums and products of 64-bit numbers that detect overflow.
#pragma once

#include <cstdint>

namespace trainc::facts {

/// Sum; false on overflow.
inline bool add(int64_t a, int64_t b, int64_t &sum) { return !__builtin_add_overflow(a, b, &sum); }
/// Product; false on overflow.
inline bool multiply(int64_t a, int64_t b, int64_t &product) {
  return !__builtin_mul_overflow(a, b, &product);
}

} // namespace trainc::facts
