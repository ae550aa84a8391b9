// Float arithmetic. An operation rounds once: f32 and f64 on the host, other types from a wider result that
// was rounded to odd.
#include "test/emulator/ptx/arithmetic.h"
#include "test/emulator/ptx/float_values.h"

#include <array>

namespace trainc::emulator {

namespace {

// `of` is rounded by the host, for f32 and f64; `odd` is rounded afterwards.
struct Sum {
  template <typename T> static T of(T a, T b, T) { return a + b; }
  static double odd(double a, double b, double) { return oddSum(a, b); }
};
struct Difference {
  template <typename T> static T of(T a, T b, T) { return a - b; }
  static double odd(double a, double b, double) { return oddSum(a, -b); }
};
struct Product {
  template <typename T> static T of(T a, T b, T) { return a * b; }
  // exact, because factors have at most 24 bits
  static double odd(double a, double b, double) { return a * b; }
};
struct ProductSum {
  template <typename T> static T of(T a, T b, T c) { return std::fma(a, b, c); }
  static double odd(double a, double b, double c) { return oddSum(a * b, c); }
};
struct Ratio {
  template <typename T> static T of(T a, T b, T) { return a / b; }
  static double odd(double a, double b, double) { return oddQuotient(a, b); }
};
struct Reciprocal {
  template <typename T> static T of(T a, T, T) { return 1 / a; }
  static double odd(double a, double, double) { return oddQuotient(1, a); }
};
struct SquareRoot {
  template <typename T> static T of(T a, T, T) { return std::sqrt(a); }
  static double odd(double a, double, double) { return oddSquareRoot(a); }
};

/// Pointers to up to three operands; missing ones repeat the first.
template <typename T> std::array<const T *, 3> operandsAt(const Instruction &instruction, Warp &warp) {
  std::array<const T *, 3> at;
  for (size_t index = 0; index < 3; ++index)
    at[index] = warp.at<T>(instruction.reads[index < instruction.reads.size() ? index : 0]);
  return at;
}

template <typename F, bool Flushes> void roundedSingles(const Instruction &instruction, Warp &warp) {
  const auto [a, b, c] = operandsAt<float>(instruction, warp);
  forLanes<float>(warp, instruction.writes[0], [&](unsigned lane) {
    if constexpr (Flushes)
      return flushed(canonical(F::of(flushed(a[lane]), flushed(b[lane]), flushed(c[lane]))));
    else
      return canonical(F::of(a[lane], b[lane], c[lane]));
  });
}

/// With arbitrary modifiers.
template <typename F> void modifiedSingles(const Instruction &instruction, Warp &warp) {
  const auto [a, b, c] = operandsAt<float>(instruction, warp);
  const FloatModifiers modifiers(instruction.detail);
  const auto in = [&](float value) { return modifiers.flushes ? flushed(value) : value; };
  forLanes<float>(warp, instruction.writes[0], [&](unsigned lane) {
    const double exact = F::odd(in(a[lane]), in(b[lane]), in(c[lane]));
    const auto rounded = in(static_cast<float>(narrowed(exact, kFloat32, modifiers.rounding)));
    return modifiers.saturates ? saturated(rounded) : canonical(rounded);
  });
}

template <typename F> void roundedDoubles(const Instruction &instruction, Warp &warp) {
  const auto [a, b, c] = operandsAt<double>(instruction, warp);
  forLanes<double>(warp, instruction.writes[0],
                   [&](unsigned lane) { return F::of(a[lane], b[lane], c[lane]); });
}

template <typename F, typename Value>
uint16_t halfResult(uint16_t a, uint16_t b, uint16_t c, FloatModifiers modifiers) {
  const auto in = [&](uint16_t bits) {
    const double value = Value::widen(bits);
    return modifiers.flushes && std::abs(value) < 0x1p-14 ? std::copysign(0.0, value) : value;
  };
  double exact = F::odd(in(a), in(b), in(c));
  if (modifiers.saturates)
    exact = saturated(exact);
  if (modifiers.rectifies && exact < 0)
    exact = 0;
  const uint16_t bits = Value::narrow(exact);
  return modifiers.flushes && (bits & 0x7c00) == 0 ? static_cast<uint16_t>(bits & 0x8000) : bits;
}

template <typename F, typename Value> void roundedHalves(const Instruction &instruction, Warp &warp) {
  const auto [a, b, c] = operandsAt<uint16_t>(instruction, warp);
  const FloatModifiers modifiers(instruction.detail);
  forLanes<uint16_t>(warp, instruction.writes[0], [&](unsigned lane) {
    return halfResult<F, Value>(a[lane], b[lane], c[lane], modifiers);
  });
}

template <typename F, typename Value> void roundedPackedHalves(const Instruction &instruction, Warp &warp) {
  const auto [a, b, c] = operandsAt<uint32_t>(instruction, warp);
  const FloatModifiers modifiers(instruction.detail);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    const auto part = [&](unsigned shift) {
      const auto bits = [&](uint32_t both) { return static_cast<uint16_t>(both >> shift); };
      return uint32_t{halfResult<F, Value>(bits(a[lane]), bits(b[lane]), bits(c[lane]), modifiers)} << shift;
    };
    return part(0) | part(16);
  });
}

template <typename F> Handler roundedHandler(Type type, FloatModifiers modifiers) {
  if (type.bits == 64)
    return roundedDoubles<F>;
  if (type.bits == 32)
    return modifiers.rounding != Rounding::kNearest || modifiers.saturates ? modifiedSingles<F>
           : modifiers.flushes                                             ? roundedSingles<F, true>
                                                                           : roundedSingles<F, false>;
  if (type.kind == Type::Kind::kFloat)
    return type.count == 2 ? roundedPackedHalves<F, HalfFloat> : roundedHalves<F, HalfFloat>;
  return type.count == 2 ? roundedPackedHalves<F, BrainFloat> : roundedHalves<F, BrainFloat>;
}

template <typename F> void decodeFloat(Decoding &decoding, size_t sources, bool mayBeHalf) {
  const FloatModifiers modifiers = takeFloatModifiers(decoding);
  const Type type = decoding.takeType();
  if (!type.isFloat() || (!mayBeHalf && type.bits == 16))
    decoding.fail("expected a type of floats, found {}", type.name());
  if (type.bits == 64 && modifiers.packed() != 0)
    decoding.fail("the emulator rounds .f64 to nearest alone");
  if (type.bits == 16 && modifiers.rounding != Rounding::kNearest)
    decoding.fail("{} is rounded to nearest alone", type.name());
  decoding.expectOperands(sources + 1, sources + 1);
  decoding.write(0, type);
  for (size_t index = 1; index <= sources; ++index)
    decoding.read(index, type);
  decoding.instruction.detail = modifiers.packed();
  decoding.instruction.execute = roundedHandler<F>(type, modifiers);
}

/// Exact and approximate forms give the same, correctly rounded result.
template <typename F, size_t Sources> void decodeExactOrNot(Decoding &decoding) {
  decoding.takeOneOf({"approx", "full"});
  decodeFloat<F>(decoding, Sources, /*mayBeHalf=*/false);
}

/// rcp.approx.ftz.f64: only the upper half of a double, as a seed for refinement.
void reciprocalSeed(const Instruction &instruction, Warp &warp) {
  const double *const a = warp.at<double>(instruction.reads[0]);
  forLanes<uint64_t>(warp, instruction.writes[0], [&](unsigned lane) {
    const bool isSubnormal = std::abs(a[lane]) < std::numeric_limits<double>::min();
    const double value = 1 / (isSubnormal ? std::copysign(0.0, a[lane]) : a[lane]);
    return std::bit_cast<uint64_t>(value) >> 32 << 32;
  });
}

void decodeReciprocal(Decoding &decoding) {
  const auto &modifiers = decoding.statement().modifiers;
  if (modifiers != std::vector<std::string>{"approx", "ftz", "f64"})
    return decodeExactOrNot<Reciprocal, 1>(decoding);
  for (const std::string &modifier : modifiers)
    decoding.take(modifier);
  const Type type = {Type::Kind::kFloat, 64};
  decoding.expectOperands(2, 2);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.instruction.execute = reciprocalSeed;
}

} // namespace

void decodeFloatAdd(Decoding &decoding) { decodeFloat<Sum>(decoding, 2, true); }
void decodeFloatSubtract(Decoding &decoding) { decodeFloat<Difference>(decoding, 2, true); }
void decodeFloatMultiply(Decoding &decoding) { decodeFloat<Product>(decoding, 2, true); }
void decodeFloatMultiplyAdd(Decoding &decoding) { decodeFloat<ProductSum>(decoding, 3, true); }
void decodeFloatDivide(Decoding &decoding) { decodeExactOrNot<Ratio, 2>(decoding); }

void addFloatDecoders(Decoders &decoders) {
  decoders["fma"] = decodeFloatMultiplyAdd;
  decoders["rcp"] = decodeReciprocal;
  decoders["sqrt"] = decodeExactOrNot<SquareRoot, 1>;
}

} // namespace trainc::emulator
