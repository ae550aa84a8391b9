// Sizes that the model's text leaves open.
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
  int64_t texts = 1;      ///< texts that generation continues at once

  /// Returns a column's type with `batch` as its first and `length` as its second open dimension.
  static mlir::RankedTensorType bind(mlir::RankedTensorType column, int64_t batch, int64_t length);
};

/// Finds the program and its model, and writes the sizes in force into the program. Fails with an error if
/// there is not exactly one program, if its model does not exist, or if a size is missing, not positive, or
/// not used by the model.
mlir::FailureOr<Binding> bindProgram(mlir::ModuleOp module);

} // namespace trainc
