// The pre-condition of passes on tensors.
#pragma once

#include "mlir/IR/Operation.h"

namespace trainc {

/// Whether all values inside `root` have types; the first that is a model's text, whose types are not
/// inferred yet, is an error.
llvm::LogicalResult requireConcrete(mlir::Operation *root);

} // namespace trainc
