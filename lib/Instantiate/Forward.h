// Forward pass of a model on concrete inputs.
#pragma once

#include "lib/Instantiate/Scopes.h"

#include "mlir/IR/IRMapping.h"

namespace trainc {

/// A loss of the model.
struct LossTerm {
  mlir::Location loc;
  std::string name;
  mlir::Value value;
  double scale;
};

/// Losses and outputs of an expanded model.
struct Forward {
  llvm::SmallVector<LossTerm> losses;
  llvm::StringMap<mlir::Value> outputs;
  mlir::IRMapping values; ///< maps values of the model's own body to values of the entry
};

/// Callback that runs after each op of the model's own body; `values` maps the body's values so far.
using AfterOp = llvm::function_ref<void(mlir::Operation *op, mlir::IRMapping &values)>;

/// Expands the model on `columns` at the builder's position. Errors about shapes, parameters, duplicate names
/// and recursive blocks are reported at the model's ops, with notes that name the scopes.
mlir::FailureOr<Forward> buildForward(nn::ModelOp model, mlir::OpBuilder &builder, EntryScope &scope,
                                      mlir::ValueRange columns, AfterOp afterOp = {});

/// Broadcasts all operands of an elementwise op to one shape. Reports an error at `op` if the shapes do not
/// match.
mlir::LogicalResult broadcastOperands(mlir::OpBuilder &builder, mlir::Operation *op);

} // namespace trainc
