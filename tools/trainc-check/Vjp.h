// Reverse-mode derivative of a function, by its ops' DifferentiableOpInterface.
#pragma once

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace trainc::check {

/// A function that takes the arguments of `function` and then one cotangent per float result, and returns one
/// cotangent per float argument (zeros where nothing depends on it).
mlir::OwningOpRef<mlir::func::FuncOp> buildVjp(mlir::func::FuncOp function, llvm::ArrayRef<unsigned> wanted);

/// True for tensors of floats.
bool isReal(mlir::Value value);

} // namespace trainc::check
