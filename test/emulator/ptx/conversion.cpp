// cvt: conversion between all numeric types.
#include "test/emulator/ptx/float_values.h"
#include "test/emulator/ptx/fp8_conversion.h"

#include <algorithm>
#include <type_traits>

namespace trainc::emulator {

namespace {

// `detail`: FloatModifiers, and this flag.
constexpr uint64_t kRoundsToWhole = uint64_t{1} << 16;

// Numbers in registers. A register may be wider than its type; only its low bits count then.
template <typename T> struct Whole {
  using Bits = std::make_unsigned_t<T>;
  static constexpr bool isFloat = false;
  static T read(Bits bits) { return static_cast<T>(bits); }
};
struct Float32 {
  using Bits = uint32_t;
  static constexpr bool isFloat = true;
  static constexpr FloatFormat format = kFloat32;
  static double read(uint32_t bits) { return std::bit_cast<float>(bits); }
  static uint32_t write(double value) {
    return std::bit_cast<uint32_t>(canonical(static_cast<float>(value)));
  }
};
struct Float64 {
  using Bits = uint64_t;
  static constexpr bool isFloat = true;
  static double read(uint64_t bits) { return std::bit_cast<double>(bits); }
  static uint64_t write(double value) { return std::bit_cast<uint64_t>(value); }
};
template <typename Value, FloatFormat Format> struct Float16Bits {
  using Bits = uint16_t;
  static constexpr bool isFloat = true;
  static constexpr FloatFormat format = Format;
  static double read(uint16_t bits) { return Value::widen(bits); }
  static uint16_t write(double value) { return Value::narrow(value); }
};
using HalfBits = Float16Bits<HalfFloat, kFloat16>;
using BrainBits = Float16Bits<BrainFloat, kBFloat16>;
/// f32 with a fraction of ten bits.
struct TensorBits : Float32 {
  static constexpr FloatFormat format = kTensorFloat32;
};

double flushedDouble(double value) { return std::abs(value) < 0x1p-126 ? std::copysign(0.0, value) : value; }

/// Result for NaN: 0, or only the highest bit for 64 bits.
template <typename To, bool Is64> To wholeOf(double value, Rounding rounding) {
  if (std::isnan(value))
    return Is64 ? static_cast<To>(std::make_unsigned_t<To>{1} << (sizeof(To) * 8 - 1)) : To{0};
  const double whole = roundedToWhole(value, rounding);
  // One past the maximum is a power of two, which a double represents.
  const double past = std::ldexp(1.0, static_cast<int>(sizeof(To) * 8) - std::is_signed_v<To>);
  const double minimum = std::is_signed_v<To> ? -past : 0;
  if (whole >= past)
    return std::numeric_limits<To>::max();
  return whole <= minimum ? std::numeric_limits<To>::min() : static_cast<To>(whole);
}

template <typename To>
typename To::Bits floatOf(double value, const FloatModifiers &modifiers, bool toWhole) {
  if (toWhole)
    value = roundedToWhole(value, modifiers.rounding);
  if constexpr (!std::is_same_v<To, Float64>)
    if (!toWhole && (modifiers.rounding != Rounding::kNearest || std::is_same_v<To, TensorBits>))
      value = narrowed(value, To::format, modifiers.rounding);
  if (modifiers.saturates)
    value = saturated(value);
  if (modifiers.rectifies && value < 0)
    value = 0;
  return To::write(value);
}

template <typename From, typename To>
uint64_t converted(uint64_t bits, const FloatModifiers &modifiers, bool toWhole) {
  const auto source = From::read(static_cast<typename From::Bits>(bits));
  if constexpr (To::isFloat && From::isFloat) {
    double value = source;
    const bool flushesIn = modifiers.flushes && std::is_same_v<From, Float32>;
    const bool flushesOut = modifiers.flushes && std::is_same_v<To, Float32>;
    value = flushesIn ? flushedDouble(value) : value;
    const auto result = floatOf<To>(value, modifiers, toWhole);
    if constexpr (std::is_same_v<To, Float32>)
      return flushesOut ? std::bit_cast<uint32_t>(flushed(std::bit_cast<float>(result))) : result;
    return result;
  } else if constexpr (To::isFloat) {
    const bool isNegative = source < 0;
    const auto magnitude = isNegative ? 0 - static_cast<uint64_t>(source) : static_cast<uint64_t>(source);
    int digits = 53;
    if constexpr (!std::is_same_v<To, Float64>)
      digits = To::format.fractionBits + 1;
    return floatOf<To>(wholeNumber(magnitude, isNegative, digits, modifiers.rounding), modifiers, false);
  } else if constexpr (From::isFloat) {
    using T = decltype(To::read(0));
    constexpr bool is64 = sizeof(T) == 8 || std::is_same_v<From, Float64>;
    const double value = modifiers.flushes && std::is_same_v<From, Float32> ? flushedDouble(source) : source;
    return static_cast<typename To::Bits>(wholeOf<T, is64>(value, modifiers.rounding));
  } else {
    using T = decltype(To::read(0));
    if (modifiers.saturates)
      return static_cast<typename To::Bits>(std::in_range<T>(source) ? static_cast<T>(source)
                                            : source < 0             ? std::numeric_limits<T>::min()
                                                                     : std::numeric_limits<T>::max());
    return static_cast<typename To::Bits>(source);
  }
}

/// Writes a result, sign- or zero-extended to a wider register.
template <typename To> void writeLane(Warp &warp, const Slot &slot, unsigned lane, uint64_t bits) {
  if constexpr (!To::isFloat)
    bits = static_cast<uint64_t>(static_cast<int64_t>(To::read(static_cast<typename To::Bits>(bits))));
  std::memcpy(warp.at<std::byte>(slot) + size_t{lane} * slot.bits / 8, &bits, slot.bits / 8);
}

template <typename From, typename To> void convert(const Instruction &instruction, Warp &warp) {
  const FloatModifiers modifiers(instruction.detail);
  const bool toWhole = (instruction.detail & kRoundsToWhole) != 0;
  for (unsigned lane = 0; lane < kLanes; ++lane)
    if ((warp.active >> lane & 1) != 0)
      writeLane<To>(warp, instruction.writes[0], lane,
                    converted<From, To>(warp.lane(instruction.reads[0], lane), modifiers, toWhole));
}

/// The common case without modifiers, between registers of exactly these types.
template <typename From, typename To> void convertPlain(const Instruction &instruction, Warp &warp) {
  const auto *const a = warp.at<typename From::Bits>(instruction.reads[0]);
  constexpr FloatModifiers modifiers;
  forLanes<typename To::Bits>(warp, instruction.writes[0], [&](unsigned lane) {
    return static_cast<typename To::Bits>(converted<From, To>(a[lane], modifiers, false));
  });
}

template <typename Format> uint16_t nearestHalf(float value) {
  return std::isnan(value) ? kNaN16 : Format::nearest(value).bits;
}

template <typename Format> void singlesToHalves(const Instruction &instruction, Warp &warp) {
  const float *const a = warp.at<float>(instruction.reads[0]);
  forLanes<uint16_t>(warp, instruction.writes[0],
                     [&](unsigned lane) { return nearestHalf<Format>(a[lane]); });
}

template <typename Format> void singlesToPackedHalves(const Instruction &instruction, Warp &warp) {
  const float *const high = warp.at<float>(instruction.reads[0]), *const low =
                                                                      warp.at<float>(instruction.reads[1]);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    return uint32_t{nearestHalf<Format>(high[lane])} << 16 | nearestHalf<Format>(low[lane]);
  });
}

/// The first operand goes into the upper half.
template <typename To> void convertPacked(const Instruction &instruction, Warp &warp) {
  const uint32_t *const high = warp.at<uint32_t>(instruction.reads[0]), *const low = warp.at<uint32_t>(
                                                                            instruction.reads[1]);
  const FloatModifiers modifiers(instruction.detail);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    const auto half = [&](uint32_t bits) {
      return static_cast<uint32_t>(converted<Float32, To>(bits, modifiers, false));
    };
    return half(high[lane]) << 16 | half(low[lane]);
  });
}

template <typename From> struct FromType {
  template <typename To> static Handler to(bool isPlain) {
    return isPlain ? convertPlain<From, To> : convert<From, To>;
  }
  static Handler find(Type to, bool isPlain) {
    switch (to.kind) {
    case Type::Kind::kBrainFloat:
      return FromType::to<BrainBits>(isPlain);
    case Type::Kind::kTensorFloat:
      return convert<From, TensorBits>;
    case Type::Kind::kFloat:
      return to.bits == 16   ? FromType::to<HalfBits>(isPlain)
             : to.bits == 32 ? FromType::to<Float32>(isPlain)
                             : FromType::to<Float64>(isPlain);
    case Type::Kind::kSigned:
      return to.bits == 8    ? convert<From, Whole<int8_t>>
             : to.bits == 16 ? FromType::to<Whole<int16_t>>(isPlain)
             : to.bits == 32 ? FromType::to<Whole<int32_t>>(isPlain)
                             : FromType::to<Whole<int64_t>>(isPlain);
    default:
      return to.bits == 8    ? convert<From, Whole<uint8_t>>
             : to.bits == 16 ? FromType::to<Whole<uint16_t>>(isPlain)
             : to.bits == 32 ? FromType::to<Whole<uint32_t>>(isPlain)
                             : FromType::to<Whole<uint64_t>>(isPlain);
    }
  }
};

Handler convertingHandler(Type from, Type to, bool isPlain) {
  switch (from.kind) {
  case Type::Kind::kBrainFloat:
    return FromType<BrainBits>::find(to, isPlain);
  case Type::Kind::kFloat:
    return from.bits == 16   ? FromType<HalfBits>::find(to, isPlain)
           : from.bits == 32 ? FromType<Float32>::find(to, isPlain)
                             : FromType<Float64>::find(to, isPlain);
  case Type::Kind::kSigned:
    return from.bits == 8    ? FromType<Whole<int8_t>>::find(to, false)
           : from.bits == 16 ? FromType<Whole<int16_t>>::find(to, isPlain)
           : from.bits == 32 ? FromType<Whole<int32_t>>::find(to, isPlain)
                             : FromType<Whole<int64_t>>::find(to, isPlain);
  default:
    return from.bits == 8    ? FromType<Whole<uint8_t>>::find(to, false)
           : from.bits == 16 ? FromType<Whole<uint16_t>>::find(to, isPlain)
           : from.bits == 32 ? FromType<Whole<uint32_t>>::find(to, isPlain)
                             : FromType<Whole<uint64_t>>::find(to, isPlain);
  }
}

void decodePacked(Decoding &decoding, Type to, Type from, const FloatModifiers &modifiers) {
  if (from.width() != 32 || from.kind != Type::Kind::kFloat)
    decoding.fail("{} is made of two .f32", to.name());
  decoding.expectOperands(3, 3);
  decoding.write(0, to);
  decoding.read(1, from);
  decoding.read(2, from);
  const bool isPlain = modifiers.packed() == 0, isHalf = to.kind == Type::Kind::kFloat;
  decoding.instruction.execute =
      isPlain  ? isHalf ? singlesToPackedHalves<Float16> : singlesToPackedHalves<BFloat16>
      : isHalf ? convertPacked<HalfBits>
               : convertPacked<BrainBits>;
}

void decodeConversion(Decoding &decoding) {
  const bool roundsAway = decoding.take("rna"), isFinite = decoding.take("satfinite");
  const std::string_view toWhole = decoding.takeOneOf({"rni", "rzi", "rmi", "rpi"});
  FloatModifiers modifiers = takeFloatModifiers(decoding);
  if (!toWhole.empty())
    modifiers.rounding = toWhole == "rni"   ? Rounding::kNearest
                         : toWhole == "rzi" ? Rounding::kZero
                         : toWhole == "rmi" ? Rounding::kDown
                                            : Rounding::kUp;
  if (roundsAway)
    modifiers.rounding = Rounding::kNearestAway;
  const Type to = decoding.takeType(), from = decoding.takeType();
  decoding.instruction.detail = modifiers.packed() | (toWhole.empty() ? 0 : kRoundsToWhole);
  if (isFp8Pair(to) || isFp8Pair(from))
    return decodeFp8Conversion(decoding, to, from, isFinite, modifiers.rectifies);
  if (isFinite)
    decoding.fail("the emulator knows .satfinite of fp8 alone");
  if (to.count == 2)
    return decodePacked(decoding, to, from, modifiers);
  if (to.kind == Type::Kind::kPredicate || from.kind == Type::Kind::kPredicate || from.count == 2)
    decoding.fail("there is no conversion from {} to {}", from.name(), to.name());
  if (from.isFloat() && !to.isFloat() && toWhole.empty())
    decoding.fail("expected how to round to a whole number, such as .rzi");
  decoding.expectOperands(2, 2);
  decoding.writeWide(decoding.operand(0), to);
  decoding.readWide(decoding.operand(1), from);
  const bool isPlain =
      (decoding.instruction.detail == 0 || (from.isFloat() && !to.isFloat() && modifiers.packed() == 0)) &&
      decoding.instruction.writes[0].bits == to.width() && decoding.instruction.reads[0].bits == from.width();
  decoding.instruction.execute = convertingHandler(from, to, isPlain);
  if (isPlain && from == Type{Type::Kind::kFloat, 32} && to.bits == 16 && to.isFloat())
    decoding.instruction.execute =
        to.kind == Type::Kind::kFloat ? singlesToHalves<Float16> : singlesToHalves<BFloat16>;
}

} // namespace

void addConversionDecoders(Decoders &decoders) { decoders["cvt"] = decodeConversion; }

} // namespace trainc::emulator
