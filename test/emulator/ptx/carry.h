// Sums of several words, for the decoders of their parts.
#pragma once

namespace trainc::emulator {

class Decoding;

/// add, sub and mad with .cc, which leave a carry, and addc, subc and madc.
void decodeWithCarry(Decoding &decoding, bool takesCarry);

} // namespace trainc::emulator
