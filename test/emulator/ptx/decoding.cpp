#include "test/emulator/ptx/decoding.h"

#include "base/small_float.h"

#include <algorithm>
#include <bit>

namespace trainc::emulator {

namespace {

struct SpecialName {
  std::string_view name;
  Special special;
};

/// %tid and similar registers have a dimension after a dot.
constexpr SpecialName kDimensions[] = {
    {"%tid", {Special::Kind::kThread}},         {"%ntid", {Special::Kind::kBlockSize}},
    {"%ctaid", {Special::Kind::kBlock}},        {"%nctaid", {Special::Kind::kGrid}},
    {"%clusterid", {Special::Kind::kBlock}}, // each block is its own cluster
    {"%nclusterid", {Special::Kind::kGrid}},    {"%cluster_ctaid", {Special::Kind::kZero}},
    {"%cluster_nctaid", {Special::Kind::kOne}},
};

constexpr SpecialName kSpecials[] = {
    {"%laneid", {Special::Kind::kLane}},
    {"%warpid", {Special::Kind::kWarp}},
    {"%nwarpid", {Special::Kind::kWarps}},
    {"%lanemask_eq", {Special::Kind::kLanesEqual}},
    {"%lanemask_lt", {Special::Kind::kLanesLess}},
    {"%lanemask_le", {Special::Kind::kLanesLessOrEqual}},
    {"%lanemask_gt", {Special::Kind::kLanesGreater}},
    {"%lanemask_ge", {Special::Kind::kLanesGreaterOrEqual}},
    {"%smid", {Special::Kind::kZero}},
    {"%nsmid", {Special::Kind::kOne}},
    {"%cluster_ctarank", {Special::Kind::kZero}},
    {"%cluster_nctarank", {Special::Kind::kOne}},
    {"%clock", {Special::Kind::kZero}}, // no time passes
    {"%clock_hi", {Special::Kind::kZero}},
    {"%clock64", {Special::Kind::kZero, 0, 64}},
    {"%globaltimer", {Special::Kind::kZero, 0, 64}},
    {"%gridid", {Special::Kind::kZero, 0, 64}},
    {"%dynamic_smem_size", {Special::Kind::kDynamicShared}},
    {"%total_smem_size", {Special::Kind::kTotalShared}},
};

std::optional<Special> specialOf(std::string_view name) {
  const size_t dot = name.find('.');
  if (dot == std::string_view::npos) {
    for (const SpecialName &special : kSpecials)
      if (special.name == name)
        return special.special;
    return std::nullopt;
  }
  const size_t dimension = std::string_view("xyz").find(name.substr(dot + 1));
  for (const SpecialName &special : kDimensions)
    if (special.name == name.substr(0, dot) && name.size() == dot + 2 && dimension < 3)
      return Special{special.special.kind, static_cast<uint8_t>(dimension), 32};
  return std::nullopt;
}

} // namespace

Decoding::Decoding(const Statement &statement, Resolver &resolver)
    : statement_(statement), resolver_(resolver),
      modifiers_(statement.modifiers.begin(), statement.modifiers.end()) {}

bool Decoding::take(std::string_view modifier) {
  const auto found = std::ranges::find(modifiers_, modifier);
  if (found == modifiers_.end())
    return false;
  modifiers_.erase(found);
  return true;
}

std::string_view Decoding::takeOneOf(std::initializer_list<std::string_view> modifiers) {
  for (const std::string_view modifier : modifiers)
    if (take(modifier))
      return modifier;
  return "";
}

void Decoding::takeBeginningWith(std::string_view prefix) {
  std::erase_if(modifiers_, [&](std::string_view modifier) { return modifier.starts_with(prefix); });
}

std::optional<Type> Decoding::maybeType() {
  for (auto modifier = modifiers_.begin(); modifier != modifiers_.end(); ++modifier)
    if (const std::optional<Type> type = typeOf(*modifier)) {
      modifiers_.erase(modifier);
      return type;
    }
  return std::nullopt;
}

Type Decoding::takeType() {
  const std::optional<Type> type = maybeType();
  if (!type)
    fail("expected a type, such as .u32");
  return type.value_or(Type{Type::Kind::kUnsigned, 32});
}

void Decoding::finish() {
  if (!modifiers_.empty())
    fail("the emulator knows no '.{}' of '{}'", modifiers_.front(), statement_.opcode);
}

void Decoding::expectOperands(size_t minimum, size_t maximum) {
  if (operands() < minimum || operands() > maximum)
    fail("expected {} operands, found {}", minimum, operands());
}

const Operand &Decoding::operand(size_t index) {
  static const Operand none;
  if (index < operands())
    return statement_.operands[index];
  fail("expected operand {}, found {} of them", index + 1, operands());
  return none;
}

Slot Decoding::literal(const Literal &literal, Type type) {
  uint64_t bits = literal.bits;
  if (type.kind == Type::Kind::kPredicate)
    bits = bits != 0;
  if (type.isFloat() && literal.form != Literal::Form::kInteger) {
    const double value = literal.form == Literal::Form::kFloat32
                             ? std::bit_cast<float>(static_cast<uint32_t>(bits))
                             : std::bit_cast<double>(bits);
    const bool isAsWritten = type.width() == (literal.form == Literal::Form::kFloat32 ? 32U : 64U);
    if (!isAsWritten && type.width() == 64)
      bits = std::bit_cast<uint64_t>(value);
    else if (!isAsWritten && type.width() == 32)
      bits = std::bit_cast<uint32_t>(static_cast<float>(value));
    else if (!isAsWritten)
      fail("a number of {} has to be written by its bits", type.name());
  }
  return resolver_.constant(bits, type.width());
}

Slot Decoding::sourceOf(const Operand &operand, Type type, bool mayBeWider) {
  Slot slot;
  if (operand.kind == Operand::Kind::kLiteral)
    return literal(operand.literal, type);
  if (operand.kind != Operand::Kind::kName) {
    fail("expected a register or a number of {}", type.name());
    return slot;
  }
  if (operand.isNegated)
    fail("'!{}' cannot stand here", operand.name);
  if (resolver_.isRegister(operand)) {
    slot = resolver_.registerOf(operand);
  } else if (const std::optional<Special> special = specialOf(operand.name)) {
    slot = resolver_.special(*special);
  } else if (const std::optional<Slot> address = resolver_.addressOf(operand, type.width())) {
    slot = *address;
  } else {
    fail("nothing is called '{}'", operand.name);
    return slot;
  }
  if (mayBeWider ? slot.bits < type.width() : slot.bits != type.width())
    fail("'{}' has {} bits, expected the {} of {}", operand.name, slot.bits, type.width(), type.name());
  return slot;
}

void Decoding::readOperand(const Operand &operand, Type type) {
  instruction.reads.push_back(sourceOf(operand, type, /*mayBeWider=*/false));
}

void Decoding::readWide(const Operand &operand, Type type) {
  if (operand.kind == Operand::Kind::kLiteral && type.width() < 16)
    type = {Type::Kind::kUnsigned, 16};
  instruction.reads.push_back(sourceOf(operand, type, /*mayBeWider=*/true));
}

void Decoding::readConstant(uint64_t bits, unsigned width) {
  instruction.reads.push_back(resolver_.constant(bits, width));
}

void Decoding::writeOperand(const Operand &operand, Type type) {
  writeWide(operand, type);
  if (const Slot &slot = instruction.writes.back(); slot.bits != type.width())
    fail("'{}' has {} bits, expected the {} of {}", operand.name, slot.bits, type.width(), type.name());
}

void Decoding::writeWide(const Operand &operand, Type type) {
  const unsigned width = type.width() == 8 ? 16 : type.width();
  if (operand.kind == Operand::Kind::kSink) {
    instruction.writes.push_back(resolver_.sink(width));
    return;
  }
  if (operand.kind != Operand::Kind::kName || !resolver_.isRegister(operand))
    fail("expected a register for the result, found '{}'", operand.name);
  instruction.writes.push_back(error_.empty() ? resolver_.registerOf(operand) : Slot());
  if (const Slot &slot = instruction.writes.back(); error_.empty() && slot.bits < type.width())
    fail("'{}' has {} bits, expected at least the {} of {}", operand.name, slot.bits, type.width(),
         type.name());
}

void Decoding::writePair(size_t index, Type type) {
  const Operand &pair = operand(index);
  if (pair.kind != Operand::Kind::kPair)
    return writeOperand(pair, type);
  writeOperand(pair.elements[0], type);
  writeOperand(pair.elements[1], {Type::Kind::kPredicate, 1});
}

bool Decoding::readPredicate(size_t index) {
  Operand predicate = operand(index);
  const bool isNegated = predicate.isNegated;
  predicate.isNegated = false;
  readOperand(predicate, {Type::Kind::kPredicate, 1});
  return isNegated;
}

void Decoding::readAddress(size_t index) {
  const Operand &address = operand(index);
  if (address.kind != Operand::Kind::kAddress || address.elements.size() != 1)
    return fail("expected an address in brackets as operand {}", index + 1);
  const Operand &base = address.elements[0];
  Slot slot;
  if (resolver_.isRegister(base)) {
    slot = resolver_.registerOf(base);
    instruction.displacement = base.displacement;
    if (slot.bits < 32)
      fail("'{}' has {} bits, which is too few for an address", base.name, slot.bits);
  } else {
    slot = sourceOf(base, {Type::Kind::kUnsigned, 64}, false);
  }
  instruction.reads.push_back(slot);
}

uint64_t Decoding::number(size_t index) {
  const Operand &number = operand(index);
  if (number.kind != Operand::Kind::kLiteral || number.literal.form != Literal::Form::kInteger)
    fail("expected a number in the text as operand {}", index + 1);
  return number.literal.bits;
}

const Decoders &allDecoders() {
  static const Decoders decoders = [] {
    Decoders all;
    for (const auto add :
         {addIntegerDecoders, addBitDecoders, addCarryDecoders, addFloatDecoders, addFloatSelectionDecoders,
          addArithmeticDecoders, addApproximationDecoders, addComparisonDecoders, addConversionDecoders,
          addMoveDecoders, addLoadStoreDecoders, addAtomicDecoders, addAsyncCopyDecoders, addMatrixDecoders,
          addCollectiveDecoders, addControlDecoders})
      add(all);
    return all;
  }();
  return decoders;
}

} // namespace trainc::emulator
