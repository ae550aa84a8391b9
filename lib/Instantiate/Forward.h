// The forward pass of a model on concrete inputs.
#pragma once

#include "lib/Instantiate/Scopes.h"

#include "mlir/IR/IRMapping.h"

namespace trainc {

/// A loss that the model adds.
struct LossTerm {
  mlir::Location loc;
  std::string name;
  mlir::Value value;
  double scale;
};

/// What a model gives out.
struct Forward {
  llvm::SmallVector<LossTerm> losses;
  llvm::StringMap<mlir::Value> outputs;
  mlir::IRMapping values; ///< of the model's own body
};

/// Called after each op of the model's own body, with the concrete values of all values so far.
using AfterOp = llvm::function_ref<void(mlir::Operation *op, mlir::IRMapping &values)>;

/// Expands the model on `columns` at the builder's position. Errors are reported at the model's ops, with
/// notes that say in which scopes: shapes, parameters, names that are given twice, blocks that contain
/// themselves.
mlir::FailureOr<Forward> buildForward(nn::ModelOp model, mlir::OpBuilder &builder, EntryScope &scope,
                                      mlir::ValueRange columns, AfterOp afterOp = {});

/// Gives all operands of an elementwise op one shape; an error at `op` if their shapes do not fit.
mlir::LogicalResult broadcastOperands(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace trainc
