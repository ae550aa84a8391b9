// add.u32 and add.f32 are different instructions, distinguished by type.
#include "test/emulator/ptx/arithmetic.h"

#include "test/emulator/ptx/carry.h"
#include "test/emulator/ptx/decoding.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

template <Decoder Integer, Decoder Float> void byType(Decoding &decoding) {
  const auto &modifiers = decoding.statement().modifiers;
  const bool isFloat = std::ranges::any_of(modifiers, [](std::string_view modifier) {
    const std::optional<Type> type = typeOf(modifier);
    return type && type->isFloat();
  });
  (isFloat ? Float : Integer)(decoding);
}

/// Integer operations may produce a carry.
template <Decoder Integer, Decoder Float> void byTypeAndCarry(Decoding &decoding) {
  if (std::ranges::find(decoding.statement().modifiers, "cc") != decoding.statement().modifiers.end())
    decodeWithCarry(decoding, /*takesCarry=*/false);
  else
    byType<Integer, Float>(decoding);
}

} // namespace

void addArithmeticDecoders(Decoders &decoders) {
  decoders["add"] = byTypeAndCarry<decodeIntegerAdd, decodeFloatAdd>;
  decoders["sub"] = byTypeAndCarry<decodeIntegerSubtract, decodeFloatSubtract>;
  decoders["mul"] = byType<decodeIntegerMultiply, decodeFloatMultiply>;
  decoders["mad"] = byTypeAndCarry<decodeIntegerMultiplyAdd, decodeFloatMultiplyAdd>;
  decoders["min"] = byType<decodeIntegerMinimum, decodeFloatMinimum>;
  decoders["max"] = byType<decodeIntegerMaximum, decodeFloatMaximum>;
  decoders["div"] = byType<decodeIntegerDivide, decodeFloatDivide>;
  decoders["abs"] = byType<decodeIntegerAbsolute, decodeFloatAbsolute>;
  decoders["neg"] = byType<decodeIntegerNegate, decodeFloatNegate>;
}

} // namespace trainc::emulator
