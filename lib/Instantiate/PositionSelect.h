// Selection of the one position whose logits generation needs.
#pragma once

#include "lib/Instantiate/PositionFlow.h"

namespace trainc {

/// Returns the last op of the model's body that combines positions, or the last use of a block with such an
/// op. All later ops treat positions independently. Returns null if there is none.
mlir::Operation *findLastMixingOp(nn::ModelOp model);

/// Returns the row at `position` (tensor<i32>) of x [1, length, ...], as [1, 1, ...].
mlir::Value selectPosition(mlir::OpBuilder &builder, mlir::Value x, mlir::Value position);

/// Visits the values that ops after `last` use. Replaces each value that has one row per position by its row
/// at `position`. Replaces nothing if such a value does not have the shape [1, length, ...].
void selectAfter(mlir::Operation *last, mlir::IRMapping &values, mlir::OpBuilder &builder,
                 const PositionDims &dims, int64_t length, mlir::Value position);

} // namespace trainc
