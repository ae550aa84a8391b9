// Integer operations shared by lane, memory and warp instructions.
#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

namespace trainc::emulator {

/// The unsigned type for wrapping arithmetic, wide enough to avoid promotion to a signed type.
template <typename T> using Wrapping = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;

struct Add {
  template <typename T> static T of(T a, T b) { return static_cast<T>(Wrapping<T>(a) + Wrapping<T>(b)); }
};
struct Least {
  template <typename T> static T of(T a, T b) { return std::min(a, b); }
};
struct Most {
  template <typename T> static T of(T a, T b) { return std::max(a, b); }
};
struct And {
  template <typename T> static T of(T a, T b) { return static_cast<T>(a & b); }
};
struct Or {
  template <typename T> static T of(T a, T b) { return static_cast<T>(a | b); }
};
struct Xor {
  template <typename T> static T of(T a, T b) { return static_cast<T>(a ^ b); }
};

} // namespace trainc::emulator
