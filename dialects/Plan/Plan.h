// The plan dialect: arenas, buffers, kernels and instructions, one op per table of the plan file.
#pragma once

#include "dialects/Interfaces/Enums.h"
#include "plan/cost/work.h"

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

/// An instruction's access to at most `bytes` bytes from the operand's offset on.
struct OperandUse {
  OperandAttr operand;
  int64_t bytes;
  bool reads, writes;
  bool isWorkspace = false; ///< the library decides how much of it to use
  int64_t iterations =
      1; ///< trip count of the enclosing loops; the offset advances by the operand's loop stride
};

class ModuleContext;

/// Numeric format of a product's factors, which determines its rate; null means f32.
Factor factorOf(mlir::Type element);

/// Work of a copy of `bytes` within a space or between two spaces.
Work workOfCopy(Space source, Space destination, double bytes);

} // namespace trainc::plan

#include "dialects/Plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"

namespace trainc::plan {

/// The module that encloses an instruction: resolves kernels and buffers, and gives the sizes of rank groups.
class ModuleContext {
public:
  /// A module without plan.training is for one rank.
  explicit ModuleContext(mlir::ModuleOp module);

  const mlir::SymbolTable &symbols() const { return symbols_; }
  /// Returns null if the name is unknown.
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
