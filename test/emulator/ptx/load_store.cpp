// ld and st.
#include "test/emulator/ptx/access.h"
#include "test/emulator/ptx/decoding.h"
#include "test/emulator/ptx/lanes.h"

#include <bit>
#include <type_traits>

namespace trainc::emulator {

namespace {

constexpr unsigned kMaxBytes = 32; ///< maximum bytes of a lane's access

/// Loads elements into registers that may be wider: zero- or sign-extended.
template <typename Element, typename Register> void load(const Instruction &instruction, Warp &warp) {
  alignas(64) std::array<std::array<Register, kLanes>, kMaxBytes / sizeof(Element)> values;
  const size_t count = instruction.writes.size();
  const Access access = instruction.isStrong ? Access::kStrongRead : Access::kRead;
  for (uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const Place place = accessed(warp, lane, instruction.space, addressOf(instruction, warp, lane),
                                 instruction.bytes, access);
    if (!place.bytes)
      return;
    for (size_t index = 0; index < count; ++index) {
      Element element;
      std::memcpy(&element, place.bytes + index * sizeof element, sizeof element);
      values[index][lane] =
          static_cast<Register>(element); // NOLINT(bugprone-signed-char-misuse): with its sign
    }
  }
  for (size_t index = 0; index < count; ++index)
    forLanes<Register>(warp, instruction.writes[index], [&](unsigned lane) { return values[index][lane]; });
}

/// Stores the low bits of registers; reads[0] is the address.
template <typename Element, typename Register> void store(const Instruction &instruction, Warp &warp) {
  const size_t count = instruction.reads.size() - 1;
  const Access access = instruction.isStrong ? Access::kStrongWrite : Access::kWrite;
  for (uint32_t lanes = warp.active; lanes != 0; lanes &= lanes - 1) {
    const auto lane = static_cast<unsigned>(std::countr_zero(lanes));
    const Place place = accessed(warp, lane, instruction.space, addressOf(instruction, warp, lane),
                                 instruction.bytes, access);
    if (!place.bytes)
      return;
    for (size_t index = 0; index < count; ++index) {
      const auto element = static_cast<Element>(warp.at<Register>(instruction.reads[index + 1])[lane]);
      std::memcpy(place.bytes + index * sizeof element, &element, sizeof element);
    }
  }
}

template <typename Register> Handler loadInto(Type type) {
  switch (type.width()) {
  case 8:
    return type.isSigned() ? load<int8_t, Register> : load<uint8_t, Register>;
  case 16:
    return type.isSigned() ? load<int16_t, Register> : load<uint16_t, Register>;
  case 32:
    return type.isSigned() ? load<int32_t, Register> : load<uint32_t, Register>;
  default:
    return load<uint64_t, Register>;
  }
}

template <typename Register> Handler storeFrom(Type type) {
  switch (type.width()) {
  case 8:
    return store<uint8_t, Register>;
  case 16:
    return store<uint16_t, Register>;
  case 32:
    return store<uint32_t, Register>;
  default:
    return store<uint64_t, Register>;
  }
}

/// Cache hints have no effect.
void takeMemoryModifiers(Decoding &decoding) {
  decoding.instruction.isStrong =
      !decoding.takeOneOf({"relaxed", "acquire", "release", "volatile", "mmio"}).empty();
  decoding.takeOneOf({"weak", "nc"});
  decoding.takeOneOf({"cta", "cluster", "gpu", "sys"});
  decoding.takeOneOf({"ca", "cg", "cs", "cv", "lu", "wb", "wt"});
  decoding.takeOneOf({"nc", "lu"});
  decoding.takeBeginningWith("L1::");
  decoding.takeBeginningWith("L2::");
}

Space takeMemorySpace(Decoding &decoding) {
  const std::string_view space = decoding.takeOneOf(
      {"global", "shared", "shared::cta", "local", "const", "param", "param::entry", "param::func"});
  return space == "global"                             ? Space::kGlobal
         : space == "shared" || space == "shared::cta" ? Space::kShared
         : space == "local"                            ? Space::kLocal
         : space == "const"                            ? Space::kConstant
                                                       : Space::kGeneric; // parameters have generic addresses
}

/// The registers of an operand: one, or several in braces.
std::vector<Operand> elementsOf(Decoding &decoding, size_t index) {
  const std::string_view vector = decoding.takeOneOf({"v2", "v4", "v8"});
  const Operand &operand = decoding.operand(index);
  const size_t expected = vector.empty() ? 1 : static_cast<size_t>(vector[1] - '0');
  std::vector<Operand> elements =
      operand.kind == Operand::Kind::kVector ? operand.elements : std::vector{operand};
  if (elements.size() != expected)
    decoding.fail("expected {} registers, found {}", expected, elements.size());
  return elements;
}

void takeType(Decoding &decoding, size_t elements, Type &type) {
  type = decoding.takeType();
  decoding.instruction.bytes = static_cast<uint32_t>(type.bytes() * elements);
  if (decoding.instruction.bytes > kMaxBytes || type.kind == Type::Kind::kPredicate)
    decoding.fail("no access has {} times {}", elements, type.name());
}

void decodeLoad(Decoding &decoding) {
  takeMemoryModifiers(decoding);
  decoding.instruction.space = takeMemorySpace(decoding);
  decoding.expectOperands(2, 2);
  const std::vector<Operand> elements = elementsOf(decoding, 0);
  Type type;
  takeType(decoding, elements.size(), type);
  for (const Operand &element : elements)
    decoding.writeWide(element, type);
  decoding.readAddress(1);
  for (const Slot &slot : decoding.instruction.writes)
    if (slot.bits != decoding.instruction.writes[0].bits)
      decoding.fail("the registers have different widths");
  const unsigned width = decoding.instruction.writes[0].bits;
  decoding.instruction.execute = width == 16   ? loadInto<uint16_t>(type)
                                 : width == 32 ? loadInto<uint32_t>(type)
                                               : loadInto<uint64_t>(type);
}

void decodeStore(Decoding &decoding) {
  takeMemoryModifiers(decoding);
  decoding.instruction.space = takeMemorySpace(decoding);
  decoding.expectOperands(2, 2);
  const std::vector<Operand> elements = elementsOf(decoding, 1);
  Type type;
  takeType(decoding, elements.size(), type);
  decoding.readAddress(0);
  for (const Operand &element : elements)
    decoding.readWide(element, type);
  const unsigned width = decoding.instruction.reads[1].bits;
  for (size_t index = 1; index < decoding.instruction.reads.size(); ++index)
    if (decoding.instruction.reads[index].bits != width)
      decoding.fail("the registers have different widths");
  decoding.instruction.execute = width == 16   ? storeFrom<uint16_t>(type)
                                 : width == 32 ? storeFrom<uint32_t>(type)
                                               : storeFrom<uint64_t>(type);
}

} // namespace

void addLoadStoreDecoders(Decoders &decoders) {
  decoders["ld"] = decodeLoad;
  decoders["ldu"] = decodeLoad;
  decoders["st"] = decodeStore;
}

} // namespace trainc::emulator
