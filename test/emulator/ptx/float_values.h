// Float types of registers, and rounding of results to them, as parameters of decoders.
#pragma once

#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"
#include "test/emulator/ptx/rounding.h"

namespace trainc::emulator {

/// A float type of registers: conversion of a register to `Number`, and back.
struct Single {
  using Register = float;
  using Number = float;
};
struct Double {
  using Register = double;
  using Number = double;
};
template <typename Format> struct Half {
  using Register = uint16_t;
  using Number = double;
  static double widen(uint16_t bits) { return static_cast<double>(Format{bits}); }
  static uint16_t narrow(double value) { return halfBits<Format>(value); }
};
using HalfFloat = Half<Float16>;
using BrainFloat = Half<BFloat16>;

/// Modifiers of a float instruction.
struct FloatModifiers {
  Rounding rounding = Rounding::kNearest;
  bool flushes = false, saturates = false, rectifies = false, keepsNaN = false;
  uint64_t packed() const {
    return static_cast<uint64_t>(rounding) | uint64_t{flushes} << 8 | uint64_t{saturates} << 9 |
           uint64_t{rectifies} << 10 | uint64_t{keepsNaN} << 11;
  }
  explicit FloatModifiers(uint64_t packed)
      : rounding(static_cast<Rounding>(packed & 255)), flushes((packed >> 8 & 1) != 0),
        saturates((packed >> 9 & 1) != 0), rectifies((packed >> 10 & 1) != 0),
        keepsNaN((packed >> 11 & 1) != 0) {}
  constexpr FloatModifiers() = default;
};

/// Takes the rounding mode, .ftz, .sat and .relu.
inline FloatModifiers takeFloatModifiers(Decoding &decoding) {
  FloatModifiers modifiers;
  const std::string_view rounding = decoding.takeOneOf({"rn", "rz", "rm", "rp"});
  modifiers.rounding = rounding == "rz"   ? Rounding::kZero
                       : rounding == "rm" ? Rounding::kDown
                       : rounding == "rp" ? Rounding::kUp
                                          : Rounding::kNearest;
  modifiers.flushes = decoding.take("ftz");
  modifiers.saturates = decoding.take("sat");
  modifiers.rectifies = decoding.take("relu");
  return modifiers;
}

} // namespace trainc::emulator
