// The plan dialect: arenas, buffers, kernels and instructions, one op per table of the plan file.
#pragma once

#include "dialects/Interfaces/Enums.h"

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
  bool isWorkspace = false; ///< how much of it a library uses is its own matter
};

} // namespace trainc::plan

#include "dialects/Plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"
