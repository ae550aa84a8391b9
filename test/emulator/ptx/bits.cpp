// Logic, shifts and bit fields.
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"
#include "test/emulator/ptx/operations.h"

#include <algorithm>
#include <bit>

namespace trainc::emulator {

namespace {

struct Not {
  template <typename T> static T of(T a) { return static_cast<T>(~a); }
};
struct LogicalNot {
  template <typename T> static T of(T a) { return a == 0; }
};

template <typename F> void predicateLogic(const Instruction &instruction, Warp &warp) {
  const uint32_t a = *warp.at<uint32_t>(instruction.reads[0]), b = *warp.at<uint32_t>(instruction.reads[1]);
  setPredicate(warp, instruction.writes[0], F::of(a, b));
}

void predicateNot(const Instruction &instruction, Warp &warp) {
  setPredicate(warp, instruction.writes[0], ~*warp.at<uint32_t>(instruction.reads[0]));
}

template <typename F> Handler unsignedBinary(unsigned bits) {
  return bits == 16 ? binary<F, uint16_t> : bits == 32 ? binary<F, uint32_t> : binary<F, uint64_t>;
}

Type bitsType(Decoding &decoding, unsigned minimum) {
  const Type type = decoding.takeType();
  if (type.width() < minimum && type.kind != Type::Kind::kPredicate)
    decoding.fail("expected a type of {} bits or more, found {}", minimum, type.name());
  return type;
}

template <typename F> void decodeLogic(Decoding &decoding) {
  const Type type = bitsType(decoding, 16);
  decoding.expectOperands(3, 3);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, type);
  decoding.instruction.execute = type.bits == 1 ? predicateLogic<F> : unsignedBinary<F>(type.bits);
}

template <typename F> void decodeNot(Decoding &decoding) {
  const Type type = bitsType(decoding, 16);
  decoding.expectOperands(2, 2);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.instruction.execute = type.bits == 1    ? predicateNot
                                 : type.bits == 16 ? unary<F, uint16_t>
                                 : type.bits == 32 ? unary<F, uint32_t>
                                                   : unary<F, uint64_t>;
}

/// Shifts by the width or more give zero, or the sign.
template <typename T, bool IsLeft> void shift(const Instruction &instruction, Warp &warp) {
  constexpr uint32_t width = sizeof(T) * 8;
  const T *const a = warp.at<T>(instruction.reads[0]);
  const uint32_t *const by = warp.at<uint32_t>(instruction.reads[1]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) {
    const uint32_t amount = std::min(by[lane], width - 1);
    const T shifted =
        static_cast<T>(IsLeft ? static_cast<T>(a[lane] << amount) : static_cast<T>(a[lane] >> amount));
    return by[lane] < width || std::is_signed_v<T> ? shifted : T{0};
  });
}

template <bool IsLeft> void decodeShift(Decoding &decoding) {
  const Type type = bitsType(decoding, 16);
  decoding.expectOperands(3, 3);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, {Type::Kind::kUnsigned, 32});
  if (!IsLeft && type.isSigned())
    decoding.instruction.execute = type.bits == 16   ? shift<int16_t, false>
                                   : type.bits == 32 ? shift<int32_t, false>
                                                     : shift<int64_t, false>;
  else
    decoding.instruction.execute = type.bits == 16   ? shift<uint16_t, IsLeft>
                                   : type.bits == 32 ? shift<uint32_t, IsLeft>
                                                     : shift<uint64_t, IsLeft>;
}

/// Extracts 32 bits of 64: `detail` 1 wraps the amount, 0 clamps it to 32.
template <bool IsLeft> void funnelShift(const Instruction &instruction, Warp &warp) {
  const uint32_t *const low = warp.at<uint32_t>(instruction.reads[0]);
  const uint32_t *const high = warp.at<uint32_t>(instruction.reads[1]);
  const uint32_t *const by = warp.at<uint32_t>(instruction.reads[2]);
  const bool wraps = instruction.detail != 0;
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    const uint32_t amount = wraps ? by[lane] & 31 : std::min(by[lane], 32U);
    const uint64_t both = uint64_t{high[lane]} << 32 | low[lane];
    return static_cast<uint32_t>(IsLeft ? both << amount >> 32 : both >> amount);
  });
}

void decodeFunnelShift(Decoding &decoding) {
  const bool isLeft = decoding.take("l");
  if (!isLeft && !decoding.take("r"))
    decoding.fail("expected .l or .r");
  decoding.instruction.detail = decoding.take("wrap");
  if (decoding.instruction.detail == 0 && !decoding.take("clamp"))
    decoding.fail("expected .wrap or .clamp");
  const Type type = decoding.takeType();
  decoding.expectOperands(4, 4);
  decoding.write(0, {type.kind, 32});
  for (size_t index = 1; index < 4; ++index)
    decoding.read(index, {type.kind, 32});
  decoding.instruction.execute = isLeft ? funnelShift<true> : funnelShift<false>;
}

template <typename T> T maskOfLow(uint32_t count) {
  return count >= sizeof(T) * 8 ? static_cast<T>(~T{0}) : static_cast<T>((T{1} << count) - 1);
}

/// Extracts a bit field, extended by zeros or by its highest bit.
template <typename T, bool IsSigned> void extractField(const Instruction &instruction, Warp &warp) {
  constexpr uint32_t width = sizeof(T) * 8;
  const T *const a = warp.at<T>(instruction.reads[0]);
  const uint32_t *const position = warp.at<uint32_t>(instruction.reads[1]);
  const uint32_t *const length = warp.at<uint32_t>(instruction.reads[2]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) -> T {
    const uint32_t from = position[lane] & 255, count = length[lane] & 255;
    const T field = (from < width ? a[lane] >> from : T{0}) & maskOfLow<T>(count);
    if (!IsSigned || count == 0)
      return field;
    const bool isNegative = a[lane] >> std::min(from + count - 1, width - 1) & 1;
    const T above = static_cast<T>(~maskOfLow<T>(std::min(count, from < width ? width - from : 0)));
    return isNegative ? (field & static_cast<T>(~above)) | above : field;
  });
}

void decodeExtractField(Decoding &decoding) {
  const Type type = bitsType(decoding, 32);
  decoding.expectOperands(4, 4);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, {Type::Kind::kUnsigned, 32});
  decoding.read(3, {Type::Kind::kUnsigned, 32});
  decoding.instruction.execute =
      type.bits == 32   ? type.isSigned() ? extractField<uint32_t, true> : extractField<uint32_t, false>
      : type.isSigned() ? extractField<uint64_t, true>
                        : extractField<uint64_t, false>;
}

template <typename T> void insertField(const Instruction &instruction, Warp &warp) {
  constexpr uint32_t width = sizeof(T) * 8;
  const T *const field = warp.at<T>(instruction.reads[0]), *const into = warp.at<T>(instruction.reads[1]);
  const uint32_t *const position = warp.at<uint32_t>(instruction.reads[2]);
  const uint32_t *const length = warp.at<uint32_t>(instruction.reads[3]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) -> T {
    const uint32_t from = position[lane] & 255, count = length[lane] & 255;
    if (from >= width)
      return into[lane];
    const T mask = static_cast<T>(maskOfLow<T>(count) << from);
    return (into[lane] & static_cast<T>(~mask)) | (static_cast<T>(field[lane] << from) & mask);
  });
}

void decodeInsertField(Decoding &decoding) {
  const Type type = bitsType(decoding, 32);
  decoding.expectOperands(5, 5);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.read(2, type);
  decoding.read(3, {Type::Kind::kUnsigned, 32});
  decoding.read(4, {Type::Kind::kUnsigned, 32});
  decoding.instruction.execute = type.bits == 32 ? insertField<uint32_t> : insertField<uint64_t>;
}

struct Population {
  template <typename T> static uint32_t of(T a) { return static_cast<uint32_t>(std::popcount(a)); }
};
struct LeadingZeros {
  template <typename T> static uint32_t of(T a) { return static_cast<uint32_t>(std::countl_zero(a)); }
};

template <typename F, typename T> void countBits(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) { return F::of(a[lane]); });
}

template <typename F> void decodeCount(Decoding &decoding) {
  const Type type = bitsType(decoding, 32);
  decoding.expectOperands(2, 2);
  decoding.write(0, {Type::Kind::kUnsigned, 32});
  decoding.read(1, type);
  decoding.instruction.execute = type.bits == 32 ? countBits<F, uint32_t> : countBits<F, uint64_t>;
}

/// Position of the highest bit that differs from the sign; all ones if none does. With `detail`, the shift
/// amount that would bring it to the top.
template <typename T, bool IsSigned> void findLeading(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  const bool isShift = instruction.detail != 0;
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) -> uint32_t {
    const bool isNegative = IsSigned && (a[lane] >> (sizeof(T) * 8 - 1) & 1) != 0;
    const T value = isNegative ? static_cast<T>(~a[lane]) : a[lane];
    if (value == 0)
      return ~0U;
    const auto zeros = static_cast<uint32_t>(std::countl_zero(value));
    return isShift ? zeros : static_cast<uint32_t>(sizeof(T) * 8 - 1) - zeros;
  });
}

void decodeFindLeading(Decoding &decoding) {
  decoding.instruction.detail = decoding.take("shiftamt");
  const Type type = bitsType(decoding, 32);
  decoding.expectOperands(2, 2);
  decoding.write(0, {Type::Kind::kUnsigned, 32});
  decoding.read(1, type);
  decoding.instruction.execute =
      type.bits == 32   ? type.isSigned() ? findLeading<uint32_t, true> : findLeading<uint32_t, false>
      : type.isSigned() ? findLeading<uint64_t, true>
                        : findLeading<uint64_t, false>;
}

struct Reversed {
  template <typename T> static T of(T a) {
    T reversed = 0;
    for (unsigned bit = 0; bit < sizeof(T) * 8; ++bit)
      reversed = static_cast<T>(reversed << 1 | (a >> bit & 1));
    return reversed;
  }
};

void decodeReverse(Decoding &decoding) {
  const Type type = bitsType(decoding, 32);
  decoding.expectOperands(2, 2);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.instruction.execute = type.bits == 32 ? unary<Reversed, uint32_t> : unary<Reversed, uint64_t>;
}

/// Each bit of the result is the bit of the table at the index formed by the three input bits.
void lookUp(const Instruction &instruction, Warp &warp) {
  const uint32_t *const a = warp.at<uint32_t>(instruction.reads[0]), *const b = warp.at<uint32_t>(
                                                                         instruction.reads[1]);
  const uint32_t *const c = warp.at<uint32_t>(instruction.reads[2]);
  const uint64_t table = instruction.detail;
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    uint32_t result = 0;
    for (unsigned entry = 0; entry < 8; ++entry) {
      const uint32_t isEntry = (entry & 4 ? a[lane] : ~a[lane]) & (entry & 2 ? b[lane] : ~b[lane]) &
                               (entry & 1 ? c[lane] : ~c[lane]);
      result |= (table >> entry & 1) != 0 ? isEntry : 0;
    }
    return result;
  });
}

void decodeLookUp(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.expectOperands(5, 5);
  decoding.write(0, {type.kind, 32});
  for (size_t index = 1; index < 4; ++index)
    decoding.read(index, {type.kind, 32});
  decoding.instruction.detail = decoding.number(4);
  decoding.instruction.execute = lookUp;
}

} // namespace

void addBitDecoders(Decoders &decoders) {
  decoders["and"] = decodeLogic<And>;
  decoders["or"] = decodeLogic<Or>;
  decoders["xor"] = decodeLogic<Xor>;
  decoders["not"] = decodeNot<Not>;
  decoders["cnot"] = decodeNot<LogicalNot>;
  decoders["shl"] = decodeShift<true>;
  decoders["shr"] = decodeShift<false>;
  decoders["shf"] = decodeFunnelShift;
  decoders["bfe"] = decodeExtractField;
  decoders["bfi"] = decodeInsertField;
  decoders["popc"] = decodeCount<Population>;
  decoders["clz"] = decodeCount<LeadingZeros>;
  decoders["bfind"] = decodeFindLeading;
  decoders["brev"] = decodeReverse;
  decoders["lop3"] = decodeLookUp;
}

} // namespace trainc::emulator
