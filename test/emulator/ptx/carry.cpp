// Multi-word arithmetic: add, sub and mad that produce a carry (.cc), and addc, subc and madc that consume
// one.
#include "test/emulator/ptx/carry.h"

#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"

namespace trainc::emulator {

namespace {

enum class CarriedProduct : uint8_t { kNone, kLow, kHigh, kSignedHigh };
// `detail`: the product, and these flags.
constexpr uint64_t kProduct = 3, kSubtracts = 4, kTakesCarry = 8, kLeavesCarry = 16;

template <typename T> T productOf(CarriedProduct product, T a, T b) {
  using Wide = unsigned __int128;
  constexpr unsigned width = sizeof(T) * 8;
  if (product == CarriedProduct::kSignedHigh) {
    using Signed = std::make_signed_t<T>;
    return static_cast<T>(static_cast<__int128>(static_cast<Signed>(a)) * static_cast<Signed>(b) >> width);
  }
  const Wide whole = Wide{a} * b;
  return static_cast<T>(product == CarriedProduct::kLow ? whole : whole >> width);
}

/// reads: a, b, c for a product, and the carry if consumed. writes: the result, and the carry if produced.
template <typename T> void addWithCarry(const Instruction &instruction, Warp &warp) {
  using Wide = unsigned __int128;
  const auto product = static_cast<CarriedProduct>(instruction.detail & kProduct);
  const T *const a = warp.at<T>(instruction.reads[0]), *const b = warp.at<T>(instruction.reads[1]);
  const T *const c = warp.at<T>(instruction.reads[product != CarriedProduct::kNone ? 2 : 0]);
  const bool subtracts = (instruction.detail & kSubtracts) != 0;
  const uint32_t carries =
      (instruction.detail & kTakesCarry) != 0 ? *warp.at<uint32_t>(instruction.reads.back()) : 0;
  uint32_t carriesOut = 0;
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) {
    const Wide carry = carries >> lane & 1;
    const Wide left = product == CarriedProduct::kNone ? a[lane] : productOf(product, a[lane], b[lane]);
    const Wide right = product == CarriedProduct::kNone ? b[lane] : c[lane];
    const Wide result = subtracts ? left - right - carry : left + right + carry;
    carriesOut |= static_cast<uint32_t>(result >> sizeof(T) * 8 & 1) << lane;
    return static_cast<T>(result);
  });
  if ((instruction.detail & kLeavesCarry) != 0)
    setPredicate(warp, instruction.writes[1], carriesOut);
}

} // namespace

void decodeWithCarry(Decoding &decoding, bool takesCarry) {
  const std::string &opcode = decoding.statement().opcode;
  const bool isProduct = opcode.starts_with("mad");
  const bool leavesCarry = decoding.take("cc");
  const bool isHigh = isProduct && decoding.take("hi");
  if (isProduct && !isHigh && !decoding.take("lo"))
    decoding.fail("expected .lo or .hi");
  const Type type = decoding.takeType();
  if (!type.isInteger() || type.bits < 32)
    decoding.fail("expected a type of whole numbers of 32 or 64 bits, found {}", type.name());
  const size_t sources = isProduct ? 3 : 2;
  decoding.expectOperands(sources + 1, sources + 1);
  decoding.write(0, type);
  for (size_t index = 1; index <= sources; ++index)
    decoding.read(index, type);
  if (takesCarry)
    decoding.instruction.reads.push_back(decoding.resolver().carry());
  if (leavesCarry)
    decoding.instruction.writes.push_back(decoding.resolver().carry());
  const CarriedProduct product = !isProduct        ? CarriedProduct::kNone
                                 : !isHigh         ? CarriedProduct::kLow
                                 : type.isSigned() ? CarriedProduct::kSignedHigh
                                                   : CarriedProduct::kHigh;
  decoding.instruction.detail = static_cast<uint64_t>(product) |
                                (opcode.starts_with("sub") ? kSubtracts : 0) |
                                (takesCarry ? kTakesCarry : 0) | (leavesCarry ? kLeavesCarry : 0);
  decoding.instruction.execute = type.bits == 32 ? addWithCarry<uint32_t> : addWithCarry<uint64_t>;
}

void addCarryDecoders(Decoders &decoders) {
  for (const char *const opcode : {"addc", "subc", "madc"})
    decoders[opcode] = [](Decoding &decoding) { decodeWithCarry(decoding, /*takesCarry=*/true); };
}

} // namespace trainc::emulator
