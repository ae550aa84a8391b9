// Resolution of names to registers, constants and addresses.
#include "test/emulator/ptx/assembler.h"

#include <algorithm>

namespace trainc::emulator {

namespace {

constexpr uint32_t kSlotAlignment = 64; ///< of a register's lanes, for vector instructions

} // namespace

Slot Assembler::newSlot(unsigned width, uint32_t reg) {
  const Slot slot = {program_->fileBytes, reg, static_cast<uint8_t>(width)};
  const uint32_t bytes = width == 1 ? kLanes / 8 : kLanes * width / 8;
  program_->fileBytes += (bytes + kSlotAlignment - 1) / kSlotAlignment * kSlotAlignment;
  return slot;
}

uint32_t Assembler::newRegister(std::string name) {
  program_->registers.push_back(std::move(name));
  return static_cast<uint32_t>(program_->registers.size() - 1);
}

bool Assembler::isRegister(const Operand &operand) const {
  return operand.kind == Operand::Kind::kName && operand.variable &&
         instance_->function->variables[*operand.variable].space == Space::kRegister;
}

Slot Assembler::registerOf(const Operand &operand) {
  const auto found = instance_->registers.find(*operand.variable);
  if (found != instance_->registers.end())
    return found->second;
  const Type &type = instance_->function->variables[*operand.variable].type;
  const Slot slot = newSlot(std::max(type.width(), type.kind == Type::Kind::kPredicate ? 1U : 16U),
                            newRegister(operand.name));
  instance_->registers.emplace(*operand.variable, slot);
  return slot;
}

Slot Assembler::constant(uint64_t bits, unsigned width) {
  const uint64_t mask = width >= 64 ? ~uint64_t{0} : (uint64_t{1} << width) - 1;
  const auto [found, isNew] = constants_.try_emplace({bits & mask, width});
  if (isNew) {
    found->second = newSlot(width, 0);
    program_->constants.push_back({found->second, bits & mask});
  }
  return found->second;
}

Slot Assembler::special(const Special &special) {
  const auto [found, isNew] =
      specials_.try_emplace({static_cast<unsigned>(special.kind), special.dimension, special.bits});
  if (isNew) {
    found->second = newSlot(special.bits, 0);
    program_->specials.emplace_back(found->second, special);
  }
  return found->second;
}

Slot Assembler::sink(unsigned width) {
  const auto [found, isNew] = sinks_.try_emplace(width);
  if (isNew)
    found->second = newSlot(width, newRegister("_"));
  return found->second;
}

Slot Assembler::carry() {
  if (!carry_)
    carry_ = newSlot(1, newRegister("CC.CF"));
  return *carry_;
}

const std::vector<std::string> *Assembler::branchTargets(const std::string &name) const {
  const auto found = instance_->function->branchTargets.find(name);
  return found == instance_->function->branchTargets.end() ? nullptr : &found->second;
}

/// Address of memory declared by a function: generic for parameters, else in its own space.
uint64_t Assembler::addressOfLocal(uint32_t variable) {
  const Variable &declared = instance_->function->variables[variable];
  if (declared.space == Space::kShared) {
    const auto [found, isNew] = shared_.try_emplace(&declared, 0);
    if (isNew)
      found->second = placeIn(program_->sharedBytes, declared);
    return found->second;
  }
  const auto [found, isNew] = instance_->addresses.try_emplace(variable, 0);
  if (isNew)
    found->second =
        placeIn(program_->frameBytes, declared) + (declared.space == Space::kParameter ? kLocalWindow : 0);
  return found->second;
}

Slot Assembler::addressConstant(uint64_t address, unsigned width, bool isDynamicShared) {
  if (!isDynamicShared)
    return constant(address, width);
  const Slot slot = newSlot(width, 0);
  dynamicShared_.push_back(program_->constants.size());
  program_->constants.push_back({slot, address});
  return slot;
}

std::optional<Slot> Assembler::addressOf(const Operand &operand, unsigned width) {
  const auto displacement = static_cast<uint64_t>(operand.displacement);
  if (operand.variable)
    return constant(addressOfLocal(*operand.variable) + displacement, width);
  for (const PtxProgram::ModuleVariable &variable : program_->variables)
    if (variable.name == operand.name)
      return constant(variable.memory->address + displacement, width);
  for (const Variable &variable : module_.variables) {
    if (variable.name != operand.name || variable.space != Space::kShared)
      continue;
    if (variable.isExtern) {
      dynamicAlignment_ = std::max(dynamicAlignment_, variable.alignment);
      return addressConstant(displacement, width, /*isDynamicShared=*/true);
    }
    const auto [found, isNew] = shared_.try_emplace(&variable, 0);
    if (isNew)
      found->second = placeIn(program_->sharedBytes, variable);
    return constant(found->second + displacement, width);
  }
  return std::nullopt;
}

} // namespace trainc::emulator
