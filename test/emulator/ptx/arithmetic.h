// Opcodes shared by integer and float instructions.
#pragma once

namespace trainc::emulator {

class Decoding;

void decodeIntegerAdd(Decoding &);
void decodeIntegerSubtract(Decoding &);
void decodeIntegerMultiply(Decoding &);
void decodeIntegerMultiplyAdd(Decoding &);
void decodeIntegerMinimum(Decoding &);
void decodeIntegerMaximum(Decoding &);
void decodeIntegerDivide(Decoding &);
void decodeIntegerAbsolute(Decoding &);
void decodeIntegerNegate(Decoding &);

void decodeFloatAdd(Decoding &);
void decodeFloatSubtract(Decoding &);
void decodeFloatMultiply(Decoding &);
void decodeFloatMultiplyAdd(Decoding &);
void decodeFloatMinimum(Decoding &);
void decodeFloatMaximum(Decoding &);
void decodeFloatDivide(Decoding &);
void decodeFloatAbsolute(Decoding &);
void decodeFloatNegate(Decoding &);

} // namespace trainc::emulator
