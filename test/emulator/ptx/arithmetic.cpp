// add.u32 and add.f32 are two instructions: the type tells which.
#include "test/emulator/ptx/arithmetic.h"

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

} // namespace

void addArithmeticDecoders(Decoders &decoders) {
  decoders["add"] = byType<decodeIntegerAdd, decodeFloatAdd>;
  decoders["sub"] = byType<decodeIntegerSubtract, decodeFloatSubtract>;
  decoders["mul"] = byType<decodeIntegerMultiply, decodeFloatMultiply>;
  decoders["mad"] = byType<decodeIntegerMultiplyAdd, decodeFloatMultiplyAdd>;
  decoders["min"] = byType<decodeIntegerMinimum, decodeFloatMinimum>;
  decoders["max"] = byType<decodeIntegerMaximum, decodeFloatMaximum>;
  decoders["div"] = byType<decodeIntegerDivide, decodeFloatDivide>;
  decoders["abs"] = byType<decodeIntegerAbsolute, decodeFloatAbsolute>;
  decoders["neg"] = byType<decodeIntegerNegate, decodeFloatNegate>;
}

} // namespace trainc::emulator
