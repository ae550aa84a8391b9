// Decoders of multi-word arithmetic.
#pragma once

namespace trainc::emulator {

class Decoding;

/// Decodes add, sub and mad with .cc, which produce a carry, and addc, subc and madc.
void decodeWithCarry(Decoding &decoding, bool takesCarry);

} // namespace trainc::emulator
