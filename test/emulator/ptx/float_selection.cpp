// Float instructions without rounding: min, max, abs, neg, copysign, testp.
#include "test/emulator/ptx/arithmetic.h"
#include "test/emulator/ptx/float_values.h"

namespace trainc::emulator {

namespace {

/// -0 is smaller than +0. Of a number and NaN the result is the number, unless `keepsNaN`.
template <typename T> T smaller(T a, T b, bool keepsNaN) {
  if (std::isnan(a) || std::isnan(b)) {
    if (keepsNaN || (std::isnan(a) && std::isnan(b)))
      return std::numeric_limits<T>::quiet_NaN();
    return std::isnan(a) ? b : a;
  }
  if (a == b)
    return std::signbit(a) ? a : b;
  return a < b ? a : b;
}

struct Smaller {
  template <typename T> static T of(T a, T b, bool keepsNaN) { return smaller(a, b, keepsNaN); }
};
struct Larger {
  template <typename T> static T of(T a, T b, bool keepsNaN) { return -smaller(-a, -b, keepsNaN); }
};

template <typename F> void chosenSingles(const Instruction &instruction, Warp &warp) {
  const float *const a = warp.at<float>(instruction.reads[0]), *const b =
                                                                   warp.at<float>(instruction.reads[1]);
  const FloatModifiers modifiers(instruction.detail);
  const auto in = [&](float value) { return modifiers.flushes ? flushed(value) : value; };
  forLanes<float>(warp, instruction.writes[0], [&](unsigned lane) {
    return canonical(F::of(in(a[lane]), in(b[lane]), modifiers.keepsNaN));
  });
}

template <typename F> void chosenDoubles(const Instruction &instruction, Warp &warp) {
  const double *const a = warp.at<double>(instruction.reads[0]), *const b =
                                                                     warp.at<double>(instruction.reads[1]);
  forLanes<double>(warp, instruction.writes[0],
                   [&](unsigned lane) { return F::of(a[lane], b[lane], false); });
}

/// Applies the selection to one or two halves of a register.
template <typename F, typename Value, typename Register>
void chosenHalves(const Instruction &instruction, Warp &warp) {
  const Register *const a = warp.at<Register>(instruction.reads[0]), *const b = warp.at<Register>(
                                                                         instruction.reads[1]);
  const FloatModifiers modifiers(instruction.detail);
  forLanes<Register>(warp, instruction.writes[0], [&](unsigned lane) {
    Register result = 0;
    for (unsigned shift = 0; shift < sizeof(Register) * 8; shift += 16) {
      const auto in = [&](Register bits) { return Value::widen(static_cast<uint16_t>(bits >> shift)); };
      result |=
          static_cast<Register>(Value::narrow(F::of(in(a[lane]), in(b[lane]), modifiers.keepsNaN)) << shift);
    }
    return result;
  });
}

template <typename F> void decodeChoice(Decoding &decoding) {
  FloatModifiers modifiers = takeFloatModifiers(decoding);
  modifiers.keepsNaN = decoding.take("NaN");
  const Type type = decoding.takeType();
  if (modifiers.saturates || modifiers.rectifies || (type.bits == 16 && modifiers.flushes))
    decoding.fail("the emulator knows .ftz with .f32 and .NaN alone");
  decoding.expectOperands(3, 3);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, type);
  decoding.instruction.detail = modifiers.packed();
  const bool isPacked = type.count == 2;
  decoding.instruction.execute =
      type.bits == 64   ? chosenDoubles<F>
      : type.bits == 32 ? chosenSingles<F>
      : type.kind == Type::Kind::kFloat
          ? isPacked ? chosenHalves<F, HalfFloat, uint32_t> : chosenHalves<F, HalfFloat, uint16_t>
      : isPacked ? chosenHalves<F, BrainFloat, uint32_t>
                 : chosenHalves<F, BrainFloat, uint16_t>;
}

/// `detail`: the sign bits, changed by F.
struct Clear {
  template <typename T> static T of(T value, T signs) { return static_cast<T>(value & ~signs); }
};
struct Flip {
  template <typename T> static T of(T value, T signs) { return static_cast<T>(value ^ signs); }
};

template <typename F, typename T> void onSigns(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  const T signs = static_cast<T>(instruction.detail);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return F::of(a[lane], signs); });
}

template <typename F> void onFlushedSigns(const Instruction &instruction, Warp &warp) {
  const float *const a = warp.at<float>(instruction.reads[0]);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    return F::of(std::bit_cast<uint32_t>(flushed(a[lane])), 0x80000000U);
  });
}

template <typename F> void decodeSigns(Decoding &decoding) {
  const bool flushes = decoding.take("ftz");
  const Type type = decoding.takeType();
  if (flushes && type.width() != 32)
    decoding.fail("the emulator knows .ftz with .f32 alone");
  decoding.expectOperands(2, 2);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.instruction.detail = type.count == 2 ? 0x80008000U : uint64_t{1} << (type.bits - 1);
  decoding.instruction.execute = flushes && type.count == 1 ? onFlushedSigns<F>
                                 : type.width() == 16       ? onSigns<F, uint16_t>
                                 : type.width() == 32       ? onSigns<F, uint32_t>
                                                            : onSigns<F, uint64_t>;
}

/// b with the sign of a.
template <typename T> void copySign(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return std::copysign(b[lane], a[lane]); });
}

void decodeCopySign(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.expectOperands(3, 3);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, type);
  decoding.instruction.execute = type.bits == 32 ? copySign<float> : copySign<double>;
}

/// `detail`: a bit set of the classes of <cmath>.
template <typename T> void testClass(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  const uint64_t classes = instruction.detail;
  setPredicate(warp, instruction.writes[0],
               lanesWhere([&](unsigned lane) { return (classes >> std::fpclassify(a[lane]) & 1) != 0; }));
}

void decodeTestClass(Decoding &decoding) {
  const auto bit = [](int number) { return uint64_t{1} << number; };
  const uint64_t finite = bit(FP_ZERO) | bit(FP_SUBNORMAL) | bit(FP_NORMAL);
  const std::string_view name =
      decoding.takeOneOf({"finite", "infinite", "number", "notanumber", "normal", "subnormal"});
  decoding.instruction.detail = name == "finite"       ? finite
                                : name == "infinite"   ? bit(FP_INFINITE)
                                : name == "number"     ? finite | bit(FP_INFINITE)
                                : name == "notanumber" ? bit(FP_NAN)
                                : name == "normal"     ? bit(FP_NORMAL)
                                                       : bit(FP_SUBNORMAL);
  if (name.empty())
    decoding.fail("expected a class of numbers, such as .finite");
  const Type type = decoding.takeType();
  decoding.expectOperands(2, 2);
  decoding.write(0, {Type::Kind::kPredicate, 1});
  decoding.read(1, type);
  decoding.instruction.execute = type.bits == 32 ? testClass<float> : testClass<double>;
}

} // namespace

void decodeFloatMinimum(Decoding &decoding) { decodeChoice<Smaller>(decoding); }
void decodeFloatMaximum(Decoding &decoding) { decodeChoice<Larger>(decoding); }
void decodeFloatAbsolute(Decoding &decoding) { decodeSigns<Clear>(decoding); }
void decodeFloatNegate(Decoding &decoding) { decodeSigns<Flip>(decoding); }

void addFloatSelectionDecoders(Decoders &decoders) {
  decoders["copysign"] = decodeCopySign;
  decoders["testp"] = decodeTestClass;
}

} // namespace trainc::emulator
