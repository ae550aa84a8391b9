// The sizes that the model leaves open.
#pragma once

#include "dialects/Train/Train.h"

#include "mlir/IR/BuiltinOps.h"

namespace trainc {

/// The program, its model and the sizes in force.
struct Binding {
  mlir::ModuleOp module;
  train::ProgramOp program;
  nn::ModelOp model;
  int64_t microBatch = 0; ///< samples per micro-batch
  int64_t seqLen = 0;     ///< tokens per sample; 0 if no column has a second open dimension
  int64_t ranks = 1;      ///< processes that train together
  int64_t accumulate = 1; ///< micro-batches per step and rank
  int64_t evalBatch = 0;  ///< samples per evaluation batch

  /// A column's type with its first open dimension `batch`, its second `length`.
  static mlir::RankedTensorType bind(mlir::RankedTensorType column, int64_t batch, int64_t length);
};

/// Finds the one program and its model, and decides the sizes that the program leaves open, which it writes
/// into it. Errors: no or several programs, no such model, sizes that are missing, not positive, or without
/// use.
mlir::FailureOr<Binding> bindProgram(mlir::ModuleOp module);

} // namespace trainc
