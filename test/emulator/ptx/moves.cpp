// mov, packing and unpacking, byte permutation, and address space conversion.
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"

#include <algorithm>
#include <array>

namespace trainc::emulator {

namespace {

template <typename T> void move(const Instruction &instruction, Warp &warp) {
  const T *const a = warp.at<T>(instruction.reads[0]);
  forLanes<T>(warp, instruction.writes[0], [&](unsigned lane) { return a[lane]; });
}

void movePredicate(const Instruction &instruction, Warp &warp) {
  setPredicate(warp, instruction.writes[0], *warp.at<uint32_t>(instruction.reads[0]));
}

/// The first element goes into the lowest bits.
template <typename Part, typename Whole> void pack(const Instruction &instruction, Warp &warp) {
  constexpr size_t parts = sizeof(Whole) / sizeof(Part);
  const Part *from[parts];
  for (size_t part = 0; part < parts; ++part)
    from[part] = warp.at<Part>(instruction.reads[part]);
  forLanes<Whole>(warp, instruction.writes[0], [&](unsigned lane) {
    Whole whole = 0;
    for (size_t part = 0; part < parts; ++part)
      whole |= static_cast<Whole>(Whole{from[part][lane]} << part * sizeof(Part) * 8);
    return whole;
  });
}

template <typename Part, typename Whole> void unpack(const Instruction &instruction, Warp &warp) {
  // Source and destination may be the same register.
  std::array<Whole, kLanes> from;
  std::memcpy(from.data(), warp.at<Whole>(instruction.reads[0]), sizeof from);
  for (size_t part = 0; part < instruction.writes.size(); ++part)
    forLanes<Part>(warp, instruction.writes[part],
                   [&](unsigned lane) { return static_cast<Part>(from[lane] >> part * sizeof(Part) * 8); });
}

Type partOf(Decoding &decoding, Type whole, size_t parts) {
  const Type part = {Type::Kind::kBits, static_cast<uint8_t>(whole.width() / std::max<size_t>(parts, 1))};
  if (part.bits * parts != whole.width() || part.bits < 16)
    decoding.fail("{} has no {} parts", whole.name(), parts);
  return part;
}

void decodeMove(Decoding &decoding) {
  const Type type = decoding.takeType();
  decoding.expectOperands(2, 2);
  const Operand &to = decoding.operand(0), &from = decoding.operand(1);
  decoding.instruction.copies = true;
  if (from.kind == Operand::Kind::kVector) {
    const Type part = partOf(decoding, type, from.elements.size());
    decoding.write(0, type);
    for (const Operand &element : from.elements)
      decoding.readOperand(element, part);
    decoding.instruction.execute = part.bits == 32   ? pack<uint32_t, uint64_t>
                                   : type.bits == 32 ? pack<uint16_t, uint32_t>
                                                     : pack<uint16_t, uint64_t>;
  } else if (to.kind == Operand::Kind::kVector) {
    const Type part = partOf(decoding, type, to.elements.size());
    decoding.read(1, type);
    for (const Operand &element : to.elements)
      decoding.writeOperand(element, part);
    decoding.instruction.execute = part.bits == 32   ? unpack<uint32_t, uint64_t>
                                   : type.bits == 32 ? unpack<uint16_t, uint32_t>
                                                     : unpack<uint16_t, uint64_t>;
  } else {
    decoding.write(0, type);
    decoding.read(1, type);
    decoding.instruction.execute = type.kind == Type::Kind::kPredicate ? movePredicate
                                   : type.width() == 16                ? move<uint16_t>
                                   : type.width() == 32                ? move<uint32_t>
                                                                       : move<uint64_t>;
  }
}

enum class Permutation : uint8_t {
  kByNibbles,
  kForward,
  kBackward,
  kReplicate8,
  kExtendLeft,
  kExtendRight,
  kReplicate16
};

/// Nibbles that select the bytes for a permutation mode.
uint32_t selectors(Permutation mode, uint32_t control) {
  const uint32_t n = control & 3;
  switch (mode) {
  case Permutation::kByNibbles:
    return control;
  case Permutation::kForward:
    return (n | (n + 1) << 4 | (n + 2) << 8 | (n + 3) << 12) & 0x7777;
  case Permutation::kBackward:
    return n | ((n + 7) & 7) << 4 | ((n + 6) & 7) << 8 | ((n + 5) & 7) << 12;
  case Permutation::kReplicate8:
    return n * 0x1111;
  case Permutation::kExtendLeft:
    return n | std::max(n, 1U) << 4 | std::max(n, 2U) << 8 | 3 << 12;
  case Permutation::kExtendRight:
    return 0 | std::min(n, 1U) << 4 | std::min(n, 2U) << 8 | n << 12;
  case Permutation::kReplicate16:
    return (n & 1) != 0 ? 0x3232 : 0x1010;
  }
  return 0;
}

uint32_t permuted(uint64_t bytes, uint32_t select) {
  uint32_t result = 0;
  for (unsigned byte = 0; byte < 4; ++byte) {
    const uint32_t nibble = select >> byte * 4 & 15;
    const auto chosen = static_cast<uint8_t>(bytes >> (nibble & 7) * 8);
    const uint8_t signs = (chosen & 0x80) != 0 ? 0xff : 0;
    result |= uint32_t{(nibble & 8) != 0 ? signs : chosen} << byte * 8;
  }
  return result;
}

void permute(const Instruction &instruction, Warp &warp) {
  const uint32_t *const low = warp.at<uint32_t>(instruction.reads[0]), *const high = warp.at<uint32_t>(
                                                                           instruction.reads[1]);
  const uint32_t *const control = warp.at<uint32_t>(instruction.reads[2]);
  const auto mode = static_cast<Permutation>(instruction.detail);
  forLanes<uint32_t>(warp, instruction.writes[0], [&](unsigned lane) {
    return permuted(uint64_t{high[lane]} << 32 | low[lane], selectors(mode, control[lane]));
  });
}

void decodePermute(Decoding &decoding) {
  const Type type = decoding.takeType();
  const std::string_view mode = decoding.takeOneOf({"f4e", "b4e", "rc8", "ecl", "ecr", "rc16"});
  const auto chosen = mode == "f4e"    ? Permutation::kForward
                      : mode == "b4e"  ? Permutation::kBackward
                      : mode == "rc8"  ? Permutation::kReplicate8
                      : mode == "ecl"  ? Permutation::kExtendLeft
                      : mode == "ecr"  ? Permutation::kExtendRight
                      : mode == "rc16" ? Permutation::kReplicate16
                                       : Permutation::kByNibbles;
  decoding.instruction.detail = static_cast<uint64_t>(chosen);
  decoding.expectOperands(4, 4);
  decoding.write(0, {type.kind, 32});
  for (size_t index = 1; index < 4; ++index)
    decoding.read(index, {type.kind, 32});
  decoding.instruction.execute = permute;
}

/// Adds `detail` to an address.
void addToAddress(const Instruction &instruction, Warp &warp) {
  const uint64_t *const a = warp.at<uint64_t>(instruction.reads[0]);
  const uint64_t added = instruction.detail;
  forLanes<uint64_t>(warp, instruction.writes[0], [&](unsigned lane) { return a[lane] + added; });
}

/// Generic address window of a space; 0 for global memory.
std::optional<uint64_t> takeWindow(Decoding &decoding) {
  if (decoding.take("global") || decoding.take("const") || decoding.take("param"))
    return 0;
  if (decoding.take("shared") || decoding.take("shared::cta"))
    return kSharedWindow;
  if (decoding.take("local"))
    return kLocalWindow;
  return std::nullopt;
}

void decodeConvertAddress(Decoding &decoding) {
  const bool fromGeneric = decoding.take("to");
  const std::optional<uint64_t> window = takeWindow(decoding);
  const Type type = decoding.takeType();
  if (!window || type.bits != 64)
    decoding.fail("expected a space, such as .shared, and .u64");
  decoding.expectOperands(2, 2);
  decoding.write(0, type);
  decoding.read(1, type);
  decoding.instruction.detail = fromGeneric ? 0 - window.value_or(0) : window.value_or(0);
  decoding.instruction.execute = addToAddress;
}

/// `detail` is the window; 0: global memory, outside of all windows.
void isInSpace(const Instruction &instruction, Warp &warp) {
  const uint64_t *const a = warp.at<uint64_t>(instruction.reads[0]);
  const uint64_t window = instruction.detail;
  setPredicate(warp, instruction.writes[0], lanesWhere([&](unsigned lane) {
                 if (window == 0)
                   return a[lane] < kSharedWindow || a[lane] >= kModuleWindow;
                 return a[lane] >= window && a[lane] < window + kWindowSize;
               }));
}

void decodeIsInSpace(Decoding &decoding) {
  const std::optional<uint64_t> window = takeWindow(decoding);
  if (!window)
    decoding.fail("expected a space, such as .shared");
  decoding.expectOperands(2, 2);
  decoding.write(0, {Type::Kind::kPredicate, 1});
  decoding.read(1, {Type::Kind::kUnsigned, 64});
  decoding.instruction.detail = window.value_or(0);
  decoding.instruction.execute = isInSpace;
}

} // namespace

void addMoveDecoders(Decoders &decoders) {
  decoders["mov"] = decodeMove;
  decoders["prmt"] = decodePermute;
  decoders["cvta"] = decodeConvertAddress;
  decoders["isspacep"] = decodeIsInSpace;
}

} // namespace trainc::emulator
