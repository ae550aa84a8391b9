// The plan dialect: arenas, buffers, kernels and instructions, one op per table of the plan file.
#pragma once

#include "dialects/Interfaces/Axes.h"
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

#include "dialects/Plan/PlanInterfaces.h.inc"

#define GET_OP_CLASSES
#include "dialects/Plan/PlanOps.h.inc"
