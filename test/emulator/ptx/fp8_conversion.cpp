// cvt from and to pairs of fp8 numbers in a 16-bit register.
#include "test/emulator/ptx/fp8_conversion.h"

#include "base/float8.h"
#include "test/emulator/ptx/float_values.h"

namespace trainc::emulator {

namespace {

/// Rounds a number; with .relu, negative numbers become zero.
template <typename Format, bool Rectifies> uint32_t narrowed8(float value) {
  return Format::nearest(Rectifies && value < 0 ? 0.0F : value).bits;
}

/// The first operand goes into the upper byte.
template <typename Format, bool Rectifies> void fromSingles(const Instruction &instruction, Warp &warp) {
  const float *const high = warp.at<float>(instruction.reads[0]), *const low =
                                                                      warp.at<float>(instruction.reads[1]);
  forLanes<uint16_t>(warp, instruction.writes[0], [&](unsigned lane) {
    return static_cast<uint16_t>(narrowed8<Format, Rectifies>(high[lane]) << 8 |
                                 narrowed8<Format, Rectifies>(low[lane]));
  });
}

template <typename Format, bool Rectifies> void fromHalves(const Instruction &instruction, Warp &warp) {
  const uint32_t *const pairs = warp.at<uint32_t>(instruction.reads[0]);
  forLanes<uint16_t>(warp, instruction.writes[0], [&](unsigned lane) {
    const auto byte = [&](uint32_t half) {
      return narrowed8<Format, Rectifies>(static_cast<float>(Float16{static_cast<uint16_t>(half)}));
    };
    return static_cast<uint16_t>(byte(pairs[lane] >> 16) << 8 | byte(pairs[lane]));
  });
}

/// f16 represents every fp8 number.
template <typename Format, bool Rectifies> void toHalves(const Instruction &instruction, Warp &warp) {
  const uint16_t *const pairs = warp.at<uint16_t>(instruction.reads[0]);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    const auto half = [&](unsigned byte) {
      const auto value = static_cast<double>(Format{static_cast<uint8_t>(byte)});
      return uint32_t{halfBits<Float16>(Rectifies && value < 0 ? 0.0 : value)};
    };
    return half(pairs[lane] >> 8U) << 16 | half(pairs[lane]);
  });
}

template <typename Format, bool Rectifies> Handler handlerFor(bool narrows, bool ofSingles) {
  return !narrows    ? toHalves<Format, Rectifies>
         : ofSingles ? fromSingles<Format, Rectifies>
                     : fromHalves<Format, Rectifies>;
}

} // namespace

bool isFp8Pair(Type type) { return type.kind == Type::Kind::kE4M3 || type.kind == Type::Kind::kE5M2; }

void decodeFp8Conversion(Decoding &decoding, Type to, Type from, bool isFinite, bool rectifies) {
  const Type halves{Type::Kind::kFloat, 16, 2}, single{Type::Kind::kFloat, 32};
  const bool narrows = isFp8Pair(to), ofSingles = from == single;
  if (narrows ? from != halves && !ofSingles : to != halves)
    decoding.fail("there is no conversion from {} to {}", from.name(), to.name());
  if (narrows != isFinite)
    decoding.fail("expected .satfinite where numbers become fp8, and there alone");
  const size_t sources = ofSingles ? 2 : 1;
  decoding.expectOperands(1 + sources, 1 + sources);
  decoding.write(0, to);
  for (size_t i = 1; i <= sources; ++i)
    decoding.read(i, from);
  const bool isE4M3 = (narrows ? to : from).kind == Type::Kind::kE4M3;
  decoding.instruction.execute = isE4M3      ? rectifies ? handlerFor<Float8E4M3, true>(narrows, ofSingles)
                                                         : handlerFor<Float8E4M3, false>(narrows, ofSingles)
                                 : rectifies ? handlerFor<Float8E5M2, true>(narrows, ofSingles)
                                             : handlerFor<Float8E5M2, false>(narrows, ofSingles);
}

} // namespace trainc::emulator
