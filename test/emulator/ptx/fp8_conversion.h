// cvt from and to pairs of fp8 numbers.
#pragma once

#include "test/emulator/ptx/decoding.h"

namespace trainc::emulator {

/// Whether the type is .e4m3x2 or .e5m2x2.
bool isFp8Pair(Type type);

/// Decodes the operands of a cvt with such a type; its modifiers were taken.
void decodeFp8Conversion(Decoding &decoding, Type to, Type from, bool isFinite, bool rectifies);

} // namespace trainc::emulator
