// Approximate instructions of GPUs: here the correctly rounded result of a double computation, which no GPU
// guarantees.
#include "test/emulator/ptx/float_values.h"

namespace trainc::emulator {

namespace {

struct PowerOfTwo {
  static double of(double a) { return std::exp2(a); }
};
struct BinaryLogarithm {
  static double of(double a) { return std::log2(a); }
};
struct Sine {
  static double of(double a) { return std::sin(a); }
};
struct Cosine {
  static double of(double a) { return std::cos(a); }
};
struct HyperbolicTangent {
  static double of(double a) { return std::tanh(a); }
};
struct ReciprocalRoot {
  static double of(double a) { return 1 / std::sqrt(a); }
};

template <typename F> void approximatedSingles(const Instruction &instruction, Warp &warp) {
  const float *const a = warp.at<float>(instruction.reads[0]);
  const bool flushes = FloatModifiers(instruction.detail).flushes;
  forLanes<float>(warp, instruction.writes[0], [&](unsigned lane) {
    const auto result = canonical(static_cast<float>(F::of(flushes ? flushed(a[lane]) : a[lane])));
    return flushes ? flushed(result) : result;
  });
}

template <typename F> void approximatedDoubles(const Instruction &instruction, Warp &warp) {
  const double *const a = warp.at<double>(instruction.reads[0]);
  forLanes<double>(warp, instruction.writes[0], [&](unsigned lane) { return F::of(a[lane]); });
}

template <typename F, typename Value, typename Register>
void approximatedHalves(const Instruction &instruction, Warp &warp) {
  const Register *const a = warp.at<Register>(instruction.reads[0]);
  forLanes<Register>(warp, instruction.writes[0], [&](unsigned lane) {
    Register result = 0;
    for (unsigned shift = 0; shift < sizeof(Register) * 8; shift += 16)
      result |= static_cast<Register>(
          Value::narrow(F::of(Value::widen(static_cast<uint16_t>(a[lane] >> shift)))) << shift);
    return result;
  });
}

template <typename F> void decodeApproximation(Decoding &decoding) {
  if (!decoding.take("approx"))
    decoding.fail("expected .approx");
  const FloatModifiers modifiers = takeFloatModifiers(decoding);
  const Type type = decoding.takeType();
  if (!type.isFloat() || modifiers.saturates || modifiers.rectifies)
    decoding.fail("expected a type of floats, and .ftz or nothing");
  decoding.expectOperands(2, 2);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.instruction.detail = modifiers.packed();
  const bool isPacked = type.count == 2;
  decoding.instruction.execute =
      type.bits == 64   ? approximatedDoubles<F>
      : type.bits == 32 ? approximatedSingles<F>
      : type.kind == Type::Kind::kFloat
          ? isPacked ? approximatedHalves<F, HalfFloat, uint32_t> : approximatedHalves<F, HalfFloat, uint16_t>
      : isPacked ? approximatedHalves<F, BrainFloat, uint32_t>
                 : approximatedHalves<F, BrainFloat, uint16_t>;
}

} // namespace

void addApproximationDecoders(Decoders &decoders) {
  decoders["ex2"] = decodeApproximation<PowerOfTwo>;
  decoders["lg2"] = decodeApproximation<BinaryLogarithm>;
  decoders["sin"] = decodeApproximation<Sine>;
  decoders["cos"] = decodeApproximation<Cosine>;
  decoders["tanh"] = decodeApproximation<HyperbolicTangent>;
  decoders["rsqrt"] = decodeApproximation<ReciprocalRoot>;
}

} // namespace trainc::emulator
