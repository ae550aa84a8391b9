// Integer arithmetic.
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"
#include "test/emulator/ptx/operations.h"

#include <algorithm>
#include <limits>
#include <type_traits>

namespace trainc::emulator {

namespace {

template <typename T>
using Wide = std::conditional_t<sizeof(T) == 2, std::conditional_t<std::is_signed_v<T>, int32_t, uint32_t>,
                                std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>>;

template <typename T> T wrapped(Wrapping<T> value) { return static_cast<T>(value); }

template <typename T> T highProduct(T a, T b) {
  if constexpr (sizeof(T) == 8) {
    using Double = std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
    return static_cast<T>(static_cast<Double>(a) * static_cast<Double>(b) >> 64);
  } else {
    return static_cast<T>(Wide<T>{a} * Wide<T>{b} >> sizeof(T) * 8);
  }
}

struct Subtract {
  template <typename T> static T of(T a, T b) { return wrapped<T>(Wrapping<T>(a) - Wrapping<T>(b)); }
};
struct AddSaturated {
  static int32_t of(int32_t a, int32_t b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} + b, INT32_MIN, INT32_MAX));
  }
};
struct SubtractSaturated {
  static int32_t of(int32_t a, int32_t b) {
    return static_cast<int32_t>(std::clamp<int64_t>(int64_t{a} - b, INT32_MIN, INT32_MAX));
  }
};
struct Low {
  template <typename T> static T of(T a, T b) { return wrapped<T>(Wrapping<T>(a) * Wrapping<T>(b)); }
};
struct High {
  template <typename T> static T of(T a, T b) { return highProduct(a, b); }
};
struct LowAdd {
  template <typename T> static T of(T a, T b, T c) { return Add::of(Low::of(a, b), c); }
};
struct HighAdd {
  template <typename T> static T of(T a, T b, T c) { return Add::of(highProduct(a, b), c); }
};
struct Absolute {
  template <typename T> static T of(T a) { return a < 0 ? Subtract::of(T{0}, a) : a; }
};
struct Negative {
  template <typename T> static T of(T a) { return Subtract::of(T{0}, a); }
};
/// Division by zero gives all ones, as on GPUs; the minimum divided by -1 gives itself.
struct Quotient {
  template <typename T> static T of(T a, T b) {
    if (b == 0)
      return static_cast<T>(~T{0});
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return Negative::of(a);
    return static_cast<T>(a / b);
  }
};
struct Remainder {
  template <typename T> static T of(T a, T b) {
    if (b == 0)
      return a;
    if constexpr (std::is_signed_v<T>)
      if (b == -1)
        return 0;
    return static_cast<T>(a % b);
  }
};
struct SumOfDifference {
  template <typename T> static T of(T a, T b, T c) {
    return Add::of(c, Subtract::of(std::max(a, b), std::min(a, b)));
  }
};

template <typename F, template <typename, typename> class Handle> Handler forType(Type type) {
  if (type.isSigned())
    return type.bits == 16   ? Handle<F, int16_t>::run
           : type.bits == 32 ? Handle<F, int32_t>::run
                             : Handle<F, int64_t>::run;
  return type.bits == 16   ? Handle<F, uint16_t>::run
         : type.bits == 32 ? Handle<F, uint32_t>::run
                           : Handle<F, uint64_t>::run;
}
template <typename F, typename T> struct Unary {
  static constexpr Handler run = unary<F, T>;
};
template <typename F, typename T> struct Binary {
  static constexpr Handler run = binary<F, T>;
};
template <typename F, typename T> struct Ternary {
  static constexpr Handler run = ternary<F, T>;
};

Type integerType(Decoding &decoding) {
  const Type type = decoding.takeType();
  if (!type.isInteger() || type.bits < 16)
    decoding.fail("expected a type of whole numbers of 16, 32 or 64 bits, found {}", type.name());
  return type;
}

void operandsOf(Decoding &decoding, Type type, size_t sources) {
  decoding.expectOperands(sources + 1, sources + 1);
  decoding.write(0, type);
  for (size_t index = 1; index <= sources; ++index)
    decoding.read(index, type);
}

template <typename F> void decodeBinary(Decoding &decoding) {
  const Type type = integerType(decoding);
  operandsOf(decoding, type, 2);
  decoding.instruction.execute = forType<F, Binary>(type);
}

template <typename T, bool Adds> void wide(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  if constexpr (Adds) {
    const auto *const c = warp.at<Wide<T>>(instruction.reads[2]);
    forLanes<Wide<T>>(warp, instruction.writes[0], [&](unsigned lane) {
      return Add::of(Low::of(Wide<T>{a[lane]}, Wide<T>{b[lane]}), c[lane]);
    });
  } else {
    forLanes<Wide<T>>(warp, instruction.writes[0],
                      [&](unsigned lane) { return Low::of(Wide<T>{a[lane]}, Wide<T>{b[lane]}); });
  }
}

template <bool Adds> Handler wideHandler(Type type) {
  if (type.bits == 16)
    return type.isSigned() ? wide<int16_t, Adds> : wide<uint16_t, Adds>;
  return type.isSigned() ? wide<int32_t, Adds> : wide<uint32_t, Adds>;
}

template <bool Adds> void decodeWide(Decoding &decoding) {
  const Type type = integerType(decoding);
  if (type.bits == 64)
    decoding.fail("there is no product of 128 bits");
  const Type result = {type.kind, static_cast<uint8_t>(type.bits * 2)};
  decoding.expectOperands(Adds ? 4 : 3, Adds ? 4 : 3);
  decoding.write(0, result);
  decoding.read(1, type);
  decoding.read(2, type);
  if (Adds)
    decoding.read(3, result);
  decoding.instruction.execute = wideHandler<Adds>(type);
}

} // namespace

// add, sub, mul, min, max, abs and neg are also float opcodes: arithmetic.cpp selects by type.
void decodeIntegerAdd(Decoding &decoding) {
  const bool isSaturated = decoding.take("sat");
  decodeBinary<Add>(decoding);
  if (isSaturated)
    decoding.instruction.execute = binary<AddSaturated, int32_t>;
}

void decodeIntegerSubtract(Decoding &decoding) {
  const bool isSaturated = decoding.take("sat");
  decodeBinary<Subtract>(decoding);
  if (isSaturated)
    decoding.instruction.execute = binary<SubtractSaturated, int32_t>;
}

void decodeIntegerMultiply(Decoding &decoding) {
  if (decoding.take("wide"))
    decodeWide<false>(decoding);
  else if (decoding.take("hi"))
    decodeBinary<High>(decoding);
  else if (decoding.take("lo"))
    decodeBinary<Low>(decoding);
  else
    decoding.fail("expected .lo, .hi or .wide");
}

void decodeIntegerMultiplyAdd(Decoding &decoding) {
  if (decoding.take("wide"))
    return decodeWide<true>(decoding);
  const bool isHigh = decoding.take("hi");
  if (!isHigh && !decoding.take("lo"))
    decoding.fail("expected .lo, .hi or .wide");
  const Type type = integerType(decoding);
  operandsOf(decoding, type, 3);
  decoding.instruction.execute = isHigh ? forType<HighAdd, Ternary>(type) : forType<LowAdd, Ternary>(type);
}

void decodeIntegerMinimum(Decoding &decoding) { decodeBinary<Least>(decoding); }
void decodeIntegerMaximum(Decoding &decoding) { decodeBinary<Most>(decoding); }

void decodeIntegerDivide(Decoding &decoding) { decodeBinary<Quotient>(decoding); }

void decodeIntegerAbsolute(Decoding &decoding) {
  const Type type = integerType(decoding);
  operandsOf(decoding, type, 1);
  decoding.instruction.execute = forType<Absolute, Unary>(type);
}

void decodeIntegerNegate(Decoding &decoding) {
  const Type type = integerType(decoding);
  operandsOf(decoding, type, 1);
  decoding.instruction.execute = forType<Negative, Unary>(type);
}

void addIntegerDecoders(Decoders &decoders) {
  decoders["rem"] = decodeBinary<Remainder>;
  decoders["sad"] = [](Decoding &decoding) {
    const Type type = integerType(decoding);
    operandsOf(decoding, type, 3);
    decoding.instruction.execute = forType<SumOfDifference, Ternary>(type);
  };
}

} // namespace trainc::emulator
