// Converts a kernel's text to a program: inlines calls, and resolves names to registers and addresses.
#pragma once

#include "base/status.h"
#include "test/emulator/ptx/decoding.h"

#include <map>
#include <set>
#include <unordered_map>
#include <utility>
#include <vector>

namespace trainc::emulator {

/// Builds one program. Each call has registers and local memory of its own; without recursion their number is
/// bounded.
class Assembler : public Resolver {
public:
  Assembler(const ModuleText &module, const std::vector<PtxProgram::ModuleVariable> &variables);

  Result<std::shared_ptr<const PtxProgram>> assemble(const FunctionText &entry);

  Slot registerOf(const Operand &operand) override;
  Slot constant(uint64_t bits, unsigned width) override;
  std::optional<Slot> addressOf(const Operand &operand, unsigned width) override;
  Slot special(const Special &special) override;
  Slot sink(unsigned width) override;
  Slot carry() override;
  bool isRegister(const Operand &operand) const override;
  const std::vector<std::string> *branchTargets(const std::string &name) const override;

private:
  /// A function inlined at a call.
  struct Instance {
    explicit Instance(const FunctionText *function) : function(function) {}
    const FunctionText *function;
    std::unordered_map<uint32_t, Slot> registers;
    std::unordered_map<uint32_t, uint64_t> addresses;
    std::vector<uint32_t> places; ///< index in the code of each statement
    /// Branches whose labels are not resolved yet.
    std::vector<std::pair<uint32_t, std::vector<std::string>>> branches;
    std::vector<uint32_t> returns;
  };

  Status place(Instance &instance);
  Status call(Instance &caller, const Statement &statement);
  Status decode(Instance &instance, const Statement &statement);
  Status bindBranches(Instance &instance);
  void append(Instruction instruction, const Statement &statement);
  Slot newSlot(unsigned width, uint32_t reg);
  uint32_t newRegister(std::string name);
  uint64_t placeIn(uint32_t &end, const Variable &variable);
  uint64_t addressOfLocal(uint32_t variable);
  Slot addressConstant(uint64_t address, unsigned width, bool isDynamicShared);

  const ModuleText &module_;
  std::shared_ptr<PtxProgram> program_;
  std::vector<const FunctionText *> callers_; ///< call stack of the code being assembled, from the entry on
  Instance *instance_ = nullptr;
  std::map<std::pair<uint64_t, unsigned>, Slot> constants_;
  std::map<std::tuple<unsigned, unsigned, unsigned>, Slot> specials_;
  std::map<unsigned, Slot> sinks_;
  std::optional<Slot> carry_;
  std::map<const Variable *, uint64_t> shared_; ///< addresses; all calls of a function share them
  std::vector<size_t> dynamicShared_;           ///< constants that refer to the end of static memory
  uint32_t dynamicAlignment_ = 1;
};

} // namespace trainc::emulator
