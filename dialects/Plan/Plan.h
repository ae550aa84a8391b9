// The plan dialect: arenas, buffers, kernels and instructions, one op per table of the plan file.
#pragma once

#include "dialects/Interfaces/Enums.h"
#include "runtime/cost/work.h"

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "dialects/Plan/PlanDialect.h.inc"
#include "dialects/Plan/PlanEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "dialects/Plan/PlanAttributes.h.inc"

namespace trainc::plan {

/// What an instruction does with one operand: it touches at most `bytes` from there on.
struct OperandUse {
  OperandAttr operand;
  int64_t bytes;
  bool reads, writes;
  bool isWorkspace = false; ///< how much of it is used is the library's own matter
  int64_t iterations = 1;   ///< of the loop around the instruction, from each of which it begins elsewhere
};

class Surroundings;

/// Of factors of a type, or of none: what their rate depends on.
Factor factorOf(mlir::Type element);

/// What moves bytes from space to space, or within one.
Work workOfCopy(Space source, Space destination, double bytes);

} // namespace trainc::plan

#include "dialects/Plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace trainc::plan {

/// The module around instructions: what they name, and how many ranks meet.
class Surroundings {
public:
  /// A module without plan.training is for one rank.
  explicit Surroundings(mlir::ModuleOp module);

  const mlir::SymbolTable &symbols() const { return symbols_; }
  /// Null if nobody has the name.
  KernelOp kernel(llvm::StringRef name) const { return symbols_.lookup<KernelOp>(name); }
  BufferOp buffer(OperandAttr operand) const {
    return symbols_.lookup<BufferOp>(operand.getBuffer().getAttr());
  }
  int64_t members(RankGroup group) const { return ranksOf(group, ranks_, shardRanks_); }

private:
  mlir::SymbolTable symbols_;
  int64_t ranks_ = 1, shardRanks_ = 1;
};

} // namespace trainc::plan
